import { schemaArrayKeyword, schemaKeyword, schemaMapKeyword } from '@cfworker/json-schema'
import { findSchemaDefinition, type RJSFSchema } from '@rjsf/utils'
import type { JsonSchema } from 'toolpost/gateway'
import { isRecord } from '../api/guards.ts'
import { clipped, oneLine } from '../text/visible-text.ts'
import { withNamedChoices } from './choices.ts'
import { patternFormat } from './pattern-format.ts'

/** More would make every keystroke slow: such arguments are entered as JSON. */
const MAX_FIELDS = 300
const MAX_SCHEMAS = 2_000
const MAX_DEPTH = 64
/** An option of a select is cheaper than a field. */
const CHOICES_PER_FIELD = 20

/** Checked in linear time by the validator; other formats are left to the gateway. */
const FORMATS = ['date', 'time', 'date-time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid', 'uri']

/** The schema's own texts that are shown. */
const TEXTS = ['title', 'description']
const MAX_TEXT = 2_000

const TOO_LARGE = 'This schema is too large or too deeply nested for a form.'

/** A schema that cannot become a form. The message is one sentence for the person. */
export class UnfitSchemaError extends Error {
  override name = 'UnfitSchemaError'
}

/**
 * A copy of a tool's schema that cannot hang the form or its validator. Throws `UnfitSchemaError` if that is
 * impossible. Patterns become custom formats that run in linear time: a tool's regex could freeze the page.
 */
export function formSchema(schema: JsonSchema): RJSFSchema {
  // The tool's title and description are already shown above the form.
  const { $id, title: _, description: __, ...rest } = schema
  const id = typeof $id === 'string' ? $id : undefined
  const copy: Copy = { schemas: [], id }
  const root = copied({ type: 'object', ...rest }, copy, 0)
  const fieldsOf = fieldCounter(root)
  if (copy.schemas.some(one => fieldsOf(one) > MAX_FIELDS)) throw new UnfitSchemaError(TOO_LARGE)
  return root as RJSFSchema
}

/** Whether a value, such as the arguments of a recorded call, is small enough to be shown in a form. */
export function fitsForm(args: unknown): boolean {
  return sizeOf(args, MAX_FIELDS) <= MAX_FIELDS
}

interface Copy {
  schemas: JsonSchema[]
  id: string | undefined
}

function copied(schema: JsonSchema, copy: Copy, depth: number): JsonSchema {
  if (copy.schemas.length >= MAX_SCHEMAS || depth > MAX_DEPTH) throw new UnfitSchemaError(TOO_LARGE)
  const inner = (part: unknown) => (isRecord(part) ? copied(part, copy, depth + 1) : part)
  const needed = new Set(Array.isArray(schema.required) ? schema.required : [])
  const parts = Object.entries(schema).filter(([keyword, value]) => isKept(keyword, value, schema))
  const made: JsonSchema = Object.fromEntries(
    parts.map(([keyword, value]) => [keyword, copiedKeyword(keyword, value, inner)]),
  )
  if (isRecord(made.properties))
    made.properties = mapped(made.properties, (part, name) => withNamedChoices(part, !needed.has(name)))
  for (const keyword of ['items', 'additionalProperties'])
    if (isRecord(made[keyword])) made[keyword] = withNamedChoices(made[keyword], false)
  if (isRecord(made.$defs)) made.$defs = mapped(made.$defs, part => withNamedChoices(part, false))
  if (typeof made.$ref === 'string' && copy.id && made.$ref.startsWith(copy.id))
    made.$ref = `#${made.$ref.slice(copy.id.length).replace('#', '')}`
  const patterned = withPattern(made, schema.pattern)
  copy.schemas.push(patterned)
  return patterned
}

function mapped(
  parts: Record<string, unknown>,
  change: (part: JsonSchema, name: string) => JsonSchema,
): JsonSchema {
  const entries = Object.entries(parts)
  return Object.fromEntries(entries.map(([name, part]) => [name, isRecord(part) ? change(part, name) : part]))
}

function isKept(keyword: string, value: unknown, { patternProperties }: JsonSchema): boolean {
  if (keyword === 'format') return FORMATS.includes(value as string)
  // Without the patterns it is unknown which properties are additional.
  if (keyword === 'additionalProperties') return patternProperties === undefined
  return !['pattern', 'patternProperties', '$id'].includes(keyword)
}

/** If there is also a format, the pattern is left to the gateway. */
function withPattern(made: JsonSchema, pattern: unknown): JsonSchema {
  const format = typeof pattern === 'string' && made.format === undefined ? patternFormat(pattern) : undefined
  return format === undefined ? made : { ...made, format }
}

function copiedKeyword(keyword: string, value: unknown, inner: (part: unknown) => unknown): unknown {
  if (typeof value === 'string') return TEXTS.includes(keyword) ? clipped(value, MAX_TEXT) : value
  if (Array.isArray(value)) return schemaArrayKeyword[keyword] ? value.map(inner) : value
  if (!isRecord(value)) return value
  if (schemaKeyword[keyword]) return inner(value)
  const isMap = schemaMapKeyword[keyword] || keyword === 'dependencies'
  return isMap ? Object.fromEntries(Object.entries(value).map(([name, part]) => [name, inner(part)])) : value
}

/** How many fields a schema shows at once, following references. Linear: every schema is counted once. */
function fieldCounter(root: JsonSchema): (schema: unknown) => number {
  const known = new Map<JsonSchema, number>()
  const countOf = (schema: unknown): number => {
    if (!isRecord(schema)) return 0
    const before = known.get(schema)
    if (before !== undefined) return before
    // Until it is counted: a schema that contains itself never ends.
    known.set(schema, Number.POSITIVE_INFINITY)
    const count = 1 + ownSize(schema) + inside(schema)
    known.set(schema, count)
    return count
  }
  const sumOf = (parts: unknown[]) => parts.reduce<number>((sum, part) => sum + countOf(part), 0)
  const inside = (schema: JsonSchema): number => {
    const { $ref, items, minItems } = schema
    const parts = [
      ...SHOWN.flatMap(keyword => valuesOf(schema[keyword])),
      schema.if,
      schema.then,
      schema.else,
    ]
    if (typeof $ref === 'string') parts.push(referred($ref, root))
    if (Array.isArray(items)) return sumOf([...parts, ...items])
    // Items are shown once added, or if there is a minimum.
    return sumOf(parts) + (typeof minItems === 'number' && minItems > 0 ? minItems * countOf(items) : 0)
  }
  return countOf
}

const SHOWN = 'properties dependentSchemas dependencies allOf anyOf oneOf prefixItems'.split(' ')

function ownSize({ enum: choices, default: value }: JsonSchema): number {
  const choiceCount = Array.isArray(choices) ? choices.length : 0
  return choiceCount / CHOICES_PER_FIELD + (value === undefined ? 0 : sizeOf(value, MAX_FIELDS))
}

function referred(reference: string, root: JsonSchema): unknown {
  try {
    return findSchemaDefinition(reference, root)
  } catch {
    throw new UnfitSchemaError(`This schema has an unresolved reference: ${oneLine(reference, 100)}.`)
  }
}

/** How many values a value contains; stops soon after `limit`. */
function sizeOf(value: unknown, limit: number): number {
  const found = [value]
  for (let at = 0; at < found.length && found.length <= limit; at += 1)
    found.push(...valuesOf(found[at]).slice(0, limit + 1))
  return found.length
}

function valuesOf(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value) : []
}
