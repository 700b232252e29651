import { isObjectLike } from '../../runtime/guards.ts'
import { type JsonSchema, propertiesOf, resolveRef } from '../../schema/json-schema.ts'
import { readCalculation } from './calculation.ts'
import { nameLengths, takesAnyText } from './names.ts'
import { readNumber } from './numbers.ts'
import type { TemplateNode } from './template.ts'
import { compareWords, type Word, wordsOf } from './words.ts'

/** A request that is being matched. */
export interface Request {
  text: string
  words: readonly Word[]
}

/** What an argument could take at some place: how many words, and how much they say for this being the argument. */
interface Taking {
  value: unknown
  used: number
  weight: number
  /** Words that could have been anything. */
  free: number
}

export type SlotReader = (request: Request, at: number) => Taking[]

/** How much a word says for a sentence: its own words most, free text least. */
export const WEIGHTS = { same: 1, similar: 0.75, calculation: 0.8, free: 0.3 } as const

/** How an argument takes words, by what its sentence and the tool's schema say. */
export function slotReader(slot: TemplateNode & { kind: 'slot' }, schema: JsonSchema): SlotReader {
  if (slot.isCalculation) return readMath
  const property = propertyOf(schema, slot.name)
  const choices = slot.choices ?? (Array.isArray(property.enum) ? property.enum : undefined)
  if (choices) return choiceReader(choices, property)
  if (property.type === 'integer' || property.type === 'number') return numberReader(property)
  if (property.type === 'boolean') return choiceReader([...YES, ...NO], property)
  return takesAnyText(slot.name) ? readText : readName
}

/** What a schema says of an argument; nothing if it says nothing. */
export function propertyOf(schema: JsonSchema, name: string): JsonSchema {
  const properties = propertiesOf(schema)
  const declared = Object.hasOwn(properties, name) ? properties[name] : undefined
  const property = resolveRef(declared, schema)
  return isObjectLike(property) ? (property as JsonSchema) : {}
}

const YES = ['yes', 'true', 'on']
const NO = ['no', 'false', 'off']

interface Choice {
  value: unknown
  keys: string[]
}

function choiceReader(values: readonly unknown[], property: JsonSchema): SlotReader {
  const choices = values.map(value => ({ value: typed(value, property), keys: keysOf(String(value)) }))
  return ({ words }, at) => choices.flatMap(choice => takeChoice(choice, words, at) ?? [])
}

function keysOf(value: string): string[] {
  return wordsOf(value.replaceAll('_', ' ')).map(word => word.key)
}

function takeChoice({ value, keys }: Choice, words: readonly Word[], at: number): Taking | undefined {
  let weight = 0
  for (const [offset, key] of keys.entries()) {
    const likeness = compareWords(words[at + offset]?.key ?? '', key)
    if (likeness === undefined) return undefined
    weight += WEIGHTS[likeness]
  }
  return keys.length > 0 ? { value, used: keys.length, weight, free: 0 } : undefined
}

/** The value that a sentence writes as text, in the type that the schema wants. */
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

/** A number, and the `%` or `percent` after it. Between two limits there is also half, full and the like. */
function numberReader({ minimum, maximum }: JsonSchema): SlotReader {
  return ({ words }, at) => {
    const number = readNumber(words, at) ?? portion(words[at]?.key, minimum, maximum)
    if (!number) return []
    const used = number.used + percentAt(words, at + number.used)
    return [{ value: number.value, used, weight: used * WEIGHTS.same, free: 0 }]
  }
}

function percentAt(words: readonly Word[], at: number): number {
  const key = words[at]?.key
  if (key === '%' || key === 'percent') return 1
  return key === 'per' && words[at + 1]?.key === 'cent' ? 2 : 0
}

const PORTIONS = new Map(Object.entries({ half: 0.5, full: 1, maximum: 1, max: 1, minimum: 0 }))

function portion(key = '', minimum: unknown, maximum: unknown) {
  const share = PORTIONS.get(key)
  if (share === undefined || typeof minimum !== 'number' || typeof maximum !== 'number') return undefined
  return { value: minimum + share * (maximum - minimum), used: 1 }
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
  const value = first && last && readCalculation(taken, text.slice(first.start, last.end))
  if (value === undefined) return []
  return [{ value, used: taken.length, weight: taken.length * WEIGHTS.calculation, free: 0 }]
}
