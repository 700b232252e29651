import type { ErrorObject } from 'ajv'
import type { CompiledSchema } from '../schema/compile.ts'
import { explainErrors, kindOf, pointerParts } from '../schema/explain.ts'
import { declaredNames, type JsonSchema, schemasOfPart, withBranches } from '../schema/json-schema.ts'
import { isObjectLike } from '../util/guards.ts'
import { parseJsonText, parseNearlyJson } from './json-text.ts'
import { ABSENT, type Arguments, type Change, changed, pointerTo, repairsFor } from './repair.ts'

const MAX_ARGUMENT_MB = 10
const MAX_ARGUMENT_LEVELS = 64
const MAX_ARGUMENT_VALUES = 50_000
/** Every error about a value contains its path, so a long name would be repeated over and over. */
const MAX_NAME_CHARS = 2_000
/** How many characters of text take as long to check as one value. */
const CHARS_PER_VALUE = 10
/** Each round of changes may uncover another problem, such as text inside text inside text. */
const MAX_ROUNDS = 20

/**
 * How many values the arguments have, a long text counting as several; or what is wrong with them, if they are over a
 * limit or no object. Runs for every call, before any schema.
 */
export function measureArguments(args: unknown): number | string {
  if (!isObjectLike(args) || Array.isArray(args)) return `arguments must be object, got ${kindOf(args)}`
  const size = { values: 0, chars: 0 }
  return problemOf(args, size, 0) ?? size.values + size.chars / CHARS_PER_VALUE
}

const TOO_MANY_VALUES = `arguments have more than ${MAX_ARGUMENT_VALUES} values`

function problemOf(
  value: unknown,
  size: { values: number; chars: number },
  level: number,
): string | undefined {
  if (typeof value === 'string') size.chars += value.length
  if (size.chars > MAX_ARGUMENT_MB * 1_000_000) return `arguments are larger than ${MAX_ARGUMENT_MB} MB`
  if (++size.values > MAX_ARGUMENT_VALUES) return TOO_MANY_VALUES
  if (!isObjectLike(value)) return undefined
  // A list may be longer than what it holds.
  if (Array.isArray(value) && value.length > MAX_ARGUMENT_VALUES) return TOO_MANY_VALUES
  if (level >= MAX_ARGUMENT_LEVELS) return `arguments are nested more than ${MAX_ARGUMENT_LEVELS} levels deep`
  for (const name in value) {
    if (name === '__proto__') return "'__proto__' is not an argument name"
    if (name.length > MAX_NAME_CHARS) return `an argument name is longer than ${MAX_NAME_CHARS} characters`
    size.chars += name.length
    const problem = problemOf((value as Arguments)[name], size, level + 1)
    if (problem) return problem
  }
  return undefined
}

/** Valid arguments and their repairs, or what is wrong with them. */
export type Validated =
  | { args: Arguments; repairs?: string[]; problems?: undefined }
  | { problems: string[]; args?: undefined; repairs?: undefined }

/**
 * Arguments that fit the schema. Names that a closed schema does not know are dropped. With `repair`, certain repairs are
 * made. The given arguments are never changed: changes are made on a copy.
 */
export function validateArguments(compiled: CompiledSchema, given: Arguments, repair: boolean): Validated {
  const { schema, validate } = compiled
  let args = given
  if (validate(args)) return { args }
  const repairs: string[] = []
  const errorsOf = (trial: unknown) => (validate(trial) ? [] : (validate.errors ?? []))
  for (let round = 0; round <= MAX_ROUNDS; round++) {
    const errors = errorsOf(args)
    if (errors.length === 0) return repairs.length > 0 ? { args, repairs } : { args }
    const extras = extraArguments(errors, schema)
    const made = extras.length === 0 && repair ? repairsFor(args, errors, schema, errorsOf) : []
    const next = changed(args, [...extras, ...made])
    const isChanged = extras.length + made.length > 0 && typeof measureArguments(next) === 'number'
    if (!isChanged) return { problems: explainErrors(errors, schema) }
    args = next
    repairs.push(...made.map(({ pointer, what }) => `${pointerParts(pointer).join('.')}: ${what}`))
  }
  return { problems: explainErrors(errorsOf(args), schema) }
}

/** Parses arguments given as text, as some models send them. */
export async function argumentsFromText(text: string): Promise<Arguments | undefined> {
  let value: unknown = text.trim() === '' ? {} : (parseJsonText(text) ?? (await parseNearlyJson(text)))
  if (typeof value === 'string') value = parseJsonText(value)
  return typeof measureArguments(value) === 'number' ? (value as Arguments) : undefined
}

/** The arguments that a closed schema refuses and none of its branches knows. */
function extraArguments(errors: readonly ErrorObject[], root: JsonSchema): Change[] {
  const known = new Map<string, ReadonlySet<string>>()
  return errors.flatMap(({ params, instancePath }) => {
    const name: string | undefined = params.additionalProperty ?? params.unevaluatedProperty
    if (name === undefined) return []
    // Entries of a list share their schemas: 40,000 of them are looked up as one.
    const place = instancePath.replace(/\/\d+(?=\/|$)/g, '/0')
    const names = known.get(place) ?? namesAt(place, root)
    known.set(place, names)
    return names.has(name) ? [] : [{ pointer: pointerTo(instancePath, name), value: ABSENT }]
  })
}

/** The names declared for a place in any branch, including those that fail for another reason. */
function namesAt(place: string, root: JsonSchema): ReadonlySet<string> {
  const top = withBranches([root], root)
  return declaredNames(pointerParts(place).reduce((here, name) => schemasOfPart(here, name, root), top))
}
