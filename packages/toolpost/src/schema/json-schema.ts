import { isObjectLike } from '../runtime/guards.ts'

/** A JSON Schema as it came: read, never changed. */
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

/** What has a schema: a tool. */
interface WithSchema {
  readonly schema: JsonSchema | StandardSchema | object
}

/** Deeper schemas than this are refused: nobody writes them, and they break what walks them. */
export const MAX_SCHEMA_DEPTH = 100

/** Takes anything. Stands in for a schema that cannot be read but whose tool checks its arguments itself. */
const OPEN_SCHEMA: JsonSchema = Object.freeze({ type: 'object' })

const known = new WeakMap<object, JsonSchema>()

/** The JSON Schema of a tool's arguments. Throws, in words, where there is none. */
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
  throw new Error(`its ${standard.vendor} schema gives no JSON Schema (zod does from 4.2 on)`)
}

/** LangChain's own tools check their arguments themselves, whatever their schema is written in. */
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

/** Levels of nesting, counted only up to one more than `limit`; a cycle counts as endless. Shared parts are seen once. */
export function depthOf(value: unknown, limit: number): number {
  const known = new Map<object, number>()
  const visit = (part: unknown, left: number): number => {
    if (!isObjectLike(part)) return 0
    const before = known.get(part)
    if (before !== undefined) return before
    if (left < 0) return Number.POSITIVE_INFINITY
    // Until it is known: met again inside itself it is endless.
    known.set(part, Number.POSITIVE_INFINITY)
    let depth = 0
    for (const inner of Object.values(part)) depth = Math.max(depth, visit(inner, left - 1))
    known.set(part, depth + 1)
    return depth + 1
  }
  return Math.min(visit(value, limit), limit + 1)
}

const namesBySchema = new WeakMap<object, ReadonlySet<string>>()

/** Every argument name that a schema knows at its top, in whichever of its forms: through `$ref`, `allOf`, `anyOf` … */
export function knownNames(schema: JsonSchema, root: JsonSchema = schema): ReadonlySet<string> {
  const before = namesBySchema.get(schema)
  if (before) return before
  const names = new Set<string>()
  collectNames(schema, root, { names, depth: 0 })
  namesBySchema.set(schema, names)
  return names
}

const MAX_FORMS_DEPTH = 8

function collectNames(form: unknown, root: JsonSchema, found: { names: Set<string>; depth: number }): void {
  const schema = resolveRef(form, root)
  if (!isObjectLike(schema) || found.depth > MAX_FORMS_DEPTH) return
  for (const name of Object.keys(propertiesOf(schema as JsonSchema))) found.names.add(name)
  const { allOf, anyOf, oneOf, if: condition, then, else: otherwise } = schema as JsonSchema
  for (const inner of [allOf, anyOf, oneOf, condition, then, otherwise].flat()) {
    collectNames(inner, root, { names: found.names, depth: found.depth + 1 })
  }
}

/** Whether a schema takes names that it does not list: by pattern, or with a schema for all others. */
export function isNameMap({ patternProperties, additionalProperties }: JsonSchema): boolean {
  return isObjectLike(patternProperties) || isObjectLike(additionalProperties)
}

/** The properties that a schema declares at its top; `{}` where it declares none. */
export function propertiesOf(schema: JsonSchema): Record<string, unknown> {
  const { properties } = schema
  return isObjectLike(properties) ? (properties as Record<string, unknown>) : {}
}

/** The names that a schema requires at its top. */
export function requiredOf(schema: JsonSchema): string[] {
  const { required } = schema
  return Array.isArray(required) ? required.filter(name => typeof name === 'string') : []
}

/** Follows a `$ref` inside the same document; anything else comes back as it is. */
export function resolveRef(schema: unknown, root: JsonSchema): unknown {
  let current = schema
  for (let hops = 0; hops < 20; hops++) {
    const ref = isObjectLike(current) ? (current as { $ref?: unknown }).$ref : undefined
    if (typeof ref !== 'string') return current
    const target = pointedAt(root, ref)
    if (target === undefined) return current
    current = target
  }
  return current
}

function pointedAt(root: JsonSchema, ref: string): unknown {
  if (ref === '#') return root
  if (!ref.startsWith('#/')) return undefined
  let target: unknown = root
  for (const part of ref.slice(2).split('/')) {
    if (!isObjectLike(target)) return undefined
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
    target = Object.hasOwn(target, key) ? (target as Record<string, unknown>)[key] : undefined
  }
  return target
}
