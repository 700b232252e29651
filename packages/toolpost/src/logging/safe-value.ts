import { INVISIBLE } from '../util/text.ts'
import { plainCopy } from './plain-value.ts'
import { isSecretKey, REMOVED, redact } from './redact.ts'

// What may appear in a log, a record, an event or a report: every sink uses one of these, or `plainCopy` with `cleaner`.

const MAX_TEXT_CHARACTERS = 500
const MAX_KEY_CHARACTERS = 100
/** Redacted before it is cut, so that no part of a secret remains; what is beyond this is not looked at. */
const MAX_REDACTED_CHARACTERS = 50_000
/** Control characters that could move a cursor or forge a line, and lone surrogates. */
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ud800-\udfff]/u
const UNSAFE = new RegExp(`${CONTROLS.source}|${INVISIBLE.source}`, 'gu')

/** `text` on one line, shortened, with control characters escaped and secrets removed. */
export function safeText(text: string, maxCharacters = MAX_TEXT_CHARACTERS): string {
  return escapeControls(redactAndCut(text, maxCharacters))
}

/** The same for a text of several lines: keeps the lines and the full length. */
export function safeLines(text: string): string {
  return redact(text).split(/\r?\n/).map(escapeControls).join('\n')
}

/** `text` without secrets, shortened. */
export function redactAndCut(text: string, maxCharacters: number): string {
  const clean = redact(text.slice(0, MAX_REDACTED_CHARACTERS))
  if (clean.length <= maxCharacters && text.length <= MAX_REDACTED_CHARACTERS) return clean
  return `${clean.slice(0, maxCharacters)}… (${text.length} characters)`
}

const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\t': '\\t' }

/** Shows control and invisible characters as text (`\u001b`). */
export function escapeControls(text: string): string {
  return text.replace(UNSAFE, character => {
    const code = (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')
    return ESCAPES[character] ?? (code.length > 4 ? `\\u{${code}}` : `\\u${code}`)
  })
}

/** Removes secrets from a copy: by key, and within texts. */
export const cleaner = {
  text: redact,
  key: (key: string) => (key === '__proto__' ? '[__proto__]' : safeText(key, MAX_KEY_CHARACTERS)),
  /** What is shown for the value of a secret key; `undefined` for any other key. */
  secret: (key: string, value: unknown): unknown => {
    if (!isSecretKey(key)) return undefined
    return typeof value === 'boolean' || value === null || value === '' ? value : REMOVED
  },
}

export type Cleaner = typeof cleaner

const LOG_CLEANER = { ...cleaner, text: (text: string) => safeText(text) }
const LOG_LIMITS = { maxDepth: 6, maxEntries: 50, maxBytes: 50_000, maxValues: 2_000, cleaner: LOG_CLEANER }

/** A copy of `value` fit for a log: shortened, escaped, without secrets, without cycles. Never throws. */
export function safeValue(value: unknown): unknown {
  return plainCopy(value, LOG_LIMITS).value
}
