import { isObjectLike, ownValue } from '../runtime/guards.ts'
import { uriDecoded } from '../runtime/uri-decoded.ts'

/** A JSON Schema exactly as received: read, never changed. */
export type JsonSchema = Record<string, unknown>

/** A schema object of zod, valibot, arktype …: https://standardschema.dev */
export interface StandardSchema {
  readonly '~standard': {
    readonly version: number
    readonly vendor: string
    readonly jsonSchema?: { input(options: { target: string }): JsonSchema }
    readonly validate?: (value: unknown) => unknown
    readonly types?: { readonly input: unknown } | undefined
  }
}

/** Anything with a schema, such as a tool. */
interface WithSchema {
  readonly schema: JsonSchema | StandardSchema | object
}

/** Larger schemas are refused: nobody writes them, and they break whatever walks them. */
const MAX_SCHEMA_DEPTH = 100
const MAX_SCHEMA_PARTS = 50_000

/** Accepts anything. Used for a schema that cannot be read but whose tool checks its arguments itself. */
const OPEN_SCHEMA: JsonSchema = Object.freeze({ type: 'object' })

const known = new WeakMap<object, JsonSchema>()

/** The JSON Schema of a tool's arguments. Throws with a readable message if there is none. */
export function jsonSchemaOf(tool: WithSchema): JsonSchema {
  const { schema } = tool
  if (!isStandardSchema(schema)) return schema as JsonSchema
  const before = known.get(schema)
  if (before) return before
  const converted = convert(schema, tool)
  known.set(schema, converted)
  return converted
}

function convert(schema: StandardSchema, tool: WithSchema): JsonSchema {
  const standard = schema['~standard']
  if (standard.jsonSchema) return standard.jsonSchema.input({ target: 'draft-2020-12' })
  const singleInput = zod3SingleInput(schema)
  if (singleInput) return singleInput
  if (isLangChainTool(tool)) return OPEN_SCHEMA
  throw new Error(`its ${standard.vendor} schema does not provide a JSON Schema (zod does since 4.2)`)
}

/** LangChain's tools check their arguments themselves, whatever their schema is written in. */
export function isLangChainTool(tool: WithSchema): boolean {
  return Array.isArray((tool as { lc_namespace?: unknown }).lc_namespace)
}

export function isStandardSchema(schema: unknown): schema is StandardSchema {
  return isObjectLike(schema) && isObjectLike((schema as Partial<StandardSchema>)['~standard'])
}

/** LangChain's DynamicTool has a zod 3 schema, `{ input?: string }` with a transform around it. */
function zod3SingleInput(schema: StandardSchema): JsonSchema | undefined {
  const inner = (schema as { _def?: { schema?: { shape?: Record<string, unknown> } } })._def?.schema
  const keys = Object.keys(inner?.shape ?? {})
  if (keys.length !== 1 || keys[0] !== 'input') return undefined
  return { type: 'object', properties: { input: { type: 'string' } } }
}

interface Size {
  depth: number
  parts: number
}

/** How many characters of text count as one part. */
const CHARS_PER_PART = 20

/**
 * Why a schema is too large to be read; `undefined` if it is not. Shared parts are visited once, but count every time
 * they appear.
 */
export function sizeProblem(schema: object): string | undefined {
  const { depth, parts } = sizeOf(schema, MAX_SCHEMA_DEPTH, new Map())
  if (parts === Number.POSITIVE_INFINITY) return 'it contains itself; write recursion as a $ref'
  if (depth > MAX_SCHEMA_DEPTH) return `it is nested more than ${MAX_SCHEMA_DEPTH} levels deep`
  return parts > MAX_SCHEMA_PARTS ? `it has more than ${MAX_SCHEMA_PARTS} parts` : undefined
}

function sizeOf(value: object, left: number, known: Map<object, Size>): Size {
  const before = known.get(value)
  if (before) return before
  if (left < 0) return TOO_DEEP
  // Provisional: meeting it again inside itself means it is endless.
  known.set(value, ENDLESS)
  const size = { depth: 1, parts: 1 }
  for (const key of Object.keys(value)) {
    const part = (value as JsonSchema)[key]
    size.parts += 1 + key.length / CHARS_PER_PART
    if (typeof part === 'string') size.parts += part.length / CHARS_PER_PART
    else if (isObjectLike(part)) {
      const inner = sizeOf(part, left - 1, known)
      size.depth = Math.max(size.depth, inner.depth + 1)
      size.parts += inner.parts
    }
    if (size.parts > MAX_SCHEMA_PARTS) break
  }
  known.set(value, size)
  return size
}

const TOO_DEEP: Size = { depth: MAX_SCHEMA_DEPTH + 1, parts: 1 }
const ENDLESS: Size = { depth: 0, parts: Number.POSITIVE_INFINITY }

/** The properties that a schema declares at its top level; `{}` if it declares none. */
export function propertiesOf(schema: JsonSchema): Record<string, unknown> {
  const { properties } = schema
  return isObjectLike(properties) ? (properties as Record<string, unknown>) : {}
}

/** The names that a schema requires at its top level. */
export function requiredOf(schema: JsonSchema): string[] {
  const { required } = schema
  return Array.isArray(required) ? required.filter(name => typeof name === 'string') : []
}

/** Follows a `$ref` within the same document to its end; anything else is returned as is. */
export function resolveRef(schema: unknown, root: JsonSchema): unknown {
  let current = schema
  for (let hops = 0; hops < 20; hops++) {
    const target = isObjectLike(current) ? refTarget(current as JsonSchema, root) : undefined
    if (target === undefined) return current
    current = target
  }
  return current
}

/** What a schema's own `$ref` points to in the same document; `undefined` if nothing. */
export function refTarget({ $ref }: JsonSchema, root: JsonSchema): unknown {
  return typeof $ref === 'string' ? pointedAt(root, $ref) : undefined
}

function pointedAt(root: JsonSchema, given: string): unknown {
  const { $id } = root
  const ref = typeof $id === 'string' && given.startsWith($id) ? given.slice($id.length) : given
  if (ref === '#' || ref === '') return root
  if (!ref.startsWith('#/')) return anchored(root, ref)
  let target: unknown = root
  for (const part of ref.slice(2).split('/')) {
    if (!isObjectLike(target)) return undefined
    const key = uriDecoded(part).replaceAll('~1', '/').replaceAll('~0', '~')
    target = ownValue(target as JsonSchema, key)
  }
  return target
}

/** A definition by its anchor (`#name`) or its own `$id`. */
function anchored(root: JsonSchema, ref: string): unknown {
  const definitions = [root.$defs, root.definitions].filter(isObjectLike).flatMap(Object.values)
  return definitions.find(definition => {
    const { $anchor, $dynamicAnchor, $id } = isObjectLike(definition) ? (definition as JsonSchema) : {}
    return ref === `#${$anchor}` || ref === `#${$dynamicAnchor}` || ref === $id
  })
}
