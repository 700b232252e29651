import type { ErrorObject } from 'ajv'
import { shortText } from '../runtime/short-text.ts'
import type { JsonSchema } from './json-schema.ts'
import { listHint } from './list-hint.ts'
import { withoutBranches } from './meant-branches.ts'
import { firstOf } from './signature.ts'

const MAX_PROBLEMS = 10
const MAX_CHOICES = 60
const MAX_VALUE_CHARS = 100
const MAX_PROBLEM_CHARS = 2_000

/**
 * What is wrong with the arguments, one short phrase per problem: `missing 'a'`, `'n' must be integer, got string`.
 * `root` must be the compiled schema itself, not a copy.
 */
export function explainErrors(errors: readonly ErrorObject[], root: JsonSchema = {}): string[] {
  const meant = withoutBranches(firstOnes(errors), root)
  const problems = [...new Set(serious(meant).map(shortExplanation))]
  if (problems.length <= MAX_PROBLEMS) return problems
  return [...problems.slice(0, MAX_PROBLEMS), `and ${problems.length - MAX_PROBLEMS} more`]
}

const MAX_EXPLAINED = 200
const EXTRA_KEYWORDS = new Set(['additionalProperties', 'unevaluatedProperties'])

/** The errors worth explaining; those about extra arguments come last. */
function firstOnes(errors: readonly ErrorObject[]): ErrorObject[] {
  return [...errors.filter(error => !isExtra(error)), ...errors.filter(isExtra)].slice(0, MAX_EXPLAINED)
}

/** Extra arguments get dropped anyway: they are never the problem if there is any other. */
function serious(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const others = errors.filter(error => !isExtra(error))
  return others.length > 0 ? others : errors
}

function isExtra({ keyword }: ErrorObject): boolean {
  return EXTRA_KEYWORDS.has(keyword)
}

/** Names, choices and patterns come from the schema and may be of any length. */
function shortExplanation(error: ErrorObject): string {
  return shortText(explain(error), MAX_PROBLEM_CHARS)
}

function explain(error: ErrorObject): string {
  const place = placeOf(error.instancePath)
  const subject = subjectOf(error, place)
  switch (error.keyword) {
    case 'required':
      return `missing '${joinPlace(place, error.params.missingProperty)}'`
    case 'dependentRequired':
    case 'dependencies':
      return `missing '${joinPlace(place, error.params.missingProperty)}' (needed with '${error.params.property}')`
    case 'type':
      return `${subject} must be ${wanted(error.params.type)}, got ${kindOf(error.data)}${listHint(error)}`
    case 'enum':
      return `${subject} must be one of: ${choices(error.params.allowedValues)}`
    case 'const':
      return `${subject} must be ${plain(error.params.allowedValue)}`
    case 'additionalProperties':
      return `unknown '${joinPlace(place, error.params.additionalProperty)}'`
    case 'unevaluatedProperties':
      return `unknown '${joinPlace(place, error.params.unevaluatedProperty)}'`
    case 'propertyNames':
      return `invalid name '${joinPlace(place, error.params.propertyName)}'`
    default:
      return `${subject} ${error.message ?? `fails '${error.keyword}'`}`
  }
}

function subjectOf({ propertyName }: ErrorObject, place: string): string {
  if (propertyName !== undefined) return `name '${joinPlace(place, propertyName)}'`
  return place === '' ? 'arguments' : `'${place}'`
}

function wanted(type: string | string[]): string {
  const types = Array.isArray(type) ? type : type.split(',')
  return [...new Set(types)].slice(0, MAX_CHOICES).join(' or ')
}

function choices(values: readonly unknown[]): string {
  return firstOf(values.slice(0, MAX_CHOICES).map(plain), MAX_CHOICES, values.length).join(', ')
}

function plain(value: unknown): string {
  return shortText(typeof value === 'string' ? value : JSON.stringify(value), MAX_VALUE_CHARS)
}

export function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  return typeof value
}

/** `/items/0/name` → `items[0].name` */
function placeOf(pointer: string): string {
  return pointerParts(pointer).reduce(joinPlace, '')
}

export function pointerParts(pointer: string): string[] {
  if (pointer === '') return []
  return pointer
    .slice(1)
    .split('/')
    .map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Appends a key or an index to a place. */
export function joinPlace(place: string, name: string): string {
  if (place === '') return name
  return /^\d+$/.test(name) ? `${place}[${name}]` : `${place}.${name}`
}
