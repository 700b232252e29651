import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../util/package-root.ts'
import { plainCopy } from '../util/plain-value.ts'

/*
 * What is removed: the values of keys with a secret name, values registered with `removeFromLogs`, and well-known token
 * formats. Names and formats are data: data/redaction.json.
 */

/** Replaces a secret. */
export const REMOVED = '[removed]'

/** Shorter values would match everywhere. */
const MIN_VALUE_CHARACTERS = 8
const MIN_TOKEN_CHARACTERS = 16
const MAX_KEY_CHARACTERS = 200
const MAX_CACHED_KEYS = 10_000

const known = { values: new Set<string>(), names: new Set<string>() }
const cachedKeys = new Map<string, boolean>()
let knownPattern: RegExp | undefined

/** Values to remove wherever they occur, such as the tokens in a configuration. */
export function removeFromLogs(values: Iterable<string>): void {
  for (const value of values) if (value.length >= MIN_VALUE_CHARACTERS) known.values.add(value)
  knownPattern = undefined
}

/** More key names with secret values: `log.secrets` in the configuration. Each matches any key that ends with it. */
export function treatAsSecret(names: Iterable<string>): void {
  for (const name of [...names].map(plainKey)) if (name !== '') known.names.add(name)
  cachedKeys.clear()
}

/** `text` without secrets. Takes linear time; callers limit its length. */
export function redact(text: string): string {
  let clean = withoutKnownSecrets(text)
  if (clean.length >= MIN_TOKEN_CHARACTERS)
    for (const format of rules.formats) clean = clean.replace(format, REMOVED)
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

/** `text` without registered values: as they are, as in JSON, and as in a URL. */
export function withoutKnownSecrets(text: string): string {
  if (known.values.size === 0) return text
  knownPattern ??= patternOf(known.values)
  return text.replace(knownPattern, REMOVED)
}

/** JSON data without registered values. */
export function withoutKnownSecretsIn<T>(value: T): T {
  return known.values.size === 0 ? value : (plainCopy(value, WHOLE).value as T)
}

const KNOWN_ONLY = { text: withoutKnownSecrets, key: withoutKnownSecrets, secret: () => undefined }
const WHOLE = { maxDepth: 500, maxEntries: 1e6, maxBytes: 1e9, maxValues: 1e6, cleaner: KNOWN_ONLY }

/** Longest first, so that no value matches only a part of a longer one. */
function patternOf(values: Iterable<string>): RegExp {
  const forms = [...values].flatMap(value => [value, inJson(value), encodeURIComponent(value.toWellFormed())])
  const sorted = [...new Set(forms)].sort((a, b) => b.length - a.length)
  return new RegExp(sorted.map(form => form.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'), 'g')
}

const inJson = (text: string) => JSON.stringify(text).slice(1, -1)

/** Whether a key has a secret value, by its name. */
export function isSecretKey(key: string): boolean {
  const cached = cachedKeys.get(key)
  if (cached !== undefined) return cached
  const isSecret = hasSecretName(key.slice(-MAX_KEY_CHARACTERS))
  if (cachedKeys.size >= MAX_CACHED_KEYS) cachedKeys.clear()
  if (key.length <= MAX_KEY_CHARACTERS) cachedKeys.set(key, isSecret)
  return isSecret
}

function hasSecretName(key: string): boolean {
  const { keys, words } = rules
  const plain = plainKey(key)
  // Of `userPin`, `USER_PIN` and `user-pin2`: `pin`.
  const lastWord = key
    .replace(/\d{1,9}$/, '')
    .split(/[\s_.-]|(?<=[a-z\d])(?=[A-Z])/)
    .at(-1)
  return (
    [...keys, ...known.names].some(name => plain.endsWith(name)) ||
    words.includes(lastWord?.toLowerCase() ?? '')
  )
}

function plainKey(key: string): string {
  return key.toLowerCase().replace(/[\s_.-]|\d{1,9}$/g, '')
}

interface Rules {
  keys: string[]
  words: string[]
  formats: RegExp[]
}

/** Read at the start: later a process may be out of file handles, and has to log that. */
const rules = readRules()

function readRules(): Rules {
  const file = join(packageRoot(), 'data', 'redaction.json')
  const { keys, words, formats } = JSON.parse(readFileSync(file, 'utf8'))
  const patterns = formats.map(({ pattern }: { pattern: string }) => new RegExp(pattern, 'g'))
  return { keys, words, formats: patterns }
}
