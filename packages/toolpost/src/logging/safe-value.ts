/*
 * What may stand in a log: short, on one line, without secrets.
 * Everything that Toolpost logs of a call goes through `safeValue` or `safeText`.
 */

const MAX_TEXT = 500
const MAX_ENTRIES = 50
const MAX_DEPTH = 6
const REMOVED = '[removed]'

/** One for the process, also where the package is loaded twice (the bundled command line and its parts). */
const secretValues = registered('toolpost.secrets', () => new Set<string>())

function registered<T>(name: string, make: () => T): T {
  const registry = globalThis as unknown as Record<symbol, T | undefined>
  const key = Symbol.for(name)
  const value = registry[key] ?? make()
  registry[key] = value
  return value
}

/** Values to remove wherever they turn up, such as the secret environment variables of a server. */
export function removeFromLogs(values: Iterable<string>): void {
  for (const value of values) if (value.length >= 6) secretValues.add(value)
}

/** Whether a key names a secret, compared without case, `_` and `-`. `max_tokens` is none. */
export function isSecretKey(key: string): boolean {
  let known = secretKeys.get(key)
  if (known === undefined) {
    known = namesASecret(key)
    if (secretKeys.size < 10_000) secretKeys.set(key, known)
  }
  return known
}

const secretKeys = new Map<string, boolean>()
const SECRET_WORDS =
  /password|passwd|passphrase|secret|apikey|authorization|cookie|credential|privatekey|accesskey|signingkey|encryptionkey|bearer/
const SECRET_ENDINGS = /(token|pwd|jwt|pass)$/

function namesASecret(key: string): boolean {
  const plain = key.replace(/[\s_.-]/g, '').toLowerCase()
  return SECRET_WORDS.test(plain) || SECRET_ENDINGS.test(plain)
}

/** A copy of `value` fit for a log: shortened, escaped, without secrets, without cycles. Never throws. */
export function safeValue(value: unknown): unknown {
  try {
    return copy(value, 0)
  } catch {
    return '[unreadable]'
  }
}

function copy(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case 'string':
      return safeText(value)
    case 'bigint':
      return `${value}n`
    case 'number':
      return Number.isFinite(value) ? value : String(value)
    case 'function':
    case 'symbol':
      return `[${typeof value}]`
    case 'object':
      return value === null ? null : copyObject(value, depth)
    default:
      return value
  }
}

function copyObject(value: object, depth: number): unknown {
  if (depth >= MAX_DEPTH) return '[…]'
  if (Array.isArray(value)) return copyArray(value, depth)
  if (value instanceof Error) return { name: value.name, message: safeText(value.message) }
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  if (value instanceof Map || value instanceof Set) return copyArray([...value], depth)
  const result: Record<string, unknown> = {}
  let entries = 0
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue
    if (++entries > MAX_ENTRIES) {
      result['…'] = `${Object.keys(value).length - MAX_ENTRIES} more`
      break
    }
    const entry = (value as Record<string, unknown>)[key]
    result[key === '__proto__' ? '[__proto__]' : safeKey(key)] = isSecretKey(key)
      ? REMOVED
      : copy(entry, depth + 1)
  }
  return result
}

function copyArray(values: readonly unknown[], depth: number): unknown[] {
  const result = values.slice(0, MAX_ENTRIES).map(value => copy(value, depth + 1))
  if (values.length > MAX_ENTRIES) result.push(`… ${values.length - MAX_ENTRIES} more`)
  return result
}

function safeKey(key: string): string {
  return key.length > 100 || UNSAFE.test(key) ? safeText(key.slice(0, 100)) : key
}

/** Control and formatting characters that could move a cursor, hide text or forge a line. */
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]/
const ESCAPED = new RegExp(`${UNSAFE.source}`, 'gu')
const URL_PASSWORD = /(:\/\/[^\s/:@]*:)[^\s/@]+@/g
const BEARER = /\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi

/** `text` on one line, shortened, with control characters escaped and secrets removed. */
export function safeText(text: string, maxLength = MAX_TEXT): string {
  let safe = text.length > maxLength ? shorten(text, maxLength) : text
  if (secretValues.size > 0) safe = withoutKnownSecrets(text, safe, maxLength)
  if (safe.includes('://')) safe = safe.replace(URL_PASSWORD, `$1${REMOVED}@`)
  if (safe.length > 12) safe = safe.replace(BEARER, `$1 ${REMOVED}`)
  return UNSAFE.test(safe) ? escapeControls(safe) : safe
}

function shorten(text: string, maxLength: number): string {
  return `${text.slice(0, maxLength)}… (${text.length} characters)`
}

/** Searches before shortening, so that no half of a secret survives the cut. */
function withoutKnownSecrets(text: string, safe: string, maxLength: number): string {
  let clean = text
  for (const secret of secretValues) if (clean.includes(secret)) clean = clean.replaceAll(secret, REMOVED)
  if (clean === text) return safe
  return clean.length > maxLength ? shorten(clean, maxLength) : clean
}

/** Shows control characters as text (`\u001b`); well-formed surrogate pairs stay. */
export function escapeControls(text: string): string {
  return text.replace(ESCAPED, character => {
    if (character === '\n') return '\\n'
    if (character === '\t') return '\\t'
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
