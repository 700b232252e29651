import { isObjectLike, ownValue } from '../runtime/guards.ts'
import { shortText } from '../runtime/short-text.ts'
import { type JsonSchema, jsonSchemaOf, propertiesOf, requiredOf, resolveRef } from './json-schema.ts'

const MAX_NESTING = 3
const MAX_CHOICES = 8
const MAX_PARAMETERS = 60
const MAX_LITERAL_CHARS = 100
/** How many types one signature may spell out; otherwise nested alternatives would multiply. */
const MAX_TYPES = 300

/** What a signature needs from a tool. */
interface Named {
  readonly name: string
  readonly schema: object
}

/** A schema being written as text. */
interface Reading {
  readonly root: JsonSchema
  typesLeft: number
}

/**
 * How to call a tool, as a person would write it: `turn(action: "on" | "off", level?: integer)`. Parts that are too long
 * or cannot be read become `…`; never throws.
 */
export function signatureOf(tool: Named): string {
  try {
    return `${tool.name}(${parametersText(topOf(jsonSchemaOf(tool)))})`
  } catch {
    return `${tool.name}(…)`
  }
}

function parametersText(schema: JsonSchema): string {
  const reading = { root: schema, typesLeft: MAX_TYPES }
  const parameters = propertiesText(schema, reading, 0)
  return parameters === '' && schema.additionalProperties !== false ? '…' : parameters
}

/** A tool's required arguments, as error messages list them: `a (string), x (one of on, off)`. */
export function requiredArguments(given: JsonSchema): string {
  const schema = topOf(given)
  const properties = propertiesOf(schema)
  const reading = { root: schema, typesLeft: MAX_TYPES }
  const texts = requiredOf(schema)
    .slice(0, MAX_PARAMETERS + 1)
    .map(name => `${plainText(name)} (${kindText(resolveRef(ownValue(properties, name), schema), reading)})`)
  return firstOf(texts, MAX_PARAMETERS, requiredOf(schema).length).join(', ')
}

/** The schema itself, or its target if the entire schema is a reference into its own definitions. */
function topOf(schema: JsonSchema): JsonSchema {
  const top = resolveRef(schema, schema)
  return top === schema ? schema : { ...schema, ...(top as JsonSchema) }
}

function kindText(property: unknown, reading: Reading): string {
  const choices = isObjectLike(property) ? (property as JsonSchema).enum : undefined
  if (Array.isArray(choices))
    return `one of ${firstOf(choices.slice(0, MAX_PARAMETERS + 1).map(plainText), MAX_PARAMETERS, choices.length).join(', ')}`
  return typeText(property, reading, MAX_NESTING)
}

/** A type in TypeScript notation, except that `integer` is kept distinct from `number`. */
function typeText(given: unknown, reading: Reading, nesting: number): string {
  if (reading.typesLeft-- <= 0 || nesting > 2 * MAX_NESTING) return '…'
  const schema = resolveRef(given, reading.root)
  if (!isObjectLike(schema)) return 'any'
  const { enum: choices, const: constant, type, anyOf, oneOf } = schema as JsonSchema
  if (constant !== undefined) return literal(constant)
  if (Array.isArray(choices)) return union(choices, literal)
  const branches = Array.isArray(anyOf) ? anyOf : oneOf
  if (Array.isArray(branches)) return union(branches, branch => typeText(branch, reading, nesting + 1))
  if (Array.isArray(type)) return union(type, one => typeText({ ...schema, type: one }, reading, nesting))
  if (type === 'array') return listText(schema as JsonSchema, reading, nesting)
  if (type === 'object') return objectText(schema as JsonSchema, reading, nesting)
  return typeof type === 'string' ? plainText(type) : 'any'
}

function union(parts: readonly unknown[], text: (part: unknown) => string): string {
  const distinct = new Set<string>()
  for (const part of parts) if (distinct.size <= MAX_CHOICES) distinct.add(text(part))
  const shown = [...distinct].slice(0, MAX_CHOICES)
  if (distinct.size > MAX_CHOICES) shown.push('…')
  return shown.length === 0 ? 'any' : shown.join(' | ')
}

function listText(schema: JsonSchema, reading: Reading, nesting: number): string {
  const item = typeText(schema.items, reading, nesting + 1)
  return item.includes(' | ') ? `(${item})[]` : `${item}[]`
}

function objectText(schema: JsonSchema, reading: Reading, nesting: number): string {
  const properties = nesting >= MAX_NESTING ? '' : propertiesText(schema, reading, nesting + 1)
  return properties === '' ? 'object' : `{ ${properties} }`
}

function propertiesText(schema: JsonSchema, reading: Reading, nesting: number): string {
  const properties = propertiesOf(schema)
  const names = Object.keys(properties)
  const required = new Set(requiredOf(schema))
  const texts = names
    .slice(0, MAX_PARAMETERS + 1)
    .map(
      name =>
        `${propertyName(name)}${required.has(name) ? '' : '?'}: ${typeText(properties[name], reading, nesting)}`,
    )
  return firstOf(texts, MAX_PARAMETERS, names.length).join(', ')
}

/** As many as fit, and how many more there are. */
export function firstOf(texts: readonly string[], room: number, total = texts.length): string[] {
  return total <= room ? [...texts] : [...texts.slice(0, room), `… ${total - room} more`]
}

function propertyName(name: string): string {
  return shortText(/^[\w$]+$/.test(name) ? name : JSON.stringify(name), MAX_LITERAL_CHARS)
}

function literal(value: unknown): string {
  return shortText(JSON.stringify(value) ?? 'any', MAX_LITERAL_CHARS)
}

function plainText(value: unknown): string {
  return typeof value === 'string' ? shortText(value, MAX_LITERAL_CHARS) : literal(value)
}
