import { isObjectLike } from '../../runtime/guards.ts'
import { type JsonSchema, propertiesOf, resolveRef } from '../../schema/json-schema.ts'
import { readCalculation, readCount } from './calculation.ts'
import { nameLengths, takesAnyText } from './names.ts'
import { readNumber } from './numbers.ts'
import { asPercentage, portion } from './portions.ts'
import { type Request, type Taking, WEIGHTS } from './request.ts'
import type { Choice, SlotNode } from './template.ts'
import { compareWords, keysIn, type Word } from './words.ts'

export type SlotReader = (request: Request, at: number) => readonly Taking[]

/** How an argument is read, according to its sentence and the tool's schema. */
export function slotReader(slot: SlotNode, schema: JsonSchema): SlotReader {
  if (slot.isCalculation) return readMath
  const property = propertyOf(schema, slot.name)
  if (slot.isNumber || slot.isPercent) return numberReader(property, slot.isPercent ? 'needed' : 'taken')
  if (slot.isDegrees) return readDegrees
  const choices = slot.choices ?? choicesOf(property)
  if (choices) return choiceReader(choices, property)
  if (slot.list !== undefined) return listReader(slot.list)
  if (property.type === 'integer' || property.type === 'number')
    return numberReader(property, /temperature|degrees/i.test(slot.name) ? 'refused' : 'taken')
  if (property.type === 'boolean') return choiceReader([...YES, ...NO].map(asItIs), property)
  return takesAnyText(slot.name) ? readText : readName
}

/** The schema of an argument; empty if it is not declared. */
export function propertyOf(schema: JsonSchema, name: string): JsonSchema {
  const properties = propertiesOf(schema)
  const declared = Object.hasOwn(properties, name) ? properties[name] : undefined
  const property = resolveRef(declared, schema)
  return isObjectLike(property) ? (property as JsonSchema) : {}
}

/** The values of an enum, each spoken as written. */
export function choicesOf({ enum: values }: JsonSchema): { say: string; value: unknown }[] | undefined {
  return Array.isArray(values) ? values.map(asItIs) : undefined
}

export const YES = ['yes', 'true', 'on']
export const NO = ['no', 'false', 'off']

const asItIs = (value: unknown) => ({ say: String(value), value })

/** Reads from the list of that name; any name if the list does not exist (yet). */
function listReader(name: string): SlotReader {
  return (request, at) => {
    const list = request.lexicon.list(name)
    return list ? list.read(request, at) : readName(request, at)
  }
}

interface ReadChoice {
  value: unknown
  keys: string[]
}

function choiceReader(
  choices: readonly (Choice | { say: string; value: unknown })[],
  property: JsonSchema,
): SlotReader {
  const read = choices.map(({ say, value }) => ({ value: typed(value, property), keys: keysOf(say) }))
  return (request, at) => read.flatMap(choice => takeChoice(choice, request, at) ?? [])
}

export function keysOf(value: string): string[] {
  return keysIn(value.replaceAll('_', ' '))
}

function takeChoice({ value, keys }: ReadChoice, request: Request, at: number): Taking | undefined {
  let weight = 0
  for (const [offset, key] of keys.entries()) {
    const likeness = request.likeness(at + offset, key)
    if (likeness === undefined) return undefined
    weight += WEIGHTS[likeness]
  }
  return keys.length > 0 ? { value, used: keys.length, weight, free: 0 } : undefined
}

/** A value written as text, converted to the schema's type. */
export function typed(value: unknown, { type, enum: choices }: JsonSchema): unknown {
  if (typeof value !== 'string') return value
  if (type === 'boolean') return YES.includes(value) ? true : NO.includes(value) ? false : value
  if ((type === 'integer' || type === 'number') && value.trim() !== '' && !Number.isNaN(Number(value)))
    return Number(value)
  const listed = Array.isArray(choices)
    ? choices.find(choice => String(choice).toLowerCase() === value.toLowerCase())
    : undefined
  return listed ?? value
}

/** A number with an optional `%` or `percent`. Between two limits, also "half", "full" and the like. */
function numberReader(property: JsonSchema, percentSign: 'needed' | 'taken' | 'refused'): SlotReader {
  const { minimum, maximum } = property
  return ({ words }, at) => {
    const share = portion(words, at, [minimum, maximum])
    const number = share ?? readNumber(words, at)
    if (!number) return []
    const percent = percentAt(words, at + number.used)
    if (!share && percentSign === (percent === 0 ? 'needed' : 'refused')) return []
    if (!share && percent === 0 && isHour(words, at, number)) return []
    const used = number.used + percent
    const value = asPercentage(number.value, property, percent > 0)
    return [{ value, used, weight: used * WEIGHTS.same, free: 0 }]
  }
}

/** "At seven": a time, not an amount. */
function isHour(
  words: readonly Word[],
  at: number,
  { value, used }: { value: number; used: number },
): boolean {
  const isMeasured = /^(?:degrees?|celsius|c|f)$/.test(words[at + used]?.key ?? '')
  return words[at - 1]?.key === 'at' && value <= 12 && !isMeasured
}

/** A number that can only be a room temperature: "thermostat 2" may be a name, "thermostat 21" is not. */
const readDegrees: SlotReader = (request, at) =>
  numberReader({}, 'refused')(request, at).filter(({ value }) => Number(value) >= 10 && Number(value) < 100)

function percentAt(words: readonly Word[], at: number): number {
  const key = words[at]?.key
  if (key === '%' || (key !== undefined && compareWords(key, 'percent'))) return 1
  return key === 'per' && words[at + 1]?.key === 'cent' ? 2 : 0
}

const MAX_FREE_WORDS = 40

const readText: SlotReader = (request, at) =>
  request.words.slice(at, at + MAX_FREE_WORDS).map((_, index) => freeWords(request, at, index + 1))

const readName: SlotReader = (request, at) =>
  nameLengths(request.words, at).map(used => freeWords(request, at, used))

function freeWords({ text, words }: Request, at: number, used: number): Taking {
  const value = text.slice(words[at]?.start, words[at + used - 1]?.end)
  return { value, used, weight: used * WEIGHTS.free, free: used }
}

const readMath: SlotReader = ({ text, words }, at) => {
  const taken = words.slice(at, at + MAX_FREE_WORDS)
  const [first, last] = [taken[0], taken.at(-1)]
  const isCounted = words[at - 1]?.key === 'many'
  const value =
    (isCounted ? readCount(taken) : undefined) ??
    (first && last && readCalculation(taken, text.slice(first.start, last.end)))
  // A number alone is not a calculation.
  if (value === undefined || (at === 0 && /^[-+]? ?[\d.,:]+ ?%?$/.test(value))) return []
  return [{ value, used: taken.length, weight: taken.length * WEIGHTS.calculation, free: 0 }]
}
