import type { JsonSchema } from 'toolpost/gateway'
import { isRecord } from '../../api/guards.ts'

const MAX_EXAMPLES = 5

/** Example arguments from the schema: complete ones, else one assembled from its properties' examples. */
export function exampleArguments(schema: JsonSchema): Record<string, unknown>[] {
  const whole = (Array.isArray(schema.examples) ? schema.examples : []).filter(isRecord)
  if (whole.length > 0) return whole.slice(0, MAX_EXAMPLES)
  const made = fromProperties(schema)
  return made === undefined ? [] : [made]
}

/** Only if at least one property has an example, and there is a value for every required one. */
function fromProperties({ properties, required }: JsonSchema): Record<string, unknown> | undefined {
  if (!isRecord(properties)) return undefined
  const needed = new Set(Array.isArray(required) ? required : [])
  const entries = Object.entries(properties).filter((entry): entry is [string, JsonSchema] =>
    isRecord(entry[1]),
  )
  if (!entries.some(([, property]) => firstOf(property.examples) !== undefined)) return undefined
  const values = entries.map(([name, property]) => [name, exampleOf(property, needed.has(name))] as const)
  const given = Object.fromEntries(values.filter(([, value]) => value !== undefined))
  return [...needed].every(name => typeof name === 'string' && name in given) ? given : undefined
}

/** A required property without an example gets its const, default or first choice. */
function exampleOf(
  { examples, const: only, default: usual, enum: choices }: JsonSchema,
  isNeeded: boolean,
): unknown {
  const example = firstOf(examples)
  return example !== undefined || !isNeeded ? example : (only ?? usual ?? firstOf(choices))
}

function firstOf(list: unknown): unknown {
  return Array.isArray(list) ? list[0] : undefined
}
