import type { ErrorObject } from 'ajv'
import { isObjectLike } from '../util/guards.ts'
import { shortText } from '../util/text.ts'
import { type JsonSchema, resolveRef } from './json-schema.ts'
import { listed, plainText, typeText } from './signature.ts'

const MAX_PROBLEMS = 20
/** Errors that are looked at; one problem may cause several. */
const MAX_ERRORS = 200
const MAX_VALUE_CHARS = 100
const MAX_PROBLEM_CHARS = 2_000

/** What is wrong with the arguments, one short phrase per problem: `missing 'a'`, `'n' must be integer, got string`. */
export function explainErrors(errors: readonly ErrorObject[], root: JsonSchema = {}): string[] {
  const sorted = [...errors.filter(error => !isExtra(error)), ...errors.filter(isExtra)]
  const meant = withoutBranches(sorted.slice(0, MAX_ERRORS), root)
  // Extra arguments get dropped anyway: they are never the problem if there is any other.
  const serious = meant.filter(error => !isExtra(error))
  // Names, choices and patterns come from the schema and may be of any length.
  const phrases = (serious.length > 0 ? serious : meant).map(phraseFor)
  const problems = [...new Set(phrases.map(phrase => shortText(phrase, MAX_PROBLEM_CHARS)))]
  const left = problems.splice(MAX_PROBLEMS).length + Math.max(0, errors.length - MAX_ERRORS)
  return left > 0 ? [...problems, `and ${left} more`] : problems
}

function isExtra({ keyword }: ErrorObject): boolean {
  return keyword === 'additionalProperties' || keyword === 'unevaluatedProperties'
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
      return `${subject} must be ${typesOf(error).join(' or ')}, got ${kindOf(error.data)}${numberHint(error)}`
    case 'enum':
      return `${subject} must be one of: ${listed(params.allowedValues, plainText)}`
    case 'const':
      return `${subject} must be ${plainText(params.allowedValue)}`
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
  const isMeant = (name: string) => name !== missingProperty && foldedName(name) === wanted
  const given = isObjectLike(data) && Object.keys(data).find(isMeant)
  return given ? ` (got '${shortText(given, MAX_VALUE_CHARS)}')` : ''
}

/** A name without case, `_` and `-`: the same for `player_id`, `playerID` and `player-id`. */
export function foldedName(name: string): string {
  return name.replace(/[_-]/g, '').toLowerCase()
}

/** If `anyOf` or `oneOf` fails, Ajv reports every branch: instead, this says which alternatives there are. */
function withoutBranches(errors: readonly ErrorObject[], root: JsonSchema): ErrorObject[] {
  let left = errors.filter(({ keyword }) => keyword !== 'if')
  for (const alternative of left.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')) {
    const { instancePath: place, schema: branches } = alternative
    if (!left.includes(alternative) || !Array.isArray(branches)) continue
    const parts = partsOf(branches, root)
    const isInside = ({ instancePath, parentSchema }: ErrorObject) =>
      parts.has(parentSchema) && `${instancePath}/`.startsWith(`${place}/`)
    const inside = left.filter(isInside)
    if (inside.length === 0) continue
    left = left.filter(error => !inside.includes(error))
    const isType = inside.every(({ keyword, instancePath }) => keyword === 'type' && instancePath === place)
    left[left.indexOf(alternative)] = isType
      ? { ...alternative, keyword: 'type', params: { type: inside.flatMap(typesOf) } }
      : { ...alternative, message: `must be one of: ${typeText({ anyOf: branches }, root)}` }
  }
  return left
}

const MAX_PARTS = 2_000

/** All objects within some schemas. The path of an error does not tell, because it starts over inside a `$ref`. */
function partsOf(schemas: readonly unknown[], root: JsonSchema): Set<unknown> {
  const parts = new Set(schemas.flatMap(schema => [schema, resolveRef(schema, root)]).filter(isObjectLike))
  // Parts added during the loop are visited too.
  for (const part of parts)
    for (const inner of Object.values(part))
      if (isObjectLike(inner) && parts.size < MAX_PARTS) parts.add(inner)
  return parts
}
