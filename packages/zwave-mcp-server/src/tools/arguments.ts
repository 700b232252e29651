import { closest } from 'fastest-levenshtein'
import { type ArgumentSchema, type Arguments, listWords, type PropertySchema } from './tool.ts'

const TYPE_WORDS = { string: 'a string', boolean: 'true or false', number: 'a number' } as const

/** Sentences saying what is wrong with a tool's arguments; undefined if they are valid. */
export function describeMistakes(tool: string, schema: ArgumentSchema, args: Arguments): string | undefined {
  const missing = (schema.required ?? []).filter(name => args[name] === undefined)
  const sentences = [
    ...missing.map(name => `${tool} needs '${name}', ${typeWords(schema.properties[name])}.`),
    ...Object.entries(args).flatMap(([name, value]) => describeMistake(tool, schema, { name, value })),
  ]
  return sentences.length > 0 ? sentences.join(' ') : undefined
}

function describeMistake(
  tool: string,
  schema: ArgumentSchema,
  { name, value }: { name: string; value: unknown },
): string[] {
  if (value === undefined) return []
  const property = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
  if (!property) return [describeUnknown(tool, schema, name)]
  const demand = unmetDemand(property, value)
  return demand ? [`'${name}' must be ${demand}, not ${show(value)}.`] : []
}

function describeUnknown(tool: string, schema: ArgumentSchema, name: string): string {
  const names = Object.keys(schema.properties)
  if (names.length === 0) return `${tool} takes no arguments; remove ${show(name)}.`
  const folded = (text: string) => text.toLowerCase().replace(/[^a-z]/g, '')
  const near = names.find(known => folded(known) === folded(name)) ?? closest(name, names)
  return `${tool} has no argument ${show(name)}; did you mean '${near}'?`
}

/** A phrase saying what the value should have been; undefined if it is valid. */
function unmetDemand(property: PropertySchema, value: unknown): string | undefined {
  if (typeof value !== property.type || Number.isNaN(value)) return typeWords(property)
  if (typeof value === 'string') {
    if (property.enum && !property.enum.includes(value)) return typeWords(property)
    if (value.trim().length < (property.minLength ?? 0)) return 'a non-empty string'
  }
  const { minimum = -Infinity, maximum = Infinity } = property
  return typeof value === 'number' && (value < minimum || value > maximum) ? typeWords(property) : undefined
}

function typeWords(property: PropertySchema | undefined): string {
  if (!property) return 'a value'
  if (property.enum) return listWords(property.enum, 'or')
  if (property.maximum !== undefined) return `a number from ${property.minimum ?? 0} to ${property.maximum}`
  return TYPE_WORDS[property.type]
}

const MAX_SHOWN = 60

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}
