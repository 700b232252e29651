import { packageJson } from '../util/package-root.ts'
import { plainCopy } from './plain-value.ts'

/** Replaces secrets: the values of keys with a secret name, registered values, and well-known token formats. */
export const REMOVED = '[removed]'

/** Shorter values would match everywhere. */
const MIN_VALUE_CHARACTERS = 8
const MIN_TOKEN_CHARACTERS = 16
const MAX_KEY_CHARACTERS = 200
const MAX_CACHED_KEYS = 10_000

/** Read at the start: later a process may be out of file handles, and has to log that. */
const rules = packageJson('data/redaction.json')
const formats: RegExp[] = rules.formats.map(({ pattern }: { pattern: string }) => new RegExp(pattern, 'g'))
const names = new Set<string>(rules.keys)
const cachedKeys = new Map<string, boolean>()
/** Registered values as they are, as in JSON, and as in a URL. */
const values = new Set<string>()
let anyValue: RegExp | undefined

/** Values to remove wherever they occur, such as the tokens in a configuration. */
export function removeFromLogs(more: Iterable<string>): void {
  for (const value of [...more].filter(({ length }) => length >= MIN_VALUE_CHARACTERS))
    for (const encode of [String, inJson, inUrl]) values.add(encode(value))
  // Longest first, so that no value matches only a part of a longer one.
  const sorted = [...values].sort((a, b) => b.length - a.length)
  const pattern = sorted.map(value => value.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|')
  anyValue = pattern === '' ? undefined : new RegExp(pattern, 'g')
}

const inJson = (value: string) => JSON.stringify(value).slice(1, -1)
const inUrl = (value: string) => encodeURIComponent(value.toWellFormed())

/** More key names with secret values: `log.secrets` in the configuration. Each matches any key that ends with it. */
export function treatAsSecret(more: Iterable<string>): void {
  for (const name of [...more].map(plainKey)) if (name !== '') names.add(name)
  cachedKeys.clear()
}

/** `text` without secrets. Takes linear time; callers limit its length. */
export function redact(text: string): string {
  let clean = withoutKnownSecrets(text)
  if (clean.length >= MIN_TOKEN_CHARACTERS)
    for (const format of formats) clean = clean.replace(format, REMOVED)
  if (!/["'=]/.test(clean)) return clean
  return clean.replace(KEY_AND_VALUE, (all, key: string, separator: string, quote = '') =>
    isSecretKey(key) ? key + separator + quote + REMOVED : all,
  )
}

/* Keys and their values in a text: `"key": "value"`, `key: 'value'`, `"key": 5`, `key=value`. */
const KEY = /(?<![\w.-])([\w.-]{1,64})(\\{0,3}["']?\s{0,5}[=:]\s{0,5})/.source
const QUOTED = /(\\{0,3}["'])(?:(?<=")(?:[^"\\\n]|\\.)+|(?<=')(?:[^'\\\n]|\\.)+)/.source
const NUMBER = /(?<=["']\s{0,5}:\s{0,5})-?\d[^\s"',}\]]*/.source
const BARE = /(?<==\s{0,5})(?!=|\[removed|(?:true|false|null)\b)[^\s"'&<>]+/.source
const KEY_AND_VALUE = new RegExp(`${KEY}(?:${QUOTED}|${NUMBER}|${BARE})`, 'g')

/** `text` without registered values. */
export function withoutKnownSecrets(text: string): string {
  return anyValue ? text.replace(anyValue, REMOVED) : text
}

/** JSON data without registered values. */
export function withoutKnownSecretsIn<T>(value: T): T {
  return anyValue ? (plainCopy(value, WHOLE).value as T) : value
}

/** For texts that must be shown as they are, but for registered values. */
export const KNOWN_ONLY = { text: withoutKnownSecrets, key: withoutKnownSecrets, secret: () => undefined }
const WHOLE = { maxDepth: 500, maxEntries: 1e6, maxBytes: 1e9, maxValues: 1e6, cleaner: KNOWN_ONLY }

/** Whether a key has a secret value, by its name. */
export function isSecretKey(key: string): boolean {
  const end = key.slice(-MAX_KEY_CHARACTERS)
  const cached = cachedKeys.get(end)
  if (cached !== undefined) return cached
  const plain = plainKey(end)
  // Of `userPin`, `USER_PIN` and `user-pin2`: `pin`.
  const words = end.replace(/\d{1,9}$/, '').split(/[\s_.-]|(?<=[a-z\d])(?=[A-Z])/)
  const isSecret =
    [...names].some(name => plain.endsWith(name)) || rules.words.includes(words.at(-1)?.toLowerCase() ?? '')
  if (cachedKeys.size >= MAX_CACHED_KEYS) cachedKeys.clear()
  cachedKeys.set(end, isSecret)
  return isSecret
}

const plainKey = (key: string) => key.toLowerCase().replace(/[\s_.-]|\d{1,9}$/g, '')
