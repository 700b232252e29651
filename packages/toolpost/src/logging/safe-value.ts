/*
 * What may stand in a log: short, on one line, without secrets.
 * Everything that Toolpost logs of a call goes through `safeValue` or `safeText`.
 */

import { withoutNamedSecrets } from './named-secrets.ts'
import { inBothCases, isSecretKey, NAME_HINTS } from './secret-key.ts'

export { isSecretKey }

const MAX_TEXT = 500
/** Secrets are searched in so much of a text, or in twice what is shown of it. */
const MAX_SEARCHED = 20_000
const MAX_KEY = 100
const MAX_ENTRIES = 50
const MAX_DEPTH = 6
const REMOVED = '[removed]'

const secretValues = new Set<string>()

/** Values to remove wherever they turn up, such as the secret environment variables of a server. */
export function removeFromLogs(values: Iterable<string>): void {
  for (const value of values) if (value.length >= 6) secretValues.add(value)
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
  if (value instanceof Map) return copyMap(value, depth)
  if (value instanceof Set) return copyArray([...value], depth)
  return copyEntries(value, depth)
}

/** An object where the keys are texts, else a list of pairs. */
function copyMap(map: ReadonlyMap<unknown, unknown>, depth: number): unknown {
  const pairs = [...map]
  if (pairs.every(([key]) => typeof key === 'string')) return copyEntries(Object.fromEntries(pairs), depth)
  return copyArray(
    pairs.map(([key, value]) => [key, typeof key === 'string' && isSecretKey(key) ? REMOVED : value]),
    depth,
  )
}

function copyEntries(value: object, depth: number): Record<string, unknown> {
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
  return key.length > MAX_KEY || secretValues.size > 0 || UNSAFE_KEY.test(key) ? safeText(key, MAX_KEY) : key
}

/** Control and formatting characters that could move a cursor, hide text or forge a line. */
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]/
const ESCAPED = new RegExp(`${UNSAFE.source}`, 'gu')
/** A key with one of these may be more than a name: `token=x`. */
const UNSAFE_KEY = new RegExp(`[\\s:=]|${UNSAFE.source}`)

/** What every text with a secret has in it, other than a known value; most texts have none of it. */
const HINT = inBothCases(`${NAME_HINTS}|basic|://|[\\\\]u00[4-7]`)
const URL_PASSWORD = /(:\/\/[^\s/:@]*:)[^\s/@]+@/g
const BEARER = /\b(bearer)\s+[\w.~+/=-]{8,}/gi
const BASIC = /\b((authorization\W{0,5})?basic\s+)([\w.~+/=-]{8,})/gi
/** Of base64, not of a word: "Basic dXNlcjpwYXNz", "basic information". */
function likeCredentials(word: string): boolean {
  return /[\d=+/]/.test(word) || (/[a-z]/.test(word) && /.[A-Z]/.test(word))
}

/** `text` on one line, shortened, with control characters escaped and secrets removed. */
export function safeText(text: string, maxLength = MAX_TEXT): string {
  let safe = secretValues.size > 0 ? withoutKnownSecrets(text) : text
  // A secret that begins in the part shown has its name there, too.
  if (HINT.test(safe.length > maxLength ? safe.slice(0, maxLength) : safe)) safe = searched(safe, maxLength)
  if (safe.length > maxLength) safe = shorten(safe, maxLength, text.length)
  return UNSAFE.test(safe) ? escapeControls(safe) : safe
}

function shorten(text: string, maxLength: number, length: number): string {
  return `${text.slice(0, maxLength)}… (${length} characters)`
}

function withoutKnownSecrets(text: string): string {
  let clean = text
  for (const secret of secretValues) if (clean.includes(secret)) clean = clean.replaceAll(secret, REMOVED)
  return clean
}

/** Searches before shortening, so that no half of a secret survives the cut, and not for ever. */
function searched(text: string, maxLength: number): string {
  const limit = Math.max(MAX_SEARCHED, 2 * maxLength)
  if (text.length <= limit) return withoutSecrets(text)
  const clean = withoutSecrets(text.slice(0, limit))
  // So much was removed that the cut would show: the word there may be half a secret.
  return clean.length > maxLength ? clean : `${clean.slice(0, clean.lastIndexOf(' ') + 1)}…`
}

function withoutSecrets(text: string): string {
  const clean = text
    .replace(URL_PASSWORD, `$1${REMOVED}@`)
    .replace(BEARER, `$1 ${REMOVED}`)
    .replace(BASIC, (all, scheme: string, header: string | undefined, word: string) =>
      header || likeCredentials(word) ? scheme + REMOVED : all,
    )
  return withoutNamedSecrets(clean, REMOVED)
}

/** Shows control characters as text (`\u001b`); well-formed surrogate pairs stay. */
export function escapeControls(text: string): string {
  return text.replace(ESCAPED, character => {
    if (character === '\n') return '\\n'
    if (character === '\t') return '\\t'
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
