import type { JsonSchema } from 'toolpost/gateway'
import { isRecord } from '../api/guards.ts'
import { shortJson } from '../text/json-text.ts'
import { oneLine } from '../text/visible-text.ts'

/* The choices of `anyOf` and `oneOf`, each with a descriptive name. */

const KEYWORDS = ['anyOf', 'oneOf'] as const
const MAX_NAMED = 4

/** Matches nothing and shows no field: an argument that is not set. */
const NOT_GIVEN: JsonSchema = { type: 'null', not: {}, title: 'Not set' }

/** Names the choices; adds "Not set" first if the argument is optional. */
export function withNamedChoices(schema: JsonSchema, isOptional: boolean): JsonSchema {
  const named = { ...schema }
  for (const keyword of KEYWORDS) {
    const choices = schema[keyword]
    if (!Array.isArray(choices) || !choices.every(isRecord) || isList(choices)) continue
    const all = choices.map((choice, at) => namedChoice(choice, at))
    named[keyword] = isOptional && schema.default === undefined ? [NOT_GIVEN, ...all] : all
  }
  return named
}

/** A list of constants is a plain select, which already has an empty option. */
function isList(choices: JsonSchema[]): boolean {
  return choices.every(
    choice => 'const' in choice || (Array.isArray(choice.enum) && choice.enum.length === 1),
  )
}

function namedChoice(choice: JsonSchema, at: number): JsonSchema {
  const title = nameOf(choice) ?? `Option ${at + 1}`
  // A const field yields the value; a field of type `null` would yield none.
  if (choice.type === 'null') return { const: null, title }
  return { ...choice, title }
}

const TYPES: Record<string, string> = {
  string: 'Text',
  number: 'Number',
  integer: 'Whole number',
  boolean: 'Yes or no',
  array: 'List',
  object: 'Object',
  null: 'Null',
}

function nameOf(choice: JsonSchema): string | undefined {
  const { title, description, const: only, enum: values, $ref } = choice
  if (typeof title === 'string' && title.trim() !== '') return oneLine(title, 80)
  if ('const' in choice) return shortJson(only, 60)
  if (Array.isArray(values))
    return listed(values.map(value => (typeof value === 'string' ? value : shortJson(value, 20))))
  if (typeof $ref === 'string') return oneLine($ref.split('/').at(-1) || $ref, 60)
  const type = typeName(choice)
  const words = typeof description === 'string' ? oneLine(description.split('\n')[0] ?? '', 60) : ''
  return type && words ? `${type}: ${words}` : type || words || undefined
}

function typeName({ type, properties, items, format }: JsonSchema): string | undefined {
  const kind = type ?? (isRecord(properties) ? 'object' : items === undefined ? undefined : 'array')
  const names = [kind].flat().flatMap(one => TYPES[String(one)] ?? [])
  if (names.length !== 1) return names.join(' or ') || undefined
  if (kind === 'object' && isRecord(properties)) return `Object with ${listed(Object.keys(properties))}`
  if (kind === 'array' && isRecord(items)) return `List of ${(nameOf(items) ?? 'anything').toLowerCase()}`
  return typeof format === 'string' ? `${names[0]} (${oneLine(format, 20)})` : names[0]
}

function listed(names: string[]): string {
  const shown = names.slice(0, MAX_NAMED).map(name => oneLine(name, 30))
  return names.length > MAX_NAMED ? `${shown.join(', ')} …` : shown.join(', ') || 'nothing'
}
