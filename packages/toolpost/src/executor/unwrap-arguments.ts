import { isRecord } from '../runtime/guards.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { parseJsonText } from './json-text.ts'
import { foldedName, namingOf } from './names.ts'

/** Names that models wrap around the arguments, folded. */
const WRAPPERS = new Set(
  'arguments argument args arg kwargs parameters parameter params param input inputs toolinput toolargs toolarguments functionarguments'.split(
    ' ',
  ),
)

/**
 * Unwraps arguments: `{"arguments": {…}}`, with or without the tool's name next to them. Only if the schema knows all
 * names inside and none outside; otherwise `undefined`.
 */
export function unwrapArguments(
  given: unknown,
  { name, schema }: { name: string; schema: JsonSchema },
): Record<string, unknown> | undefined {
  if (!isRecord(given)) return undefined
  const names = Object.keys(given).filter(key => !(key === 'name' && given.name === name))
  const [outer] = names
  if (outer === undefined || names.length > 1 || !WRAPPERS.has(foldedName(outer))) return undefined
  const value = given[outer]
  const inner = typeof value === 'string' ? parseJsonText(value) : value
  return isRecord(inner) && knowsOnlyInside(schema, Object.keys(given), Object.keys(inner))
    ? inner
    : undefined
}

function knowsOnlyInside(schema: JsonSchema, outside: readonly string[], inside: readonly string[]): boolean {
  const { byFold, isNameMap } = namingOf(schema)
  const isKnown = (name: string) => byFold.has(foldedName(name))
  return inside.length > 0 && inside.every(isKnown) && !outside.some(isKnown) && !isNameMap
}
