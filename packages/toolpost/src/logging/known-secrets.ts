import { JsonWriter } from '../runtime/json-writer.ts'

/*
 * Values known to be secret, such as those in the configuration of a server: removed wherever they turn up.
 */

/** Replaces a secret. */
export const REMOVED = '[removed]'

interface Registry {
  readonly values: Set<string>
  /** Matches any of the values; built when needed. */
  pattern?: RegExp | undefined
}

const MIN_LENGTH = 6
const MIN_LINE_LENGTH = 16

const registry: Registry = { values: new Set() }

/** Values to remove wherever they turn up; those shorter than six characters would match everywhere and are ignored. */
export function removeFromLogs(values: Iterable<string>): void {
  for (const value of values)
    for (const form of formsOf(value)) if (form.length >= MIN_LENGTH) registry.values.add(form)
  registry.pattern = undefined
}

/** Values that are no longer secret, such as tokens that expired long ago. */
export function forgetSecrets(values: Iterable<string>): void {
  for (const value of values) for (const form of formsOf(value)) registry.values.delete(form)
  registry.pattern = undefined
}

/** As written in JSON, in JSON inside JSON, in a URL, and line by line. */
function formsOf(value: string): string[] {
  const lines = value.split(/\r?\n/).map(line => line.trim())
  const long = lines.length > 1 ? lines.filter(line => line.length >= MIN_LINE_LENGTH) : []
  const once = inJson(value)
  const twice = inJson(once)
  return [value, once, twice, inJson(twice), encodeURIComponent(value.toWellFormed()), ...long]
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** Any value given to `removeFromLogs`; `undefined` if there is none in the text. */
export function knownSecretsIn(text: string): RegExp | undefined {
  if (registry.values.size === 0 || text.length < MIN_LENGTH) return undefined
  registry.pattern ??= patternOf(registry.values)
  // Without the `g` flag the test takes nanoseconds, however many values there are.
  return registry.pattern.test(text) ? new RegExp(registry.pattern, 'g') : undefined
}

/** JSON data without those values; the same object if it has none. */
export function withoutKnownSecretsIn<T>(value: T): T {
  if (registry.values.size === 0) return value
  const text = new JsonWriter(value).rest()
  const known = knownSecretsIn(text)
  return known ? JSON.parse(text.replace(known, REMOVED)) : value
}

/** Longest first, so that no value matches only part of a longer one. */
function patternOf(values: Iterable<string>): RegExp {
  const literal = [...values].sort((a, b) => b.length - a.length).map(escaped)
  return new RegExp(literal.join('|'))
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}
