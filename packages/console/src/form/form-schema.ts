import { findSchemaDefinition, type RJSFSchema } from '@rjsf/utils'
import type { JsonSchema } from 'toolpost/gateway'
import { isRecord } from '../api/http.ts'
import { clipped } from '../text/visible-text.ts'

/** More would make every keystroke slow: such arguments are entered as JSON. */
const MAX_FIELDS = 200
const MAX_SCHEMAS = 2_000
const MAX_DEPTH = 40
const MAX_CHOICES = 500
/** Formats that have a field of their own; a browser's check of others may be stricter than the tool's. */
const FORMATS = ['date', 'time', 'date-time']
const LONG_TEXT = /(text|content|body|message|prompt|code|script|markdown|sql)$/i

/** The editor that a schema needs: `none` if the tool takes no arguments, `json` if a form cannot show it. */
export function formKind(schema: JsonSchema): 'form' | 'json' | 'none' {
  const { properties, additionalProperties } = schema
  const isNamed = isRecord(properties) && Object.keys(properties).length > 0
  if (isNamed || schema.$ref || schema.allOf || schema.anyOf || schema.oneOf)
    return formSchema(schema) ? 'form' : 'json'
  // An empty list of parameters means the same as a closed one.
  return additionalProperties === false || isRecord(properties) ? 'none' : 'json'
}

/**
 * A copy of a tool's schema that cannot hang the form; `undefined` if there is none. Only what decides which fields
 * there are is kept: whether the arguments are valid is for the gateway to say.
 */
export function formSchema(schema: JsonSchema): RJSFSchema | undefined {
  try {
    const count = { schemas: 0 }
    const { title: _, description: __, $id: ___, ...rest } = schema
    const root = copied({ type: 'object', ...rest }, count, 0)
    return fieldCount(root) <= MAX_FIELDS ? (root as RJSFSchema) : undefined
  } catch {
    return undefined
  }
}

const MAPS = ['properties', '$defs', 'definitions', 'dependentSchemas']
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems']
const SINGLE = ['items', 'additionalProperties', 'if', 'then', 'else', 'not']
const DROPPED = ['pattern', 'patternProperties', '$id', '$schema', 'propertyNames', 'unevaluatedProperties']

function copied(schema: JsonSchema, count: { schemas: number }, depth: number): JsonSchema {
  count.schemas += 1
  if (count.schemas > MAX_SCHEMAS || depth > MAX_DEPTH) throw new RangeError('too large')
  const inner = (part: unknown) => (isRecord(part) ? copied(part, count, depth + 1) : part)
  const made: JsonSchema = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (DROPPED.includes(keyword)) continue
    if (keyword === 'format' && !FORMATS.includes(value as string)) continue
    // Without the patterns it is unknown which properties are additional.
    if (keyword === 'additionalProperties' && schema.patternProperties) continue
    if (MAPS.includes(keyword) && isRecord(value))
      made[keyword] = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, inner(part)]))
    else if (LISTS.includes(keyword) && Array.isArray(value))
      made[keyword] = value.map(part => named(inner(part)))
    else if (SINGLE.includes(keyword) && isRecord(value)) made[keyword] = inner(value)
    else if (keyword === 'title' || keyword === 'description') made[keyword] = clipped(String(value), 2_000)
    else made[keyword] = value
  }
  if (Array.isArray(made.enum) && made.enum.length > MAX_CHOICES) delete made.enum
  return made
}

/** An alternative without a title is named after its type. */
function named(part: unknown): unknown {
  if (!isRecord(part) || part.title !== undefined || part.$ref !== undefined) return part
  if ('const' in part || part.enum) return part
  const type = [part.type ?? (part.properties ? 'object' : [])].flat().join(' or ')
  const names = isRecord(part.properties) ? Object.keys(part.properties).slice(0, 3).join(', ') : ''
  return type ? { ...part, title: clipped(names ? `${type} with ${names}` : type, 60) } : part
}

/** How many fields are shown at once, following references; infinite for a schema that contains itself. */
function fieldCount(root: JsonSchema): number {
  const known = new Map<JsonSchema, number>()
  const countOf = (schema: unknown): number => {
    if (!isRecord(schema)) return 0
    const before = known.get(schema)
    if (before !== undefined) return before
    known.set(schema, Number.POSITIVE_INFINITY)
    const parts = [schema.then, schema.else]
    for (const keyword of ['properties', 'dependentSchemas', 'allOf', 'anyOf', 'oneOf', 'prefixItems'])
      if (typeof schema[keyword] === 'object') parts.push(...Object.values(schema[keyword] ?? {}))
    if (typeof schema.$ref === 'string') parts.push(findSchemaDefinition(schema.$ref, root))
    // Items are shown once added, or if there is a minimum; alone they may refer to what contains them.
    if (Number(schema.minItems) > 0)
      parts.push(...Array(Math.min(Number(schema.minItems), 1_000)).fill(schema.items))
    const total = parts.reduce<number>((sum, part) => sum + countOf(part), 1)
    known.set(schema, total)
    return total
  }
  return countOf(root)
}

/** An optional boolean gets three choices; long text gets a larger field. */
export function formLayout(schema: JsonSchema, depth = 0): Record<string, unknown> {
  const layout: Record<string, unknown> = {}
  if (depth > 6) return layout
  const required = Array.isArray(schema.required) ? schema.required : []
  for (const [name, property] of Object.entries(isRecord(schema.properties) ? schema.properties : {}))
    if (isRecord(property)) layout[name] = fieldLayout(name, property, required.includes(name), depth)
  if (isRecord(schema.items)) layout.items = formLayout(schema.items, depth + 1)
  return layout
}

function fieldLayout(name: string, property: JsonSchema, isRequired: boolean, depth: number): object {
  const { type } = property
  if (type === 'boolean' && !isRequired && property.default === undefined) return { 'ui:widget': 'select' }
  const isFree = type === 'string' && !property.enum && !property.format && !property.pattern
  if (isFree && LONG_TEXT.test(name) && !(Number(property.maxLength) <= 100))
    return { 'ui:widget': 'textarea' }
  return formLayout(property, depth + 1)
}

/** Whether a value could be meant for this schema: decides which of several alternatives a form shows. */
export function fitsSchema(schema: unknown, value: unknown): boolean {
  if (!isRecord(schema)) return schema !== false
  if ('const' in schema) return JSON.stringify(schema.const) === JSON.stringify(value)
  if (Array.isArray(schema.enum)) return schema.enum.includes(value)
  for (const [keyword, test] of [
    ['allOf', 'every'],
    ['anyOf', 'some'],
    ['oneOf', 'some'],
  ] as const) {
    const parts = schema[keyword]
    if (Array.isArray(parts) && !parts[test](part => fitsSchema(part, value))) return false
  }
  const types = [schema.type ?? []].flat().map(String)
  if (types.length > 0 && !types.some(type => isOfType(type, value))) return false
  if (!isRecord(value)) return true
  const required = Array.isArray(schema.required) ? schema.required : []
  if (required.some(name => value[String(name)] === undefined)) return false
  const properties = isRecord(schema.properties) ? schema.properties : {}
  return Object.entries(properties).every(
    ([name, part]) => value[name] === undefined || fitsSchema(part, value[name]),
  )
}

function isOfType(type: string, value: unknown): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isRecord(value)
  if (type === 'integer') return Number.isInteger(value)
  return typeof value === type
}
