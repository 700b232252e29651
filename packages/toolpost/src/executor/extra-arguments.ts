import type { ErrorObject } from 'ajv'
import { pointerParts } from '../schema/explain-errors.ts'
import { type JsonSchema, knownNames } from '../schema/json-schema.ts'
import type { Arguments } from './check-arguments.ts'

/** For each object, by its JSON pointer: the keys to leave out. */
export type Extras = ReadonlyMap<string, ReadonlySet<string>>

interface Refusals {
  /** Which closed schemas refuse something here. */
  schemas: Set<string>
  /** Which of them refuse each key. */
  byKey: Map<string, Set<string>>
}

/** The keys that no form of a closed schema knows, as its validation errors name them. */
export function extraArguments(errors: readonly ErrorObject[], root: JsonSchema): Extras {
  const extras = new Map<string, ReadonlySet<string>>()
  for (const [place, { schemas, byKey }] of refusalsIn(errors)) {
    const known = namesOfForms(errors, place, root)
    // Of alternatives, each refuses the keys of the others: extra is what all of them refuse and none knows.
    const keys = [...byKey]
      .filter(([key, by]) => by.size === schemas.size && !known.has(key))
      .map(([key]) => key)
    if (keys.length > 0) extras.set(place, new Set(keys))
  }
  return extras
}

function refusalsIn(errors: readonly ErrorObject[]): Map<string, Refusals> {
  const places = new Map<string, Refusals>()
  for (const { params, instancePath, schemaPath } of errors) {
    const key = params.additionalProperty ?? params.unevaluatedProperty
    if (typeof key !== 'string') continue
    const refusals = places.get(instancePath) ?? { schemas: new Set(), byKey: new Map() }
    places.set(instancePath, refusals)
    refusals.schemas.add(schemaPath)
    refusals.byKey.set(key, (refusals.byKey.get(key) ?? new Set()).add(schemaPath))
  }
  return places
}

/** What the alternatives at a place know: a branch that fails for another reason still knows its keys. */
function namesOfForms(errors: readonly ErrorObject[], place: string, root: JsonSchema): Set<string> {
  const names = new Set<string>()
  for (const { instancePath, keyword, schema, parentSchema } of errors) {
    if (instancePath !== place) continue
    const forms =
      keyword === 'anyOf' || keyword === 'oneOf'
        ? schema
        : keyword === 'unevaluatedProperties' && [parentSchema]
    if (Array.isArray(forms)) {
      for (const form of forms) for (const name of knownNames(form as JsonSchema, root)) names.add(name)
    }
  }
  return names
}

/** A copy of `args` without `extras`; what is not on the way to one is shared with the original. */
export function withoutExtras(args: Arguments, extras: Extras): Arguments {
  let left = args
  for (const [place, keys] of extras) left = change(left, pointerParts(place), value => without(value, keys))
  return left
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

function without(value: unknown, keys: ReadonlySet<string>): unknown {
  return Object.fromEntries(Object.entries(value as Arguments).filter(([key]) => !keys.has(key)))
}
