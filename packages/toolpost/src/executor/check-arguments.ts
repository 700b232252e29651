import { isObjectLike } from '../runtime/guards.ts'
import { kindOf } from '../schema/explain-errors.ts'

const MAX_ARGUMENT_DEPTH = 200
const MAX_ARGUMENT_OBJECTS = 1_000_000

export type Arguments = Record<string, unknown>

/** What is wrong with the arguments before any schema is asked; `undefined` if they are a plain, finite object. */
export function checkArguments(args: unknown): string | undefined {
  if (!isObjectLike(args) || Array.isArray(args)) return `arguments must be object, got ${kindOf(args)}`
  let nested: object[] | undefined
  for (const key in args) {
    if (key === '__proto__') return PROTO
    const value = (args as Arguments)[key]
    if (!isObjectLike(value)) continue
    nested ??= []
    nested.push(value)
  }
  return nested && checkNested(nested)
}

const PROTO = "'__proto__' is not an argument name"

/** Level by level and not by recursion: the depth is what is being checked. */
function checkNested(start: object[]): string | undefined {
  let level = start
  let objects = 0
  for (let depth = 2; level.length > 0; depth++) {
    if (depth > MAX_ARGUMENT_DEPTH) return `arguments are nested more than ${MAX_ARGUMENT_DEPTH} levels deep`
    objects += level.length
    if (objects > MAX_ARGUMENT_OBJECTS) return `arguments have more than ${MAX_ARGUMENT_OBJECTS} parts`
    const next: object[] = []
    for (const value of level) {
      if (!Array.isArray(value) && Object.hasOwn(value, '__proto__')) return PROTO
      for (const inner of Object.values(value)) if (isObjectLike(inner)) next.push(inner)
    }
    level = next
  }
  return undefined
}
