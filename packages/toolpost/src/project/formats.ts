import { shownAddress } from '../logging/config-secrets.ts'
import { globProblem, isLoopback } from '../util/text.ts'

/** Shorter tokens are too easy to guess. */
const MIN_TOKEN_LENGTH = 16

export function tokenProblem(token: string): string | undefined {
  if (token.length < MIN_TOKEN_LENGTH) return `is too short: it needs at least ${MIN_TOKEN_LENGTH} characters`
  const isSendable = /^[\x21-\x7e]+$/.test(token)
  return isSendable ? undefined : 'must consist of printable ASCII characters without spaces'
}

/** Keys fetched over plain HTTP could be anyone's. Issuers are compared as strings, so they may have no query or fragment. */
function issuerProblem(address: string): string | undefined {
  if (!URL.canParse(address)) return `is not a valid URL: '${address}'`
  const { protocol, hostname, username, password, search, hash } = new URL(address)
  if (protocol !== 'https:' && !(protocol === 'http:' && isLoopback(hostname)))
    return 'must begin with https://, or http:// on a loopback address'
  if (username !== '' || password !== '') return 'must not contain a user name or password'
  return search !== '' || hash !== '' ? 'must not have a query or fragment' : undefined
}

function databaseProblem(text: string): string | undefined {
  const shown = `'${shownAddress(text)}'; expected postgres://user:password@host:5432/database`
  if (!URL.canParse(text)) return `is not a valid URL: ${shown}`
  const { protocol, pathname } = new URL(text)
  if (!/^postgres(ql)?:$/.test(protocol)) return `is not a PostgreSQL URL: ${shown}`
  return pathname.length > 1 ? undefined : `has no database name: ${shown}`
}

function clientProblem(name: string): string | undefined {
  if (name === 'default') return "'default' is reserved for the gateway's own token; choose another name"
  const isName = /^[A-Za-z0-9][\w.-]{0,63}$/.test(name)
  return isName ? undefined : 'expected at most 64 letters, digits, _, . or -'
}

/** RFC 6749 */
function scopeProblem(scope: string): string | undefined {
  const isScope = /^[\x21\x23-\x5b\x5d-\x7e]{1,128}$/.test(scope)
  return isScope ? undefined : 'a scope consists of printable ASCII characters except space, " and \\'
}

/** Our formats in `toolpost.schema.json`: what is wrong with a text. Tokens and passwords are never shown. */
export const FORMATS: Readonly<Record<string, (text: string) => string | undefined>> = {
  uri: text => (URL.canParse(text) ? undefined : 'must match format "uri"'),
  glob: globProblem,
  token: tokenProblem,
  issuer: issuerProblem,
  postgres: databaseProblem,
  client: clientProblem,
  scope: scopeProblem,
}
