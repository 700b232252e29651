import type { Environment } from '../../runtime/environment.ts'
import { trimmedEnd } from '../../runtime/trimmed-end.ts'

const DEFAULT_ADDRESS = 'http://127.0.0.1:11434'
const DEFAULT_PORT = '11434'

/** Where Ollama is: `OLLAMA_BASE_URL`, else `OLLAMA_HOST` in any form Ollama accepts, else this machine. */
export function ollamaAddress(environment: Environment): string {
  const given = environment.OLLAMA_BASE_URL?.trim() || environment.OLLAMA_HOST?.trim()
  return given ? completed(given) : DEFAULT_ADDRESS
}

function completed(given: string): string {
  const hasScheme = given.includes('://')
  const withHost = given.startsWith(':') ? `127.0.0.1${given}` : given
  const address = hasScheme ? withHost : `http://${withHost}`
  if (!URL.canParse(address)) return DEFAULT_ADDRESS
  const url = new URL(address)
  if (!hasScheme && url.port === '' && !/:80(\/|$)/.test(withHost)) url.port = DEFAULT_PORT
  // A server can listen on 0.0.0.0, but a client cannot connect to it.
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1'
  return trimmedEnd(url.href, '/')
}
