import type { JsonSchema } from '../api/types.ts'

/*
 * What the form needs to know before it sends: the plain keywords of JSON Schema. The gateway validates every call
 * in full; Ajv cannot run here, because it makes functions out of text, which the page's policy forbids. What is
 * not known here passes: patterns above all, since one from a tool could hang the page.
 */

export interface Problem {
  path: (string | number)[]
  message: string
}

const MAX_DEPTH = 40

export function validate(value: unknown, schema: unknown, root: JsonSchema): Problem[] {
  return check(value, schema, { root, path: [], depth: 0 })
}

interface Place {
  root: JsonSchema
  path: (string | number)[]
  depth: number
}

function check(value: unknown, given: unknown, place: Place): Problem[] {
  if (given === false) return [problem(place, 'must not be given')]
  // An item that was added to a list and not yet filled in.
  if (value === undefined) return [problem(place, 'is required')]
  if (!isSchema(given) || place.depth > MAX_DEPTH) return []
  const inner = { ...place, depth: place.depth + 1 }
  const referred = typeof given.$ref === 'string' ? check(value, resolved(given.$ref, place.root), inner) : []
  const mismatch = typeProblem(value, given, place) ?? choiceProblem(value, given, place)
  if (mismatch) return [...referred, mismatch]
  return [...referred, ...valueProblems(value, given, inner), ...combinationProblems(value, given, inner)]
}

function typeProblem(value: unknown, { type }: JsonSchema, place: Place): Problem | undefined {
  const types = (Array.isArray(type) ? type : [type]).filter(one => typeof one === 'string')
  if (types.length === 0 || types.some(one => hasType(value, one))) return undefined
  return problem(place, `must be ${types.join(' or ')}`)
}

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value)
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isObject(value)
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type
    default:
      return true
  }
}

function choiceProblem(value: unknown, schema: JsonSchema, place: Place): Problem | undefined {
  if ('const' in schema && !same(value, schema.const))
    return problem(place, `must be ${JSON.stringify(schema.const)}`)
  const { enum: choices } = schema
  if (!Array.isArray(choices) || choices.some(choice => same(value, choice))) return undefined
  return problem(place, `must be one of: ${choices.map(plain).join(', ')}`)
}

function valueProblems(value: unknown, schema: JsonSchema, place: Place): Problem[] {
  if (typeof value === 'number') return numberProblems(value, schema, place)
  if (typeof value === 'string') return sizeProblems([...value].length, schema, { place, kind: 'Length' })
  if (Array.isArray(value)) return listProblems(value, schema, place)
  return isObject(value) ? objectProblems(value, schema, place) : []
}

function numberProblems(value: number, schema: JsonSchema, place: Place): Problem[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema
  const problems: Problem[] = []
  if (isNumber(minimum) && value < minimum) problems.push(problem(place, `must be at least ${minimum}`))
  if (isNumber(maximum) && value > maximum) problems.push(problem(place, `must be at most ${maximum}`))
  if (isNumber(exclusiveMinimum) && value <= exclusiveMinimum)
    problems.push(problem(place, `must be more than ${exclusiveMinimum}`))
  if (isNumber(exclusiveMaximum) && value >= exclusiveMaximum)
    problems.push(problem(place, `must be less than ${exclusiveMaximum}`))
  if (isNumber(multipleOf) && multipleOf > 0 && !isMultiple(value, multipleOf))
    problems.push(problem(place, `must be a multiple of ${multipleOf}`))
  return problems
}

function isMultiple(value: number, step: number): boolean {
  const times = value / step
  return Math.abs(times - Math.round(times)) < 1e-9 * Math.max(1, Math.abs(times))
}

const UNITS = { Length: 'character', Items: 'item', Properties: 'property' }

function sizeProblems(
  size: number,
  schema: JsonSchema,
  { place, kind }: { place: Place; kind: keyof typeof UNITS },
): Problem[] {
  const { [`min${kind}`]: least, [`max${kind}`]: most } = schema
  const units = (count: number) =>
    `${count} ${count === 1 ? UNITS[kind] : UNITS[kind].replace(/y$/, 'ie').concat('s')}`
  if (isNumber(least) && size < least) return [problem(place, `must have at least ${units(least)}`)]
  if (isNumber(most) && size > most) return [problem(place, `must have at most ${units(most)}`)]
  return []
}

function listProblems(list: unknown[], schema: JsonSchema, place: Place): Problem[] {
  const first = Array.isArray(schema.prefixItems) ? schema.prefixItems : []
  const tuple = Array.isArray(schema.items) ? schema.items : first
  const rest = Array.isArray(schema.items) ? schema.additionalItems : schema.items
  const problems = sizeProblems(list.length, schema, { place, kind: 'Items' })
  if (schema.uniqueItems === true && hasDuplicate(list))
    problems.push(problem(place, 'must not have an item twice'))
  list.forEach((item, at) => {
    problems.push(
      ...check(item, at < tuple.length ? tuple[at] : rest, { ...place, path: [...place.path, at] }),
    )
  })
  return problems
}

function hasDuplicate(list: unknown[]): boolean {
  return new Set(list.map(item => JSON.stringify(item))).size < list.length
}

function objectProblems(value: Record<string, unknown>, schema: JsonSchema, place: Place): Problem[] {
  const properties = isSchema(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required : []
  const problems = sizeProblems(Object.keys(value).length, schema, { place, kind: 'Properties' })
  for (const name of required)
    if (typeof name === 'string' && !isGiven(value, name))
      problems.push(problem(within(place, name), 'is required'))
  for (const [name, inner] of Object.entries(value)) {
    const known = Object.hasOwn(properties, name)
    // What is not in a closed schema is dropped by the gateway, not refused.
    const rule = known
      ? properties[name]
      : isSchema(schema.additionalProperties)
        ? schema.additionalProperties
        : true
    if (inner !== undefined && !(schema.patternProperties && !known))
      problems.push(...check(inner, rule, within(place, name)))
  }
  return problems
}

function combinationProblems(value: unknown, schema: JsonSchema, place: Place): Problem[] {
  const all = Array.isArray(schema.allOf) ? schema.allOf.flatMap(part => check(value, part, place)) : []
  const fits = (part: unknown) => check(value, part, place).length === 0
  if (Array.isArray(schema.anyOf) && !schema.anyOf.some(fits))
    all.push(problem(place, 'fits none of the choices'))
  if (Array.isArray(schema.oneOf)) all.push(...oneOfProblems(schema.oneOf.filter(fits).length, place))
  if (schema.not !== undefined && fits(schema.not)) all.push(problem(place, 'has a value that is ruled out'))
  if (schema.if !== undefined) all.push(...check(value, fits(schema.if) ? schema.then : schema.else, place))
  return all
}

function oneOfProblems(fitting: number, place: Place): Problem[] {
  if (fitting === 1) return []
  return [problem(place, fitting === 0 ? 'fits none of the choices' : 'fits more than one of the choices')]
}

/** `#/$defs/x` and `#` within the schema; anything else is left to the gateway. */
function resolved(reference: string, root: JsonSchema): unknown {
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return true
  let found: unknown = root
  for (const part of reference.slice(2).split('/')) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
    if (!(isObject(found) || Array.isArray(found)) || !Object.hasOwn(found, key)) return true
    found = (found as Record<string, unknown>)[key]
  }
  return found
}

function within(place: Place, name: string): Place {
  return { ...place, path: [...place.path, name] }
}

function problem({ path }: Place, message: string): Problem {
  return { path, message }
}

function same(a: unknown, b: unknown): boolean {
  return a === b || (typeof a === 'object' && JSON.stringify(a) === JSON.stringify(b))
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function isGiven(value: Record<string, unknown>, name: string): boolean {
  return Object.hasOwn(value, name) && value[name] !== undefined
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number'
}

function isSchema(value: unknown): value is JsonSchema {
  return isObject(value)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
