import { looksRandom, secretsIn } from '../logging/config-secrets.ts'
import { isSecretKey, REMOVED } from '../logging/redact.ts'
import { safeText } from '../logging/safe-value.ts'
import { isHttp, type ServerEntry } from './server-entry.ts'
import { shownUrl } from './server-failure.ts'

/** Shorter values would match everywhere, and are not secrets. */
const MIN_LENGTH = 6
const MAX_CHARACTERS = 500
/** Endings of variable names that suggest a secret in the configuration of a server. */
const SECRET_VARIABLE = /(?:key|pat|psk|creds?|salt|seed|dsn)s?\d*$/i
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/**
 * The secret values in a server's configuration: environment variables, headers and options with a telling name or a random
 * value, and the secret parts of URLs. Longest first, so that no replacement breaks another.
 */
export function secretsOf(entry: ServerEntry): string[] {
  const settings = Object.entries((isHttp(entry) ? entry.headers : entry.env) ?? {})
  const telling = settings.filter(
    ([name, value]) => SECRET_VARIABLE.test(name) || (looksRandom(value) && !UUID.test(value)),
  )
  const options = Object.fromEntries(optionsIn(entry.args))
  const found = [...telling.map(([, value]) => value), ...secretsIn(entry), ...secretsIn(options)]
  const bare = found.flatMap(value => [value, value.replace(/^(bearer|basic|token)\s+/i, '')])
  return [...new Set(bare.filter(value => value.length >= MIN_LENGTH))].sort((a, b) => b.length - a.length)
}

/** `--api-key value`, `--api-key=value` and `API_KEY=value` as pairs. */
function optionsIn(args: readonly string[] = []): [name: string, value: string][] {
  return args.flatMap((arg, at) => {
    const [, name, value = args[at + 1] ?? ''] =
      /^-{0,2}([\w.-]+)=(.+)$/s.exec(arg) ?? /^--?([\w.-]+)$/.exec(arg) ?? []
    return name === undefined ? [] : [[name, value]]
  })
}

/** How a server is reached, for display: its command with arguments, or its URL. Leaves out secrets, however short. */
export function shownTarget(entry: ServerEntry): string {
  const hidden = optionsIn(entry.args).flatMap(([name, value]) => (isSecretKey(name) && value ? [value] : []))
  const shown = (word: string) => {
    const secret = hidden.find(value => word === value || word.endsWith(`=${value}`))
    if (secret) return `${word.slice(0, -secret.length)}${REMOVED}`
    if (looksRandom(word)) return REMOVED
    return /\s/.test(word) ? JSON.stringify(word) : word
  }
  const text = isHttp(entry)
    ? shownUrl(entry.url)
    : [entry.command, ...(entry.args ?? [])].map(shown).join(' ')
  const clean = secretsOf(entry).reduce((rest, secret) => rest.replaceAll(secret, REMOVED), text)
  return safeText(clean, MAX_CHARACTERS)
}
