import type { ErrorObject } from 'ajv'
import { pointerParts } from './validation/explain-errors.ts'

interface Extra {
  /** JSON pointer of the object that has the extra key. */
  pointer: string
  key: string
}

/** The keys that no form of a closed schema knows, as its validation errors name them. */
export function extraArguments(errors: readonly ErrorObject[]): Extra[] {
  const schemas = new Map<string, Set<string>>()
  const refusals = new Map<string, Set<string>>()
  for (const error of errors) {
    const key = error.params.additionalProperty ?? error.params.unevaluatedProperty
    if (typeof key !== 'string') continue
    note(schemas, error.instancePath, error.schemaPath)
    note(refusals, JSON.stringify([error.instancePath, key]), error.schemaPath)
  }
  return [...refusals].flatMap(([place, refusedBy]) => {
    const [pointer, key] = JSON.parse(place) as [string, string]
    // Of alternatives, each refuses the keys of the others: extra is what all of them refuse.
    return refusedBy.size === schemas.get(pointer)?.size ? [{ pointer, key }] : []
  })
}

function note(map: Map<string, Set<string>>, key: string, value: string): void {
  const set = map.get(key)
  if (set) set.add(value)
  else map.set(key, new Set([value]))
}

/** A copy of `args` without `extras`; what is not on the way to one is shared with the original. */
export function withoutExtras(
  args: Record<string, unknown>,
  extras: readonly Extra[],
): Record<string, unknown> {
  return extras.reduce(
    (left, { pointer, key }) => change(left, pointerParts(pointer), value => without(value, key)),
    args,
  )
}

/** A copy of `value` in which the part that `path` leads to is changed. */
export function change<T>(value: T, path: readonly string[], alter: (part: unknown) => unknown): T {
  const [key, ...rest] = path
  if (key === undefined) return alter(value) as T
  if (Array.isArray(value)) {
    const index = Number(key)
    return value.map((item, at) => (at === index ? change(item, rest, alter) : item)) as T
  }
  const copy = { ...value } as Record<string, unknown>
  copy[key] = change(copy[key], rest, alter)
  return copy as T
}

function without(value: unknown, key: string): unknown {
  const { [key]: _, ...rest } = value as Record<string, unknown>
  return rest
}
