import { isRecord, ownValue } from '../util/guards.ts'
import { shortText } from '../util/text.ts'
import { type JsonSchema, jsonSchemaOf, propertiesOf, requiredOf, resolveRef } from './json-schema.ts'

const MAX_NESTING = 3
const MAX_CHOICES = 8
const MAX_PARAMETERS = 60
const MAX_LITERAL_CHARS = 100
/** How many types one signature may spell out; otherwise nested alternatives would multiply. */
const MAX_TYPES = 300

/**
 * How to call a tool, as a person would write it: `turn(action: "on" | "off", level?: integer)`. Parts that are too long
 * or cannot be read become `…`; never throws.
 */
export function signatureOf(tool: { readonly name: string; readonly schema: object }): string {
  try {
    const schema = topOf(jsonSchemaOf(tool))
    const parameters = typeWriter(schema).propertyTypes(schema, 0)
    return `${tool.name}(${parameters === '' && schema.additionalProperties !== false ? '…' : parameters})`
  } catch {
    return `${tool.name}(…)`
  }
}

/** A tool's required arguments, as error messages list them: `a (string), x (one of on, off)`. */
export function requiredArguments(given: JsonSchema): string {
  const schema = topOf(given)
  const properties = propertiesOf(schema)
  const { typeOf } = typeWriter(schema)
  return listed(requiredOf(schema), name => {
    const property = resolveRef(ownValue(properties, name), schema)
    const choices = isRecord(property) && Array.isArray(property.enum) ? property.enum : undefined
    const kind = choices ? `one of ${listed(choices, plainText)}` : typeOf(property, MAX_NESTING)
    return `${plainText(name)} (${kind})`
  })
}

/** A type in TypeScript's notation: `string | { room: string }`. */
export function typeText(schema: JsonSchema, root: JsonSchema): string {
  return typeWriter(root).typeOf(schema, 0)
}

/** The schema itself, or its target if the entire schema is a reference into its own definitions. */
function topOf(schema: JsonSchema): JsonSchema {
  const top = resolveRef(schema, schema)
  return top === schema ? schema : { ...schema, ...(top as JsonSchema) }
}

/** Writes types in TypeScript's notation, except that `integer` is kept distinct from `number`. */
function typeWriter(root: JsonSchema) {
  let typesLeft = MAX_TYPES

  const typeOf = (given: unknown, nesting: number): string => {
    if (typesLeft-- <= 0 || nesting > 2 * MAX_NESTING) return '…'
    const schema = resolveRef(given, root)
    if (!isRecord(schema)) return 'any'
    const { enum: choices, const: constant, type, anyOf, oneOf = anyOf } = schema
    if (constant !== undefined) return literal(constant)
    if (Array.isArray(choices)) return union(choices, literal)
    if (Array.isArray(oneOf)) return union(oneOf, branch => typeOf(branch, nesting + 1))
    if (Array.isArray(type)) return union(type, one => typeOf({ ...schema, type: one }, nesting))
    if (type === 'array') {
      const item = typeOf(schema.items, nesting + 1)
      return item.includes(' | ') ? `(${item})[]` : `${item}[]`
    }
    if (type === 'object') {
      const properties = nesting >= MAX_NESTING ? '' : propertyTypes(schema, nesting + 1)
      return properties === '' ? 'object' : `{ ${properties} }`
    }
    return typeof type === 'string' ? plainText(type) : 'any'
  }

  const propertyTypes = (schema: JsonSchema, nesting: number): string => {
    const properties = propertiesOf(schema)
    const required = new Set(requiredOf(schema))
    return listed(Object.keys(properties), name => {
      const shown = shortText(/^[\w$]+$/.test(name) ? name : JSON.stringify(name), MAX_LITERAL_CHARS)
      return `${shown}${required.has(name) ? '' : '?'}: ${typeOf(properties[name], nesting)}`
    })
  }

  return { typeOf, propertyTypes }
}

function union(parts: readonly unknown[], textOf: (part: unknown) => string): string {
  const distinct = new Set<string>()
  for (const part of parts) if (distinct.size <= MAX_CHOICES) distinct.add(textOf(part))
  const shown = [...distinct].slice(0, MAX_CHOICES)
  if (distinct.size > MAX_CHOICES) shown.push('…')
  return shown.join(' | ') || 'any'
}

/** As many as fit, and how many more there are. */
export function listed<T>(parts: readonly T[], textOf: (part: T) => string): string {
  const texts = parts.slice(0, MAX_PARAMETERS).map(textOf)
  if (parts.length > MAX_PARAMETERS) texts.push(`… ${parts.length - MAX_PARAMETERS} more`)
  return texts.join(', ')
}

function literal(value: unknown): string {
  return shortText(JSON.stringify(value) ?? 'any', MAX_LITERAL_CHARS)
}

export function plainText(value: unknown): string {
  return typeof value === 'string' ? shortText(value, MAX_LITERAL_CHARS) : literal(value)
}
