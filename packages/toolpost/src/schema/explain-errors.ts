import type { ErrorObject } from 'ajv'
import { grouped } from '../runtime/grouped.ts'
import { shortText } from '../runtime/short-text.ts'
import { firstOf } from './signature.ts'

const MAX_PROBLEMS = 10
const MAX_CHOICES = 60
const MAX_VALUE_CHARS = 100
const MAX_PROBLEM_CHARS = 2_000

/** What is wrong with the arguments, one short phrase a problem: `missing 'a'`, `'n' must be integer, got string`. */
export function explainErrors(errors: readonly ErrorObject[]): string[] {
  const problems = [...new Set(withoutBranches(serious(errors)).map(shortExplanation))]
  if (problems.length <= MAX_PROBLEMS) return problems
  return [...problems.slice(0, MAX_PROBLEMS), `and ${problems.length - MAX_PROBLEMS} more`]
}

const MAX_EXPLAINED = 200
const EXTRA_KEYWORDS = new Set(['additionalProperties', 'unevaluatedProperties'])

/** Extra arguments are left out and are never what is wrong if anything else is. */
function serious(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const others = errors.filter(error => !EXTRA_KEYWORDS.has(error.keyword))
  return (others.length > 0 ? others : errors).slice(0, MAX_EXPLAINED)
}

/** Names, choices and patterns are the schema's, and may be of any length. */
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

const MAX_HINT_CHARS = 200

/** A text with separators is probably a list, but where it is to be split is not ours to say. */
function listHint({ params, data }: ErrorObject): string {
  if (params.type !== 'array' || typeof data !== 'string' || data.length > MAX_HINT_CHARS) return ''
  const parts = data.split(/[,;|\n]/).map(part => part.trim())
  return parts.length > 1 ? ` (if it is a list, write ${JSON.stringify(parts)})` : ''
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

/** The place of a key or an index in what stands at a place. */
export function joinPlace(place: string, name: string): string {
  if (place === '') return name
  return /^\d+$/.test(name) ? `${place}[${name}]` : `${place}.${name}`
}

/**
 * If alternatives (`anyOf`, `oneOf`) fail, Ajv reports every branch. One statement is left of each:
 * the problems of the branch that was meant, or the list of types that would do.
 */
function withoutBranches(errors: readonly ErrorObject[]): ErrorObject[] {
  let left = errors.filter(error => error.keyword !== 'if')
  const alternatives = left
    .filter(error => error.keyword === 'anyOf' || error.keyword === 'oneOf')
    .sort((a, b) => b.schemaPath.length - a.schemaPath.length)
  for (const alternative of alternatives) {
    const inside = left.filter(error => isBranchOf(alternative, error))
    if (inside.length === 0) continue
    left = left.filter(error => error !== alternative && !inside.includes(error))
    left.push(...summary(alternative, inside))
  }
  return left
}

function isBranchOf(alternative: ErrorObject, error: ErrorObject): boolean {
  if (error === alternative || !isWithin(error.instancePath, alternative.instancePath)) return false
  return error.schemaPath.startsWith(`${alternative.schemaPath}/`) || followsRef(alternative, error)
}

function isWithin(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`)
}

/** Inside a `$ref` the schema path starts anew, so a branch is known by what it looks at: the same value. */
function followsRef(alternative: ErrorObject, error: ErrorObject): boolean {
  const branches = Array.isArray(alternative.schema) ? alternative.schema : []
  if (!branches.some(branch => typeof branch?.$ref === 'string')) return false
  return branches.some(
    branch => typeof branch?.$ref === 'string' && error.schemaPath.startsWith(`${branch.$ref}/`),
  )
}

function summary(alternative: ErrorObject, inside: ErrorObject[]): ErrorObject[] {
  const branches = groupByBranch(inside)
  const meant = branches.filter(branch => !branch.some(error => rulesOut(alternative, error)))
  const best = meant.sort((a, b) => a.length - b.length)[0]
  if (best) return best
  const types = [
    ...new Set(inside.filter(error => error.keyword === 'type').map(error => wanted(error.params.type))),
  ]
  const ownType = inside.filter(
    error => error.keyword === 'type' && error.instancePath === alternative.instancePath,
  )
  if (ownType.length === inside.length) return [{ ...alternative, keyword: 'type', params: { type: types } }]
  return [{ ...alternative, message: 'must fit one of the allowed forms' }]
}

/** A branch of another type or with another fixed value is not the one that was meant. */
function rulesOut(alternative: ErrorObject, error: ErrorObject): boolean {
  if (error.keyword === 'const') return true
  return error.keyword === 'type' && error.instancePath === alternative.instancePath
}

const BRANCH = /^.*?\/(?:anyOf|oneOf)\/\d+|^#\/(?:\$defs|definitions)\/[^/]+/

function groupByBranch(errors: readonly ErrorObject[]): ErrorObject[][] {
  return [...grouped(errors, ({ schemaPath }) => BRANCH.exec(schemaPath)?.[0] ?? '').values()]
}
