import { isObjectLike } from '../runtime/guards.ts'
import { type JsonSchema, jsonSchemaOf, propertiesOf, requiredOf, resolveRef } from './json-schema.ts'

const MAX_NESTING = 3
const MAX_CHOICES = 8

/** What a signature needs of a tool. */
interface Named {
  readonly name: string
  readonly schema: object
}

/** How a tool is called, as a person would write it: `turn(action: "on" | "off", level?: integer)`. */
export function signatureOf(tool: Named): string {
  const schema = topOf(jsonSchemaOf(tool))
  const required = new Set(requiredOf(schema))
  const parameters = Object.entries(propertiesOf(schema)).map(
    ([name, property]) =>
      `${propertyName(name)}${required.has(name) ? '' : '?'}: ${typeText(property, schema, 0)}`,
  )
  if (parameters.length === 0 && schema.additionalProperties !== false) parameters.push('…')
  return `${tool.name}(${parameters.join(', ')})`
}

/** The arguments a tool must have, as its error messages list them: `a (string), x (one of on, off)`. */
export function requiredArguments(given: JsonSchema): string {
  const schema = topOf(given)
  const properties = propertiesOf(schema)
  return requiredOf(schema)
    .map(name => `${name} (${kindText(resolveRef(properties[name], schema), schema)})`)
    .join(', ')
}

/** The schema itself, where the whole of it is a reference into its own definitions. */
function topOf(schema: JsonSchema): JsonSchema {
  const top = resolveRef(schema, schema)
  return top === schema ? schema : { ...schema, ...(top as JsonSchema) }
}

function kindText(property: unknown, root: JsonSchema): string {
  const choices = isObjectLike(property) ? (property as JsonSchema).enum : undefined
  if (Array.isArray(choices)) return `one of ${choices.map(plainText).join(', ')}`
  return typeText(property, root, MAX_NESTING)
}

/** A type as TypeScript would write it, with `integer` kept apart from `number`. */
function typeText(given: unknown, root: JsonSchema, nesting: number): string {
  const schema = resolveRef(given, root)
  if (!isObjectLike(schema)) return 'any'
  const { enum: choices, const: constant, type, anyOf, oneOf } = schema as JsonSchema
  if (constant !== undefined) return JSON.stringify(constant)
  if (Array.isArray(choices)) return union(choices.map(choice => JSON.stringify(choice)))
  const branches = Array.isArray(anyOf) ? anyOf : oneOf
  if (Array.isArray(branches)) return union(branches.map(branch => typeText(branch, root, nesting + 1)))
  if (Array.isArray(type)) return union(type.map(one => typeText({ ...schema, type: one }, root, nesting)))
  if (type === 'array') return listText(schema as JsonSchema, root, nesting)
  if (type === 'object') return objectText(schema as JsonSchema, root, nesting)
  return typeof type === 'string' ? type : 'any'
}

function union(parts: string[]): string {
  const distinct = [...new Set(parts)]
  const shown = distinct.slice(0, MAX_CHOICES)
  if (distinct.length > MAX_CHOICES) shown.push('…')
  return shown.length === 0 ? 'any' : shown.join(' | ')
}

function listText(schema: JsonSchema, root: JsonSchema, nesting: number): string {
  const item = typeText(schema.items, root, nesting + 1)
  return item.includes(' | ') ? `(${item})[]` : `${item}[]`
}

function objectText(schema: JsonSchema, root: JsonSchema, nesting: number): string {
  const entries = Object.entries(propertiesOf(schema))
  if (entries.length === 0 || nesting >= MAX_NESTING) return 'object'
  const required = new Set(requiredOf(schema))
  const parts = entries.map(
    ([name, property]) =>
      `${propertyName(name)}${required.has(name) ? '' : '?'}: ${typeText(property, root, nesting + 1)}`,
  )
  return `{ ${parts.join(', ')} }`
}

function propertyName(name: string): string {
  return /^[\w$]+$/.test(name) ? name : JSON.stringify(name)
}

function plainText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
