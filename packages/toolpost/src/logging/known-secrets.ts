import { JsonWriter } from '../runtime/json-writer.ts'

/*
 * Values that are known to be secret, such as those in the configuration of a server: removed wherever they turn up.
 */

/** What stands in the place of a secret. */
export const REMOVED = '[removed]'

interface Registry {
  readonly values: Set<string>
  /** Fits any of the values; made when it is needed. */
  pattern?: RegExp | undefined
}

const MIN_LENGTH = 6
const MIN_LINE_LENGTH = 16

const registry: Registry = { values: new Set() }

/** Values to remove wherever they turn up; ones of less than six characters would be found everywhere. */
export function removeFromLogs(values: Iterable<string>): void {
  for (const value of values)
    for (const form of formsOf(value)) if (form.length >= MIN_LENGTH) registry.values.add(form)
  registry.pattern = undefined
}

/** Values that are no secrets any more, such as tokens that have expired long ago. */
export function forgetSecrets(values: Iterable<string>): void {
  for (const value of values) for (const form of formsOf(value)) registry.values.delete(form)
  registry.pattern = undefined
}

/** As it stands in JSON, also in JSON inside JSON, in an address, and line by line. */
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
  // Without the flag `g` it is a test of nanoseconds, whatever the number of values.
  return registry.pattern.test(text) ? new RegExp(registry.pattern, 'g') : undefined
}

/** JSON data without those values; the same object if there are none in it. */
export function withoutKnownSecretsIn<T>(value: T): T {
  if (registry.values.size === 0) return value
  const text = new JsonWriter(value).rest()
  const known = knownSecretsIn(text)
  return known ? JSON.parse(text.replace(known, REMOVED)) : value
}

/** Longest first, so that none is cut by another. */
function patternOf(values: Iterable<string>): RegExp {
  const literal = [...values].sort((a, b) => b.length - a.length).map(escaped)
  return new RegExp(literal.join('|'))
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}
