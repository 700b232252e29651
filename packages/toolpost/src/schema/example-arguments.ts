import { isRecord, ownValue } from '../runtime/guards.ts'
import type { JsonSchema } from './json-schema.ts'

const MAX_DEPTH = 4
const BY_TYPE: Record<string, unknown> = { string: 'text', number: 1, integer: 1, boolean: true, null: null }

/** Example arguments for a call: the required ones, with values from the schema's own examples if it has any. */
export function exampleArguments(schema: JsonSchema | undefined): Record<string, unknown> {
  const example = exampleOf(schema, 0)
  return isRecord(example) ? example : {}
}

function exampleOf(schema: unknown, depth: number): unknown {
  if (!isRecord(schema) || depth > MAX_DEPTH) return depth === 0 ? {} : 'text'
  const { examples, default: usual, enum: values, const: only, items, anyOf, oneOf } = schema
  const given = [first(examples), usual, only, first(values)].find(value => value !== undefined)
  if (given !== undefined) return given
  const branch = first(anyOf) ?? first(oneOf)
  if (branch !== undefined && schema.properties === undefined) return exampleOf(branch, depth + 1)
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  if (type === 'object' || isRecord(schema.properties)) return exampleObject(schema, depth)
  if (type === 'array') return [exampleOf(items, depth + 1)]
  if (typeof schema.minimum === 'number') return schema.minimum
  return typeof type === 'string' && Object.hasOwn(BY_TYPE, type) ? BY_TYPE[type] : 'text'
}

function exampleObject({ properties, required }: Record<string, unknown>, depth: number): object {
  const names = Array.isArray(required) ? required.filter(name => typeof name === 'string') : []
  const known = isRecord(properties) ? properties : {}
  return Object.fromEntries(names.map(name => [name, exampleOf(ownValue(known, name), depth + 1)]))
}

function first(list: unknown): unknown {
  return Array.isArray(list) ? list[0] : undefined
}
