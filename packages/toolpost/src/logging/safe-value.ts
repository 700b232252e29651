/*
 * What may appear in a log, a record, an event or a report: short, on one line, without secrets. Every sink uses one of
 * these: `safeText` for a text, `safeLines` for several lines, `safeValue` for any other logged value, `cleaner` (with
 * custom limits, through `plainCopy`) for values that are stored and shown later, such as the journal's records.
 */

import { type Cleaner, type PlainLimits, plainCopy } from '../runtime/plain-value.ts'
import { removeFromLogs as addKnownSecrets } from './known-secrets.ts'
import { mayHaveASecret, withoutFoundSecrets, withoutLongSecrets } from './secret-formats.ts'
import { addSecretNames, isSecretKey, mayNameASecret } from './secret-names.ts'
import { cleanList, cleanObject, withoutValue } from './secret-pairs.ts'
import { withoutKnownSecrets } from './without-known.ts'

export { isSecretKey }

const MAX_TEXT = 500
/** How much of a text is searched for secrets; more if twice the shown length is more. */
const MAX_SEARCHED = 20_000
const MAX_KEY = 100

/** Control and formatting characters that could move a cursor, hide text or forge a line. */
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]/
const ESCAPED = new RegExp(UNSAFE.source, 'gu')
/** In a pair, the value may come first and its name a little later. */
const NAME_REACH = 500

/** Values to remove wherever they turn up, such as the secret environment variables of a server. */
export function removeFromLogs(values: Iterable<string>): void {
  learn({ values: [...values], names: [] })
}

/** More names whose values are secret: `log.secrets` in the configuration. */
export function treatAsSecret(names: Iterable<string>): void {
  learn({ values: [], names: [...names] })
}

/** Secrets beyond the built-in rules. */
export interface Secrets {
  values: string[]
  names: string[]
}

const learned = { values: new Set<string>(), names: new Set<string>() }
const followers = new Set<(secrets: Secrets) => void>()

/**
 * Tells `follower` all secrets learned so far and later: for another thread that cleans too. Returns a function that
 * unsubscribes it.
 */
export function followSecrets(follower: (secrets: Secrets) => void): () => void {
  follower({ values: [...learned.values], names: [...learned.names] })
  followers.add(follower)
  return () => void followers.delete(follower)
}

export function learn(secrets: Secrets): void {
  for (const value of secrets.values) learned.values.add(value)
  for (const name of secrets.names) learned.names.add(name)
  addKnownSecrets(secrets.values)
  if (secrets.names.length > 0) addSecretNames(secrets.names)
  keys.clear()
  for (const follower of followers) follower(secrets)
}

/** `text` on one line, shortened, with control characters escaped and secrets removed. */
export function safeText(text: string, maxLength = MAX_TEXT): string {
  const clean = withoutSecrets(text, maxLength)
  const safe = clean.length > maxLength ? shorten(clean, maxLength, text.length) : clean
  return UNSAFE.test(safe) ? escapeControls(safe) : safe
}

/** The same for a text of several lines: keeps the lines and the full length. */
export function safeLines(text: string): string {
  return withoutLongSecrets(withoutKnownSecrets(text))
    .split(/\r?\n/)
    .map(line => safeText(line, Number.POSITIVE_INFINITY))
    .join('\n')
}

function shorten(text: string, maxLength: number, length: number): string {
  return `${text.slice(0, maxLength)}… (${length} characters)`
}

/** `text` without secrets, searched before it is cut to `shown` characters, so that no half secret survives. */
export function withoutSecrets(text: string, shown = Number.POSITIVE_INFINITY): string {
  const known = withoutKnownSecrets(text)
  const near = known.length > shown + NAME_REACH ? known.slice(0, shown + NAME_REACH) : known
  if (!mayHaveASecret(near)) return known
  const limit = Math.max(MAX_SEARCHED, 2 * shown)
  if (known.length <= limit) return withoutFoundSecrets(known)
  const clean = withoutFoundSecrets(known.slice(0, limit))
  // So much was removed that the end of the searched part would show: the last word may be half a secret.
  return clean.length > shown ? clean : `${clean.slice(0, clean.lastIndexOf(' ') + 1)}…`
}

/** Shows control characters as text (`\u001b`); keeps well-formed surrogate pairs. */
export function escapeControls(text: string): string {
  return text.replace(ESCAPED, character => {
    if (character === '\n') return '\\n'
    if (character === '\t') return '\\t'
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

const MAX_REMEMBERED = 10_000
const keys = new Map<string, { shown: string; isSecret: boolean }>()

/** Too short and too simple to look like a secret. */
const PLAIN_KEY = /^[A-Za-z\d]{1,19}$/

function knownKey(key: string): { shown: string; isSecret: boolean } {
  let known = keys.get(key)
  if (!known) {
    known = { shown: shownKey(key), isSecret: mayNameASecret(key) && isSecretKey(key) }
    if (keys.size < MAX_REMEMBERED && key.length <= MAX_KEY) keys.set(key, known)
  }
  return known
}

function shownKey(key: string): string {
  if (PLAIN_KEY.test(key)) return withoutKnownSecrets(key)
  return key === '__proto__' ? '[__proto__]' : safeText(key, MAX_KEY)
}

/** `safeText` for recurring names, such as those of tools and servers. */
export function safeName(name: string): string {
  return knownKey(name).shown
}

/** `add(a: number, b?: number)`: the signature of a tool, not of a message. */
function isFunctionSignature(value: unknown, key: string): value is string {
  return /signature$/i.test(key) && typeof value === 'string' && FUNCTION_SIGNATURE.test(value)
}

const FUNCTION_SIGNATURE = /^[\w.-]{1,128}\((?:[\w$.-]{1,100}\??: .*)?\)$/s

/** Removes secrets from a copy: by key, by a name next to them, and within texts. */
export const cleaner: Cleaner = {
  text: text => withoutSecrets(text),
  key: knownKey,
  secret: (value, key) => (isFunctionSignature(value, key) ? safeText(value) : withoutValue(value)),
  list: cleanList,
  object: cleanObject,
}

const LOG_LIMITS: PlainLimits = {
  maxDepth: 6,
  maxEntries: 50,
  maxBytes: 50_000,
  maxValues: 2_000,
  cleaner: { ...cleaner, text: text => safeText(text) },
}

/** A copy of `value` fit for a log: shortened, escaped, without secrets, without cycles. Never throws. */
export function safeValue(value: unknown): unknown {
  return plainCopy(value, LOG_LIMITS).value
}

const QUESTION_BYTES = 20_000
const QUESTION_LIMITS: PlainLimits = {
  maxDepth: 100,
  maxEntries: QUESTION_BYTES,
  maxBytes: QUESTION_BYTES,
  maxValues: QUESTION_BYTES,
  cleaner: { ...cleaner, text: text => escapeControls(withoutKnownSecrets(text)), list() {}, object() {} },
}

/**
 * A copy of `value` for the person who decides whether to allow it. Nothing is shortened and no secret is guessed, since
 * a hidden part may be the dangerous one; only values of secret keys and known secrets are removed. `undefined` if too large.
 */
export function askedValue(value: unknown): { value: unknown } | undefined {
  const copy = plainCopy(value, QUESTION_LIMITS)
  return copy.isComplete && copy.bytes <= QUESTION_BYTES ? { value: copy.value } : undefined
}
