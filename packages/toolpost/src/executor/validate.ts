import type { ErrorObject } from 'ajv'
import { grouped } from '../runtime/grouped.ts'
import { isObjectLike } from '../runtime/guards.ts'
import type { CompiledSchema } from '../schema/compile.ts'
import { explainErrors, kindOf, pointerParts } from '../schema/explain.ts'
import { declaredNames, type JsonSchema, schemasOfPart, withBranches } from '../schema/json-schema.ts'
import { parseJsonText, parseNearlyJson } from './json-text.ts'
import { ABSENT, type Arguments, type Changes, changed, pointerTo, repairArguments } from './repair.ts'

const MAX_ARGUMENT_MB = 10
const MAX_ARGUMENT_LEVELS = 64
const MAX_ARGUMENT_VALUES = 50_000
/** Every error about a value contains its path, so a long name would be repeated over and over. */
const MAX_NAME_CHARS = 2_000
/** How many characters of text take as long to check as one value. */
const CHARS_PER_VALUE = 10

/**
 * How many values the arguments have, a long text counting as several; or what is wrong with them, if they are over a
 * limit or no object. Runs for every call, before any schema.
 */
export function measureArguments(args: unknown): number | string {
  if (!isObjectLike(args) || Array.isArray(args)) return `arguments must be object, got ${kindOf(args)}`
  const size = { values: 0, chars: 0 }
  return problemOf(args, size, 0) ?? size.values + size.chars / CHARS_PER_VALUE
}

interface Size {
  values: number
  chars: number
}

const TOO_MANY_VALUES = `arguments have more than ${MAX_ARGUMENT_VALUES} values`

function problemOf(value: unknown, size: Size, level: number): string | undefined {
  if (++size.values > MAX_ARGUMENT_VALUES) return TOO_MANY_VALUES
  if (typeof value === 'string') size.chars += value.length
  if (size.chars > MAX_ARGUMENT_MB * 1_000_000) return `arguments are larger than ${MAX_ARGUMENT_MB} MB`
  return isObjectLike(value) ? problemIn(value, size, level + 1) : undefined
}

function problemIn(value: object, size: Size, level: number): string | undefined {
  if (level > MAX_ARGUMENT_LEVELS) return `arguments are nested more than ${MAX_ARGUMENT_LEVELS} levels deep`
  // A list may be longer than what it holds.
  if (Array.isArray(value) && value.length > MAX_ARGUMENT_VALUES) return TOO_MANY_VALUES
  for (const name in value) {
    if (name === '__proto__') return "'__proto__' is not an argument name"
    if (name.length > MAX_NAME_CHARS) return `an argument name is longer than ${MAX_NAME_CHARS} characters`
    size.chars += name.length
    const problem = problemOf((value as Arguments)[name], size, level)
    if (problem) return problem
  }
  return undefined
}

/** Each round of repairs may uncover another problem, such as text inside text inside text. */
const MAX_REPAIRS = 50
/** The most validations per call, however cheap they are. */
const MAX_TRIALS = 100

/** Valid arguments and their repairs, or what is wrong with them. */
export type Validated =
  | { args: Arguments; repairs?: string[]; problems?: undefined }
  | { problems: string[]; args?: undefined; repairs?: undefined }

/**
 * Arguments that fit the schema. Names that a closed schema does not know are dropped. With `repair`, certain repairs are
 * made. The given arguments are never changed: repairs are made on a copy.
 */
export function validateArguments(compiled: CompiledSchema, given: Arguments, repair: boolean): Validated {
  const { schema, validate } = compiled
  const isValid: boolean = validate(given)
  if (isValid) return { args: given }
  let trialsLeft = repair ? MAX_TRIALS : 0
  const findErrors = (trial: Arguments): readonly ErrorObject[] => {
    trialsLeft--
    return validate(trial) ? [] : (validate.errors ?? [])
  }
  let args = given
  const repairs: string[] = []
  for (let removals = 0; !validate(args); ) {
    const errors = validate.errors ?? []
    const extras = extraArguments(errors, schema)
    if (extras.size > 0 && removals++ < MAX_REPAIRS) {
      args = changed(args, extras)
      continue
    }
    const mayRepair = trialsLeft > 0 && repairs.length < MAX_REPAIRS
    const repaired = mayRepair ? repairArguments(args, errors, { root: schema, findErrors }) : undefined
    if (!repaired || typeof measureArguments(repaired.args) === 'string')
      return { problems: explainErrors(errors, schema) }
    args = repaired.args
    repairs.push(...repaired.repairs)
  }
  return repairs.length > 0 ? { args, repairs } : { args }
}

/** Parses arguments given as text, as some models send them. */
export async function argumentsFromText(text: string): Promise<Arguments | undefined> {
  let value: unknown = text.trim() === '' ? {} : (parseJsonText(text) ?? (await parseNearlyJson(text)))
  if (typeof value === 'string') value = parseJsonText(value)
  return typeof measureArguments(value) === 'number' ? (value as Arguments) : undefined
}

/** The arguments that no branch of a closed schema knows, taken from its validation errors. */
function extraArguments(errors: readonly ErrorObject[], root: JsonSchema): Changes {
  const extras = new Map<string, unknown>()
  const refusals = errors.filter(
    ({ keyword }) => keyword === 'additionalProperties' || keyword === 'unevaluatedProperties',
  )
  const namesAt = nameFinder(root)
  for (const [place, here] of grouped(refusals, ({ instancePath }) => instancePath)) {
    // Each of several branches refuses the names of the others: only a name that all of them refuse is extra.
    const schemas = new Set(here.map(({ schemaPath }) => schemaPath)).size
    for (const [name, refused] of grouped(here, refusedName))
      if (refused.length >= schemas && !namesAt(place).has(name)) extras.set(pointerTo(place, name), ABSENT)
  }
  return extras
}

function refusedName({ params }: ErrorObject): string {
  return params.additionalProperty ?? params.unevaluatedProperty
}

/** The names declared for a place in any branch, including those that fail for another reason. */
function nameFinder(root: JsonSchema): (pointer: string) => ReadonlySet<string> {
  const known = new Map<string, ReadonlySet<string>>()
  return pointer => {
    // Entries of a list share their schemas: 40,000 of them are looked up as one.
    const place = pointer.replace(/\/\d+(?=\/|$)/g, '/0')
    const before = known.get(place)
    if (before) return before
    const schemas = pointerParts(place).reduce(
      (here, name) => schemasOfPart(here, name, root),
      withBranches([root], root),
    )
    const names = declaredNames(schemas)
    known.set(place, names)
    return names
  }
}
