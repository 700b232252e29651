import { isObjectLike, markHeavy } from '../runtime/guards.ts'
import { keepNames, MANY_NAMES } from '../runtime/names-of.ts'
import { kindOf } from '../schema/explain-errors.ts'

const MAX_ARGUMENT_DEPTH = 200
const MAX_ARGUMENT_OBJECTS = 100_000
const MAX_NAME_LENGTH = 2_000
/** Listing the keys of a larger object takes milliseconds every time. */
const MAX_NAMES = 25_000

export type Arguments = Record<string, unknown>

/** Beyond this, every full traversal of the arguments takes milliseconds. */
const MAX_LIGHT_PARTS = 4_000

/**
 * The weight of the arguments (their parts and characters), or a problem if they are not a plain, finite object.
 * Runs for every call, before any schema.
 */
export function weighArguments(args: unknown): number | string {
  return weigh(args, Number.POSITIVE_INFINITY) as number | string
}

/** The same, but stops early and returns `undefined` if there are too many parts. */
export function weighIfLight(args: unknown): number | string | undefined {
  const weight = weigh(args, MAX_LIGHT_PARTS)
  if (weight === undefined) markHeavy(args as object)
  return weight
}

function weigh(args: unknown, maxParts: number): number | string | undefined {
  if (!isObjectLike(args) || Array.isArray(args)) return `arguments must be object, got ${kindOf(args)}`
  let weight = 1
  let names = 0
  let nested: object[] | undefined
  for (const key in args) {
    const problem = problemOf(key, ++names)
    if (problem) return problem
    // Keep checking names, which are already listed; skip the values.
    if (names > maxParts) continue
    const value = (args as Arguments)[key]
    weight += typeof value === 'string' ? value.length + 1 : 1
    if (!isObjectLike(value)) continue
    nested ??= []
    nested.push(value)
  }
  if (names > maxParts) return undefined
  if (names > MANY_NAMES) keepNames(args)
  return nested ? weighNested(nested, weight, maxParts - names) : weight
}

/** Every error about a value contains its path, so a long name would be repeated over and over. */
function problemOf(name: string, names: number): string | undefined {
  if (names > MAX_NAMES) return `an object in the arguments has more than ${MAX_NAMES} names`
  if (name === '__proto__') return "'__proto__' is not an argument name"
  return name.length > MAX_NAME_LENGTH
    ? `an argument name is longer than ${MAX_NAME_LENGTH} characters`
    : undefined
}

/** Level by level instead of recursively, since the depth is what is being checked. */
function weighNested(start: object[], startWeight: number, maxParts: number): number | string | undefined {
  let level = start
  const load: Load = { weight: startWeight, partsLeft: maxParts, nested: [] }
  let objects = 0
  for (let depth = 2; level.length > 0; depth++) {
    if (depth > MAX_ARGUMENT_DEPTH) return `arguments are nested more than ${MAX_ARGUMENT_DEPTH} levels deep`
    objects += level.length
    if (objects > MAX_ARGUMENT_OBJECTS) return `arguments have more than ${MAX_ARGUMENT_OBJECTS} parts`
    for (const value of level) {
      const problem = Array.isArray(value) ? addList(value, load) : addEntries(value as Arguments, load)
      if (problem) return problem
      if (load.partsLeft < 0) return undefined
    }
    level = load.nested
    load.nested = []
  }
  return load.weight
}

/** The weight so far, and what is left to visit. */
interface Load {
  weight: number
  partsLeft: number
  nested: object[]
}

function addPart(part: unknown, load: Load): void {
  load.weight += typeof part === 'string' ? part.length + 1 : 1
  if (isObjectLike(part)) load.nested.push(part)
}

function addList(values: readonly unknown[], load: Load): undefined {
  load.partsLeft -= values.length
  if (load.partsLeft >= 0) values.forEach(value => void addPart(value, load))
}

function addEntries(value: Arguments, load: Load): string | undefined {
  let names = 0
  for (const key in value) {
    const problem = problemOf(key, ++names)
    if (problem) return problem
    if (--load.partsLeft < 0) continue
    addPart(value[key], load)
  }
  if (names > MANY_NAMES && load.partsLeft >= 0) keepNames(value)
  return undefined
}
