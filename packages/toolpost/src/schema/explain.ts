import type { ErrorObject } from 'ajv'
import { grouped, isObjectLike } from '../util/guards.ts'
import { shortText } from '../util/text.ts'
import { type JsonSchema, resolveRef } from './json-schema.ts'

const MAX_PROBLEMS = 20
/** Errors that are looked at; one problem may cause several. */
const MAX_ERRORS = 200
const MAX_CHOICES = 60
const MAX_VALUE_CHARS = 100
const MAX_PROBLEM_CHARS = 2_000

/**
 * What is wrong with the arguments, one short phrase per problem: `missing 'a'`, `'n' must be integer, got string`.
 * `root` must be the compiled schema itself, not a copy.
 */
export function explainErrors(errors: readonly ErrorObject[], root: JsonSchema = {}): string[] {
  const sorted = [...errors.filter(error => !isExtra(error)), ...errors.filter(isExtra)]
  const meant = meantErrors(sorted.slice(0, MAX_ERRORS), root)
  // Extra arguments get dropped anyway: they are never the problem if there is any other.
  const serious = meant.filter(error => !isExtra(error))
  const problems = [...new Set((serious.length > 0 ? serious : meant).map(explain))]
  const left = problems.splice(MAX_PROBLEMS).length + Math.max(0, errors.length - MAX_ERRORS)
  return left > 0 ? [...problems, `and ${left} more`] : problems
}

function isExtra({ keyword }: ErrorObject): boolean {
  return keyword === 'additionalProperties' || keyword === 'unevaluatedProperties'
}

function explain(error: ErrorObject): string {
  // Names, choices and patterns come from the schema and may be of any length.
  return shortText(phraseFor(error), MAX_PROBLEM_CHARS)
}

function phraseFor(error: ErrorObject): string {
  const { keyword, params, propertyName, instancePath } = error
  const place = pointerParts(instancePath).reduce(joinPlace, '')
  const inside = (name: string) => `'${joinPlace(place, name)}'`
  const whole = place === '' ? 'arguments' : `'${place}'`
  const subject = propertyName === undefined ? whole : `name ${inside(propertyName)}`
  switch (keyword) {
    case 'required':
      return `missing ${inside(params.missingProperty)}${nameHint(error)}`
    case 'dependentRequired':
    case 'dependencies':
      return `missing ${inside(params.missingProperty)} (needed with '${params.property}')`
    case 'type':
      return `${subject} must be ${typesOf(error).slice(0, MAX_CHOICES).join(' or ')}, got ${kindOf(error.data)}${numberHint(error)}`
    case 'enum':
      return `${subject} must be one of: ${choices(params.allowedValues)}`
    case 'const':
      return `${subject} must be ${plain(params.allowedValue)}`
    case 'additionalProperties':
      return `unknown ${inside(params.additionalProperty)}`
    case 'unevaluatedProperties':
      return `unknown ${inside(params.unevaluatedProperty)}`
    case 'propertyNames':
      return `invalid name ${inside(params.propertyName)}`
    default:
      return `${subject} ${error.message ?? `fails '${keyword}'`}`
  }
}

function typesOf({ params: { type } }: ErrorObject): string[] {
  return [...new Set<string>(Array.isArray(type) ? type : type.split(','))]
}

function choices(values: readonly unknown[]): string {
  const shown = values.slice(0, MAX_CHOICES).map(plain)
  if (values.length > MAX_CHOICES) shown.push(`… ${values.length - MAX_CHOICES} more`)
  return shown.join(', ')
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

/** The keys of a JSON pointer. */
export function pointerParts(pointer: string): string[] {
  const parts = pointer.split('/').slice(1)
  return parts.map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Appends a key or an index to a place: `items`, `0` → `items[0]`. */
export function joinPlace(place: string, name: string): string {
  if (place === '') return name
  return /^\d+$/.test(name) ? `${place}[${name}]` : `${place}.${name}`
}

/** Whether a text may be a decimal number, or thousands with a separator: `15.500`. */
export function hasTwoReadings(text: string): boolean {
  return /^[+-]?[1-9]\d{0,2}\.\d{3}$/.test(text.trim())
}

function numberHint(error: ErrorObject): string {
  const { data } = error
  const wantsNumber = typesOf(error).some(type => type === 'number' || type === 'integer')
  if (!wantsNumber || typeof data !== 'string' || !hasTwoReadings(data)) return ''
  return ` (it could mean ${Number(data)} or ${Number(data.replace('.', ''))}; write the number without quotes)`
}

/** Mentions an argument that has the missing one's name in another spelling. */
function nameHint({ params: { missingProperty }, data }: ErrorObject): string {
  const wanted = foldedName(missingProperty)
  const given = isObjectLike(data) && Object.keys(data).find(name => foldedName(name) === wanted)
  return given ? ` (got '${shortText(given, MAX_VALUE_CHARS)}')` : ''
}

/** A name without case, `_` and `-`: the same for `player_id`, `playerID` and `player-id`. */
export function foldedName(name: string): string {
  return name.replace(/[_-]/g, '').toLowerCase()
}

/**
 * If `anyOf` or `oneOf` fails, Ajv reports every branch. This keeps only the errors of the branch that was meant, or
 * the list of types that would fit.
 */
function meantErrors(errors: readonly ErrorObject[], root: JsonSchema): ErrorObject[] {
  const branchOf = branchFinder(root)
  let left = errors.filter(({ keyword }) => keyword !== 'if')
  const alternatives = left.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')
  for (const alternative of alternatives.sort((a, b) => depthOf(b) - depthOf(a))) {
    const branches = grouped(left, error => branchOf(error, alternative))
    branches.delete(undefined)
    if (branches.size === 0) continue
    const inside = new Set([...branches.values()].flat())
    left = left.filter(error => error !== alternative && !inside.has(error))
    left.push(...summary(alternative, [...branches.values()]))
  }
  return left
}

/** Sorts nested alternatives first. */
function depthOf({ instancePath, schemaPath }: ErrorObject): number {
  return instancePath.split('/').length * 10_000 + schemaPath.length
}

const MAX_PARTS = 2_000

/**
 * Finds the branch an error comes from. The schema path cannot tell, because it starts over inside a `$ref`, so the
 * reporting schema is looked up among the subschemas of each branch.
 */
function branchFinder(root: JsonSchema): (error: ErrorObject, alternative: ErrorObject) => unknown {
  const known = new Map<unknown, Set<unknown>>()
  const has = (branch: unknown, reporter: unknown) => {
    const parts = known.get(branch) ?? partsOf(branch, root)
    known.set(branch, parts)
    return parts.has(reporter)
  }
  return (error, alternative) => {
    const { instancePath: path, parentSchema: reporter } = error
    const { instancePath: place, schema: branches } = alternative
    const isWithin = path === place || path.startsWith(`${place}/`)
    if (error === alternative || !isWithin || !Array.isArray(branches)) return undefined
    return branches.find(branch => has(branch, reporter))
  }
}

function partsOf(branch: unknown, root: JsonSchema): Set<unknown> {
  const parts = new Set([branch, resolveRef(branch, root)].filter(isObjectLike))
  // Parts added during the loop are visited too.
  for (const part of parts)
    for (const one of Object.values(part)) if (isObjectLike(one) && parts.size < MAX_PARTS) parts.add(one)
  return parts
}

function summary(alternative: ErrorObject, branches: ErrorObject[][]): ErrorObject[] {
  const isHere = ({ instancePath }: ErrorObject) => instancePath === alternative.instancePath
  // A branch with a different type or constant was not meant.
  const rulesOut = (error: ErrorObject) =>
    error.keyword === 'const' || (error.keyword === 'type' && isHere(error))
  const meant = branches.filter(branch => !branch.some(rulesOut))
  const [best] = meant.sort((a, b) => a.length - b.length)
  if (best) return best
  const inside = branches.flat()
  if (inside.every(error => error.keyword === 'type' && isHere(error)))
    return [{ ...alternative, keyword: 'type', params: { type: [...new Set(inside.flatMap(typesOf))] } }]
  // Branches that differ by a constant are an enum: `'kind' must be one of: circle, box`.
  const [first, ...others] = inside.filter(({ keyword }) => keyword === 'const')
  if (first && others.length > 0 && others.every(({ instancePath }) => instancePath === first.instancePath)) {
    const allowedValues = [first, ...others].map(({ params }) => params.allowedValue)
    return [{ ...first, keyword: 'enum', params: { allowedValues } }]
  }
  return [{ ...alternative, message: 'must match one of the allowed forms' }]
}
