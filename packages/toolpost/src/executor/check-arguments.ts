import { isObjectLike } from '../runtime/guards.ts'
import { kindOf } from '../schema/explain-errors.ts'

const MAX_ARGUMENT_DEPTH = 200
const MAX_ARGUMENT_OBJECTS = 100_000
const MAX_NAME_LENGTH = 2_000
/** Listing the names of a larger object takes milliseconds, each time that somebody looks at them all. */
const MAX_NAMES = 25_000

export type Arguments = Record<string, unknown>

/**
 * How much the arguments weigh: their parts and characters. What is wrong with them, in words, if they are not a plain,
 * finite object. Asked of every call, before any schema is.
 */
export function weighArguments(args: unknown): number | string {
  if (!isObjectLike(args) || Array.isArray(args)) return `arguments must be object, got ${kindOf(args)}`
  let weight = 1
  let names = 0
  let nested: object[] | undefined
  for (const key in args) {
    const problem = problemOf(key, ++names)
    if (problem) return problem
    const value = (args as Arguments)[key]
    weight += typeof value === 'string' ? value.length + 1 : 1
    if (!isObjectLike(value)) continue
    nested ??= []
    nested.push(value)
  }
  return nested ? weighNested(nested, weight) : weight
}

/** Every error about a value names the way to it: a long name would be written again and again. */
function problemOf(name: string, names: number): string | undefined {
  if (names > MAX_NAMES) return `an object in the arguments has more than ${MAX_NAMES} names`
  if (name === '__proto__') return "'__proto__' is not an argument name"
  return name.length > MAX_NAME_LENGTH
    ? `an argument name is longer than ${MAX_NAME_LENGTH} characters`
    : undefined
}

/** Level by level and not by recursion: the depth is what is being checked. */
function weighNested(start: object[], startWeight: number): number | string {
  let level = start
  let weight = startWeight
  let objects = 0
  let next: object[] = []
  const weigh = (part: unknown) => {
    weight += typeof part === 'string' ? part.length + 1 : 1
    if (isObjectLike(part)) next.push(part)
  }
  for (let depth = 2; level.length > 0; depth++) {
    if (depth > MAX_ARGUMENT_DEPTH) return `arguments are nested more than ${MAX_ARGUMENT_DEPTH} levels deep`
    objects += level.length
    if (objects > MAX_ARGUMENT_OBJECTS) return `arguments have more than ${MAX_ARGUMENT_OBJECTS} parts`
    for (const value of level) {
      const problem = Array.isArray(value) ? value.forEach(weigh) : weighEntries(value as Arguments, weigh)
      if (problem) return problem
    }
    level = next
    next = []
  }
  return weight
}

function weighEntries(value: Arguments, weigh: (part: unknown) => void): string | undefined {
  let names = 0
  for (const key in value) {
    const problem = problemOf(key, ++names)
    if (problem) return problem
    weigh(value[key])
  }
  return undefined
}
