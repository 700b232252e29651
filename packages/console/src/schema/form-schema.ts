import { schemaArrayKeyword, schemaKeyword, schemaMapKeyword } from '@cfworker/json-schema'
import { findSchemaDefinition, type RJSFSchema } from '@rjsf/utils'
import type { JsonSchema } from 'toolpost/gateway'
import { isRecord } from '../api/guards.ts'
import { clipped, oneLine } from '../text/visible-text.ts'

/** More at once would make every key stroke slow: such arguments are given as JSON. */
const MAX_FIELDS = 300
const MAX_SCHEMAS = 2_000
const MAX_DEPTH = 64
/** A choice in a list is cheaper to show than a field. */
const CHOICES_PER_FIELD = 20

/** Checked in linear time by the validator; other formats are left to the gateway. */
const FORMATS = ['date', 'time', 'date-time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid', 'uri']

/** What is shown of a schema's own words. */
const TEXTS = ['title', 'description']
const MAX_TEXT = 2_000

const TOO_LARGE = 'This schema is too large or too deeply nested for a form.'

/** What a form cannot be made of. The message is one sentence for the person. */
export class UnfitSchemaError extends Error {
  override name = 'UnfitSchemaError'
}

/**
 * A copy of a tool's schema that neither the form nor its validator can hang on. Throws `UnfitSchemaError` if there
 * is none. Patterns are left out, because one from a tool could stop the page: the gateway checks them.
 */
export function formSchema(schema: JsonSchema): RJSFSchema {
  // The tool's title and description are already shown above the form.
  const { $id, title: _, description: __, ...rest } = schema
  const id = typeof $id === 'string' ? $id : undefined
  const copy: Copy = { schemas: [], id }
  const root = copied({ type: 'object', ...rest }, copy, 0)
  const fields = new FieldCount(root)
  if (copy.schemas.some(one => fields.of(one) > MAX_FIELDS)) throw new UnfitSchemaError(TOO_LARGE)
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
  const parts = Object.entries(schema).filter(([keyword, value]) => isKept(keyword, value, schema))
  const made = Object.fromEntries(
    parts.map(([keyword, value]) => [keyword, copiedKeyword(keyword, value, inner)]),
  )
  if (typeof made.$ref === 'string' && copy.id && made.$ref.startsWith(copy.id))
    made.$ref = `#${made.$ref.slice(copy.id.length).replace('#', '')}`
  copy.schemas.push(made)
  return made
}

function isKept(keyword: string, value: unknown, { patternProperties }: JsonSchema): boolean {
  if (keyword === 'format') return FORMATS.includes(value as string)
  // Without the patterns nobody can tell which properties are additional.
  if (keyword === 'additionalProperties') return patternProperties === undefined
  return !['pattern', 'patternProperties', '$id'].includes(keyword)
}

function copiedKeyword(keyword: string, value: unknown, inner: (part: unknown) => unknown): unknown {
  if (typeof value === 'string') return TEXTS.includes(keyword) ? clipped(value, MAX_TEXT) : value
  if (Array.isArray(value)) return schemaArrayKeyword[keyword] ? value.map(inner) : value
  if (!isRecord(value)) return value
  if (schemaKeyword[keyword]) return inner(value)
  const isMap = schemaMapKeyword[keyword] || keyword === 'dependencies'
  return isMap ? Object.fromEntries(Object.entries(value).map(([name, part]) => [name, inner(part)])) : value
}

/** How many fields a schema shows at once, references followed. Linear: every schema is counted once. */
class FieldCount {
  readonly #root: JsonSchema
  readonly #known = new Map<JsonSchema, number>()

  constructor(root: JsonSchema) {
    this.#root = root
  }

  of(schema: unknown): number {
    if (!isRecord(schema)) return 0
    const known = this.#known.get(schema)
    if (known !== undefined) return known
    // Until it is counted: what shows itself inside of itself never ends.
    this.#known.set(schema, Number.POSITIVE_INFINITY)
    const count = 1 + ownSize(schema) + this.#inside(schema)
    this.#known.set(schema, count)
    return count
  }

  #inside(schema: JsonSchema): number {
    const { $ref, items, minItems } = schema
    const parts = SHOWN.flatMap(keyword => valuesOf(schema[keyword]))
    if (typeof $ref === 'string') parts.push(referred($ref, this.#root))
    const count = [...parts, schema.if, schema.then, schema.else].reduce<number>(
      (sum, part) => sum + this.of(part),
      0,
    )
    if (Array.isArray(items)) return items.reduce<number>((sum, item) => sum + this.of(item), count)
    // Items are shown once they are added, or if there have to be some.
    return typeof minItems === 'number' && minItems > 0 ? count + minItems * this.of(items) : count
  }
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

/** How many values there are in a value; stops soon after `limit`. */
function sizeOf(value: unknown, limit: number): number {
  const found = [value]
  for (let at = 0; at < found.length && found.length <= limit; at += 1)
    found.push(...valuesOf(found[at]).slice(0, limit + 1))
  return found.length
}

function valuesOf(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value) : []
}
