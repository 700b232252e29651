import type { ErrorObject } from 'ajv'
import { grouped } from '../runtime/grouped.ts'
import { pointerParts } from '../schema/explain-errors.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { type Form, formFinder, namesIn } from '../schema/walk-schema.ts'

/** The keys to leave out, by the JSON pointer of their object. */
export type Extras = ReadonlyMap<string, ReadonlySet<string>>

interface Refusal {
  place: string
  key: string
  /** The closed schema that refuses it. */
  by: string
}

/** The keys that no branch of a closed schema knows, taken from its validation errors. */
export function extraArguments(errors: readonly ErrorObject[], root: JsonSchema): Extras {
  const extras = new Map<string, ReadonlySet<string>>()
  const refusals = refusalsIn(errors)
  if (refusals.size === 0) return extras
  const namesAt = nameFinder(root)
  for (const [place, here] of refusals) {
    const known = namesAt(place)
    const keys = refusedByAll(here).filter(key => !known.has(key))
    if (keys.length > 0) extras.set(place, new Set(keys))
  }
  return extras
}

function refusalsIn(errors: readonly ErrorObject[]): Map<string, Refusal[]> {
  const refusals = errors.flatMap(({ params, instancePath, schemaPath }) => {
    const key: unknown = params.additionalProperty ?? params.unevaluatedProperty
    return typeof key === 'string' ? [{ place: instancePath, key, by: schemaPath }] : []
  })
  return grouped(refusals, ({ place }) => place)
}

/** Each of several branches refuses the keys of the others: only keys that all of them refuse are extra. */
function refusedByAll(refusals: readonly Refusal[]): string[] {
  const schemas = new Set(refusals.map(({ by }) => by))
  if (schemas.size === 1) return refusals.map(({ key }) => key)
  return [...grouped(refusals, ({ key }) => key)]
    .filter(([, here]) => new Set(here.map(({ by }) => by)).size === schemas.size)
    .map(([key]) => key)
}

/** The names declared for a place in any branch, including those that fail for another reason. */
function nameFinder(root: JsonSchema): (pointer: string) => ReadonlySet<string> {
  const formsAt = formFinder(root)
  const known = new Map<readonly Form[], ReadonlySet<string>>()
  return pointer => {
    const forms = formsAt(pointerParts(pointer))
    const names = known.get(forms) ?? namesIn(forms)
    known.set(forms, names)
    return names
  }
}
