import { JsonWriter, type WriteLimits } from '../runtime/json-writer.ts'
import type { JsonSchema } from './json-schema.ts'

/** A schema as plain data that any program can read; `undefined` if it is too large or missing. */
export function plainSchema(read: () => JsonSchema | undefined, limits: WriteLimits): JsonSchema | undefined {
  const schema = attempt(read)
  if (schema === undefined) return undefined
  const writer = new JsonWriter(schema, limits)
  const text = writer.rest()
  return writer.isWhole ? (JSON.parse(text) as JsonSchema) : undefined
}

/** Treats what cannot be read as missing. */
export function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
