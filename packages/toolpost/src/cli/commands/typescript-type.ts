import { isObjectLike, isRecord, ownValue } from '../../runtime/guards.ts'
import { type JsonSchema, propertiesOf, requiredOf, resolveRef } from '../../schema/json-schema.ts'

const MAX_NESTING = 12
/** How many types one schema may spell out; otherwise nested alternatives would multiply. */
const MAX_TYPES = 2_000

const PRIMITIVES: Record<string, string> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
}

interface Reading {
  readonly root: unknown
  typesLeft: number
}

/** A schema as a TypeScript type. Parts that cannot be expressed, or exceed the limits, become `unknown`; never throws. */
export function typescriptType(schema: JsonSchema): string {
  try {
    return typeOf(schema, { root: schema, typesLeft: MAX_TYPES }, 0)
  } catch {
    return 'unknown'
  }
}

function typeOf(given: unknown, reading: Reading, nesting: number): string {
  if (reading.typesLeft-- <= 0 || nesting > MAX_NESTING) return 'unknown'
  const schema = resolveRef(given, reading.root as JsonSchema)
  if (schema === false) return 'never'
  if (!isObjectLike(schema)) return 'unknown'
  const { enum: choices, const: constant, type, anyOf, oneOf, allOf } = schema as JsonSchema
  if (constant !== undefined) return literal(constant)
  if (Array.isArray(choices)) return joined(choices.map(literal), ' | ')
  const inner = (each: unknown) => typeOf(each, reading, nesting + 1)
  const branches = Array.isArray(anyOf) ? anyOf : oneOf
  if (Array.isArray(branches))
    return intersection(schema as JsonSchema, joined(branches.map(inner), ' | '), reading, nesting)
  if (Array.isArray(allOf))
    return intersection(schema as JsonSchema, joined(allOf.map(inner), ' & '), reading, nesting)
  if (Array.isArray(type))
    return joined(
      type.map(one => typeOf({ ...schema, type: one }, reading, nesting)),
      ' | ',
    )
  return plainType(schema as JsonSchema, reading, nesting)
}

function plainType(schema: JsonSchema, reading: Reading, nesting: number): string {
  const { type } = schema
  if (type === 'array') return listType(schema, reading, nesting)
  if (type === 'object' || isRecord(schema.properties)) return objectType(schema, reading, nesting)
  return (typeof type === 'string' && ownValue(PRIMITIVES, type)) || 'unknown'
}

/** Alternatives next to properties narrow them. */
function intersection(schema: JsonSchema, branches: string, reading: Reading, nesting: number): string {
  if (!isRecord(schema.properties)) return branches
  const own = objectType(schema, reading, nesting)
  return branches === 'unknown' ? own : `${own} & (${branches})`
}

function listType({ items, prefixItems }: JsonSchema, reading: Reading, nesting: number): string {
  if (Array.isArray(prefixItems)) {
    const first = prefixItems.map(item => `(${typeOf(item, reading, nesting + 1)})?`)
    return `[${[...first, ...(items === false ? [] : ['...unknown[]'])].join(', ')}]`
  }
  return items === undefined ? 'unknown[]' : `(${typeOf(items, reading, nesting + 1)})[]`
}

function objectType(schema: JsonSchema, reading: Reading, nesting: number): string {
  const properties = propertiesOf(schema)
  const required = new Set(requiredOf(schema))
  const missing = [...required].filter(name => !Object.hasOwn(properties, name))
  const lines = [
    ...Object.keys(properties).map(name => {
      const optional = required.has(name) ? '' : '?'
      return `${docOf(properties[name])}${JSON.stringify(name)}${optional}: ${typeOf(properties[name], reading, nesting + 1)}`
    }),
    ...missing.map(name => `${JSON.stringify(name)}: unknown`),
  ]
  const { additionalProperties: others } = schema
  if (lines.length === 0) {
    if (others === false) return 'Record<string, never>'
    return `Record<string, ${isObjectLike(others) ? typeOf(others, reading, nesting + 1) : 'unknown'}>`
  }
  return `{ ${lines.join('; ')} }`
}

/** A description as a comment that its own text cannot close. */
export function docOf(described: unknown): string {
  const text = isRecord(described) && typeof described.description === 'string' ? described.description : ''
  const line = text.replace(/\s+/g, ' ').trim().slice(0, 1_000)
  return line === '' ? '' : `/** ${line.replaceAll('*/', '*\\/')} */ `
}

function joined(types: readonly string[], separator: ' | ' | ' & '): string {
  const distinct = [...new Set(types)]
  if (distinct.length === 0) return separator === ' | ' ? 'never' : 'unknown'
  return distinct.length === 1 ? (distinct[0] as string) : distinct.map(type => `(${type})`).join(separator)
}

function literal(value: unknown): string {
  if (isObjectLike(value)) return 'unknown'
  return JSON.stringify(value) ?? 'unknown'
}
