import { isObjectLike } from '../runtime/guards.ts'
import { kindOf } from '../schema/explain-errors.ts'

const MAX_ARGUMENT_DEPTH = 200
const MAX_ARGUMENT_OBJECTS = 200_000
const MAX_NAME_LENGTH = 2_000

export type Arguments = Record<string, unknown>

/**
 * How much the arguments weigh: their parts and characters. What is wrong with them, in words, if they are not a plain,
 * finite object. Asked of every call, before any schema is.
 */
export function weighArguments(args: unknown): number | string {
  if (!isObjectLike(args) || Array.isArray(args)) return `arguments must be object, got ${kindOf(args)}`
  let weight = 1
  let nested: object[] | undefined
  for (const key in args) {
    const problem = problemOf(key)
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
function problemOf(name: string): string | undefined {
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
  for (let depth = 2; level.length > 0; depth++) {
    if (depth > MAX_ARGUMENT_DEPTH) return `arguments are nested more than ${MAX_ARGUMENT_DEPTH} levels deep`
    objects += level.length
    if (objects > MAX_ARGUMENT_OBJECTS) return `arguments have more than ${MAX_ARGUMENT_OBJECTS} parts`
    const next: object[] = []
    for (const value of level) {
      for (const key in value) {
        const problem = problemOf(key)
        if (problem) return problem
        const inner = (value as Arguments)[key]
        weight += typeof inner === 'string' ? inner.length + 1 : 1
        if (isObjectLike(inner)) next.push(inner)
      }
    }
    level = next
  }
  return weight
}
