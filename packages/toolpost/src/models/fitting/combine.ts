import { isRecord } from '../../runtime/guards.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'

/*
 * Combines fitted schemas. The result accepts everything that both, or any, of them accept: maybe more, never less.
 */

/** Accepts what both accept. Constraints that one schema cannot express are left out. */
export function both(a: JsonSchema, b: JsonSchema): JsonSchema {
  const merged: JsonSchema = { ...b, ...a }
  const type = sharedTypes(a.type, b.type)
  if (type === undefined) delete merged.type
  else merged.type = type
  if (a.enum && b.enum) {
    const values = sharedValues(a.enum as unknown[], b.enum as unknown[])
    if (values.length > 0) merged.enum = values
    else delete merged.enum
  }
  if (isRecord(a.properties) && isRecord(b.properties))
    merged.properties = bothProperties(a.properties, b.properties)
  if (a.required && b.required)
    merged.required = [...new Set([...(a.required as string[]), ...(b.required as string[])])]
  // Sound, because the declared properties only grow.
  if (b.additionalProperties === false) merged.additionalProperties = false
  if (isRecord(a.items) && isRecord(b.items)) merged.items = both(a.items, b.items)
  return merged
}

function bothProperties(a: JsonSchema, b: JsonSchema): JsonSchema {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])]
  return Object.fromEntries(
    names.map(name => {
      const [one, two] = [ownSchema(a, name), ownSchema(b, name)]
      return [name, one && two ? both(one, two) : (one ?? two)]
    }),
  )
}

/** The schema of a property, if it is declared. */
export function ownSchema(properties: unknown, name: string): JsonSchema | undefined {
  return isRecord(properties) && Object.hasOwn(properties, name)
    ? (properties[name] as JsonSchema)
    : undefined
}

/** Accepts what any of them accepts. */
export function anyOf(variants: readonly JsonSchema[]): JsonSchema {
  const different = [...new Map(variants.map(variant => [JSON.stringify(variant), variant])).values()]
  if (different.length <= 1) return different[0] ?? {}
  return joinedEnums(different) ?? { anyOf: different }
}

/** A `const` in each form becomes one enum. */
function joinedEnums(variants: readonly JsonSchema[]): JsonSchema | undefined {
  const [first] = variants
  const isPlain = ({ enum: values, type, ...rest }: JsonSchema) =>
    Array.isArray(values) && type === first?.type && Object.keys(rest).every(key => key === 'description')
  if (!variants.every(isPlain)) return undefined
  const values = new Map(
    variants.flatMap(({ enum: own }) => (own as unknown[]).map(value => [JSON.stringify(value), value])),
  )
  return { ...(first?.type !== undefined && { type: first.type }), enum: [...values.values()] }
}

/** A fitted `type` as a list; `undefined` for any type. */
export function typesOf(type: unknown): readonly string[] | undefined {
  if (type === undefined) return undefined
  return Array.isArray(type) ? type : [type as string]
}

/** One type or a list, as in a schema; `undefined` for a contradiction. */
function sharedTypes(a: unknown, b: unknown): unknown {
  const [ours, theirs] = [typesOf(a), typesOf(b)]
  if (!ours || !theirs) return a ?? b
  const has = (types: readonly string[], type: string) =>
    types.includes(type) || (type === 'integer' && types.includes('number'))
  const shared = [...new Set([...ours, ...theirs])].filter(type => has(ours, type) && has(theirs, type))
  return shared.length > 1 ? shared : shared[0]
}

function sharedValues(a: readonly unknown[], b: readonly unknown[]): unknown[] {
  const texts = new Set(b.map(value => JSON.stringify(value)))
  return a.filter(value => texts.has(JSON.stringify(value)))
}
