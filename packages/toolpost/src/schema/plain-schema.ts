import { type JsonLimits, JsonWriter } from '../runtime/json-writer.ts'
import type { JsonSchema } from './json-schema.ts'

/** A schema as plain data that any program can read; `undefined` if it is too large for that, or there is none. */
export function plainSchema(read: () => JsonSchema | undefined, limits: JsonLimits): JsonSchema | undefined {
  const schema = attempt(read)
  if (schema === undefined) return undefined
  const writer = new JsonWriter(schema, limits)
  const text = writer.rest()
  return writer.isWhole ? (JSON.parse(text) as JsonSchema) : undefined
}

/** What cannot be read is as good as not there. */
export function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
