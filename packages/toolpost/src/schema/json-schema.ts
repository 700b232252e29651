import { isObjectLike, isRecord, ownValue } from '../util/guards.ts'
import { uriDecoded } from '../util/text.ts'

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

const converted = new WeakMap<object, JsonSchema>()

/** The JSON Schema of a tool's arguments. Throws with a readable message if there is none. */
export function jsonSchemaOf(tool: WithSchema): JsonSchema {
  const { schema } = tool
  if (!isStandardSchema(schema)) return schema as JsonSchema
  const json = converted.get(schema) ?? convert(schema, tool)
  converted.set(schema, json)
  return json
}

function convert(schema: StandardSchema, tool: WithSchema): JsonSchema {
  const { jsonSchema, vendor } = schema['~standard']
  if (jsonSchema) return jsonSchema.input({ target: 'draft-2020-12' })
  // LangChain's DynamicTool has a zod 3 schema: `{ input?: string }` with a transform around it.
  const { shape = {} } = (schema as { _def?: { schema?: { shape?: object } } })._def?.schema ?? {}
  if (Object.keys(shape).join() === 'input')
    return { type: 'object', properties: { input: { type: 'string' } } }
  if (isLangChainTool(tool)) return { type: 'object' }
  const how = 'zod does since 4.2, valibot with toStandardJsonSchema of @valibot/to-json-schema'
  throw new Error(`its ${vendor} schema does not provide a JSON Schema (${how})`)
}

/** LangChain's tools check their arguments themselves, whatever their schema is written in. */
export function isLangChainTool(tool: WithSchema): boolean {
  return Array.isArray((tool as { lc_namespace?: unknown }).lc_namespace)
}

export function isStandardSchema(schema: unknown): schema is StandardSchema {
  return isObjectLike(schema) && isObjectLike((schema as Partial<StandardSchema>)['~standard'])
}

/** The properties that a schema declares at its top level; `{}` if it declares none. */
export function propertiesOf({ properties }: JsonSchema): Record<string, unknown> {
  return isRecord(properties) ? properties : {}
}

/** The names that a schema requires at its top level. */
export function requiredOf({ required }: JsonSchema): string[] {
  return Array.isArray(required) ? required.filter(name => typeof name === 'string') : []
}

/** Follows a `$ref` within the same document to its end; anything else is returned as is. */
export function resolveRef(schema: unknown, root: JsonSchema): unknown {
  let current = schema
  for (let hops = 0; hops < 20; hops++) {
    const target = isRecord(current) ? refTarget(current, root) : undefined
    if (target === undefined) return current
    current = target
  }
  return current
}

/** What a schema's own `$ref` points to in the same document; `undefined` if nothing. */
export function refTarget({ $ref }: JsonSchema, root: JsonSchema): unknown {
  if (typeof $ref !== 'string') return undefined
  const { $id } = root
  const ref = typeof $id === 'string' && $ref.startsWith($id) ? $ref.slice($id.length) : $ref
  if (ref === '#' || ref === '') return root
  if (!ref.startsWith('#/')) return definitionNamed(ref, root)
  let target: unknown = root
  for (const part of ref.slice(2).split('/')) {
    if (!isObjectLike(target)) return undefined
    target = ownValue(target as JsonSchema, uriDecoded(part).replaceAll('~1', '/').replaceAll('~0', '~'))
  }
  return target
}

/** A definition by its anchor (`#name`) or its own `$id`. */
function definitionNamed(ref: string, { $defs, definitions }: JsonSchema): unknown {
  return [$defs, definitions]
    .filter(isRecord)
    .flatMap(Object.values)
    .filter(isRecord)
    .find(({ $anchor, $id }) => ref === `#${$anchor}` || ref === $id)
}

const SAME_VALUE = 'allOf anyOf oneOf not if then else dependentSchemas dependencies'.split(' ')
const ENTRIES = 'items prefixItems additionalItems contains unevaluatedItems'.split(' ')
const OTHER_NAMES = ['additionalProperties', 'unevaluatedProperties']

/** The schemas below some keywords, each of which has a schema, a list or a map of them. */
function schemasIn(schema: JsonSchema, keywords: readonly string[]): JsonSchema[] {
  return keywords.flatMap(key => {
    const value = schema[key]
    const isMap = key.startsWith('depend') || key === 'patternProperties'
    return (isMap && isRecord(value) ? Object.values(value) : [value].flat()).filter(isRecord)
  })
}

/** The schemas for the same value: the target of the `$ref`, and the branches. */
function branchesOf(schema: JsonSchema, root: JsonSchema): JsonSchema[] {
  return [refTarget(schema, root), ...schemasIn(schema, SAME_VALUE)].filter(isRecord)
}

/** Every schema that a schema applies to its value or to parts of it. */
export function appliedSchemas(schema: JsonSchema, root: JsonSchema): JsonSchema[] {
  return [
    ...branchesOf(schema, root),
    ...Object.values(propertiesOf(schema)).filter(isRecord),
    ...schemasIn(schema, [...ENTRIES, ...OTHER_NAMES, 'patternProperties', 'propertyNames']),
  ]
}

/** All schemas that apply to the same value: the given ones, their `$ref` targets and branches. Each once. */
export function withBranches(schemas: Iterable<unknown>, root: JsonSchema): JsonSchema[] {
  const all = new Set([...schemas].filter(isRecord))
  // Schemas added during the loop are visited too.
  for (const schema of all) for (const branch of branchesOf(schema, root)) all.add(branch)
  return [...all]
}

/** The schemas for an entry of a list, or for a property, of a value with these schemas. */
export function schemasOfPart(schemas: readonly JsonSchema[], key: string, root: JsonSchema): JsonSchema[] {
  const inner = schemas.flatMap(schema => {
    const declared = ownValue(propertiesOf(schema), key)
    const others = declared === undefined ? OTHER_NAMES : []
    return [
      declared,
      ...schemasIn(schema, ['patternProperties', ...others, ...(/^\d+$/.test(key) ? ENTRIES : [])]),
    ]
  })
  return withBranches(inner, root)
}

/** The names that any of these schemas declares. */
export function declaredNames(schemas: readonly JsonSchema[]): Set<string> {
  return new Set(schemas.flatMap(schema => Object.keys(propertiesOf(schema))))
}
