import { basicCredentials, uriDecoded } from '../util/text.ts'
import { isSecretKey, REMOVED } from './redact.ts'
import { safeText } from './safe-value.ts'

/** The secret values of a configuration: of keys that name a secret, at any depth, and in its URLs. */
export function secretsIn(config: unknown): string[] {
  if (typeof config === 'string') return secretsInAddress(config)
  return Object.entries(config ?? {}).flatMap(([key, value]) =>
    typeof value === 'string' && isSecretKey(key) ? [value] : secretsIn(value),
  )
}

/** A possibly invalid URL, fit for a message: without anything before an `@` and without known secrets. */
export function shownAddress(address: string): string {
  return safeText(address.replace(/^.*@/s, `${REMOVED}@`))
}

/** The password, and any key in the path or the query of a URL. */
export function secretsInAddress(value: string): string[] {
  if (!value.includes('://') || !URL.canParse(value)) return []
  const url = new URL(value)
  const { username, password, protocol } = url
  // The user of a web URL that has no password is one.
  const secret = password || (/^(?:http|ws)s?:$/.test(protocol) ? username : '')
  const forms = secret === '' ? [] : [secret, uriDecoded(secret), basicCredentials(username, password)]
  const queried = [...url.searchParams].filter(([name, text]) => isSecretKey(name) || looksRandom(text))
  const path = url.pathname.split('/').filter(looksRandom)
  return [...forms, ...queried.map(([, text]) => text), ...path]
}

/** Whether a setting looks like a key: one word with a long run of letters and digits. */
export function looksRandom(text: string): boolean {
  const isWord = /^[\w.~+=-]{16,500}$/.test(text) && /[A-Za-z\d]{16}/.test(text)
  return isWord && /\d\D*\d/.test(text) && /[A-Za-z]/.test(text)
}
