import { REMOVED } from './known-secrets.ts'
import { looksRandom } from './looks-random.ts'
import { safeText } from './safe-value.ts'
import { isSecretKey } from './secret-names.ts'

/** The secret values of a configuration: of keys with a telling name, at any depth, and in its addresses. */
export function secretsIn(config: unknown): string[] {
  if (typeof config === 'string') return secretsInAddress(config)
  if (typeof config !== 'object' || config === null) return []
  return Object.entries(config).flatMap(([key, value]) =>
    typeof value === 'string' && isSecretKey(key) ? [value] : secretsIn(value),
  )
}

/** An address that need not be one, for a message about it: nothing before an `@`, and no known secret. */
export function shownAddress(address: string): string {
  return safeText(address.replace(/^.*@/s, `${REMOVED}@`))
}

/** User, password, and what only those know who were given the address: a key in its path or its query. */
export function secretsInAddress(value: string): string[] {
  if (!value.includes('://') || !URL.canParse(value)) return []
  const url = new URL(value)
  const queried = [...url.searchParams].filter(([name, text]) => isSecretKey(name) || looksRandom(text))
  const path = url.pathname.split('/').filter(looksRandom)
  return [...credentialsIn(url), ...queried.map(([, text]) => text), ...path]
}

/** The password, or the user of a web address if that is all there is, in every form. */
function credentialsIn({ username, password, protocol }: URL): string[] {
  const secret = password || (/^(?:http|ws)s?:$/.test(protocol) ? username : '')
  return secret === '' ? [] : [secret, decoded(secret), basicCredentials(username, password)]
}

/** User and password, as they stand in an address, for an Authorization header. */
export function basicCredentials(username: string, password: string): string {
  return Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
