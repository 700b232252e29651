import type { ErrorObject } from 'ajv'
import { explainErrors, kindOf, pointerParts } from '../schema/explain.ts'
import { declaredNames, schemasOfPart } from '../schema/json-schema.ts'
import { isObjectLike, isRecord } from '../util/guards.ts'
import type { Plan } from './fit.ts'
import { parseJsonText, parseNearlyJson } from './json-text.ts'
import { ABSENT, type Arguments, type Change, changed, repairsFor } from './repair.ts'

const MAX_ARGUMENT_MB = 10
const MAX_ARGUMENT_LEVELS = 64
const MAX_ARGUMENT_VALUES = 50_000
const TOO_MANY = `arguments have more than ${MAX_ARGUMENT_VALUES} values`
/** Every error about a value contains its path, so a long name would be repeated over and over. */
const MAX_NAME_CHARS = 2_000
/** How many characters of text take as long to check as one value. */
const CHARS_PER_VALUE = 10
/** Each round of changes may uncover another problem, such as text inside text inside text. */
const MAX_ROUNDS = 20

/** How many values the arguments have, a long text counting as several; or why they are refused before any schema. */
export function measureArguments(args: unknown): number | string {
  if (!isRecord(args)) return `arguments must be object, got ${kindOf(args)}`
  const size = { values: 1, chars: 0 }
  return problemOf(args, size, 1) ?? size.values + Math.floor(size.chars / CHARS_PER_VALUE)
}

function problemOf(
  value: object,
  size: { values: number; chars: number },
  level: number,
): string | undefined {
  if (level > MAX_ARGUMENT_LEVELS) return `arguments are nested more than ${MAX_ARGUMENT_LEVELS} levels deep`
  // A list may be longer than what it holds.
  if (Array.isArray(value) && value.length > MAX_ARGUMENT_VALUES) return TOO_MANY
  for (const name in value) {
    if (name === '__proto__') return "'__proto__' is not an argument name"
    if (name.length > MAX_NAME_CHARS) return `an argument name is longer than ${MAX_NAME_CHARS} characters`
    const inner = (value as Arguments)[name]
    size.values++
    if (typeof inner === 'string') size.chars += inner.length
    if (size.values > MAX_ARGUMENT_VALUES) return TOO_MANY
    if (size.chars > MAX_ARGUMENT_MB * 1_000_000) return `arguments are larger than ${MAX_ARGUMENT_MB} MB`
    if (!isObjectLike(inner)) continue
    const problem = problemOf(inner, size, level + 1)
    if (problem) return problem
  }
  return undefined
}

/** Arguments that fit: without names that a closed schema does not know, repaired if asked for; or what is wrong. */
export function validateArguments(plan: Plan, given: Arguments, repair: boolean) {
  const { validate } = plan.compiled
  let args = given
  let repairs: string[] | undefined
  for (let round = 0; !validate(args); round++) {
    const errors = validate.errors ?? []
    const extras = extraArguments(errors, plan)
    const changes = extras.length === 0 && repair ? repairsFor(args, errors, plan.schema) : extras
    const next = changed(args, changes)
    if (changes.length === 0 || round === MAX_ROUNDS || typeof measureArguments(next) === 'string')
      return { args: given, repairs: undefined, problems: explainErrors(errors, plan.schema) }
    args = next
    repairs ??= []
    for (const { pointer, what } of changes)
      if (what) repairs.push(`${pointerParts(pointer).join('.')}: ${what}`)
  }
  return { args, repairs, problems: undefined }
}

/** Parses arguments given as text, as some models send them. */
export function argumentsFromText(text: string): Arguments | undefined {
  let value: unknown = text.trim() === '' ? {} : (parseJsonText(text) ?? parseNearlyJson(text))
  if (typeof value === 'string') value = parseJsonText(value)
  return typeof measureArguments(value) === 'number' ? (value as Arguments) : undefined
}

/** The arguments that a closed schema refuses and none of its branches knows, even those that fail for another reason. */
function extraArguments(errors: readonly ErrorObject[], { top, schema }: Plan): Change[] {
  const known = new Map<string, ReadonlySet<string>>()
  const namesAt = (place: string) =>
    declaredNames(pointerParts(place).reduce((here, name) => schemasOfPart(here, name, schema), top))
  return errors.flatMap(({ params, instancePath }) => {
    const name: string | undefined = params.additionalProperty ?? params.unevaluatedProperty
    if (name === undefined) return []
    // Entries of a list share their schemas: 40,000 of them are looked up as one.
    const place = instancePath.replace(/\/\d+(?=\/|$)/g, '/0')
    const names = known.get(place) ?? namesAt(place)
    known.set(place, names)
    const pointer = `${instancePath}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    return names.has(name) ? [] : [{ pointer, value: ABSENT }]
  })
}
