import type { ErrorObject } from 'ajv'
import { isRecord } from '../runtime/guards.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { type Form, formsOf, namesIn } from '../schema/walk-schema.ts'
import { exactNumber } from './exact-number.ts'
import { parseJsonText } from './json-text.ts'

export interface Repair {
  value: unknown
  /** `numeric text → number` */
  what: string
  /** Correct only if no error is left at its place. */
  isTentative?: boolean
  /** Never made; only means that others are not certain. */
  isDoubtful?: boolean
}

/** The value of an argument to be removed. */
export const ABSENT = Symbol('absent')

interface Place {
  root: JsonSchema
  /** Whether the value is an entry of a list. */
  isEntry: boolean
}

/** The repair for an error, if it is certain. */
export function repairFor(
  { keyword, params, data, parentSchema }: ErrorObject,
  place: Place,
): Repair | undefined {
  if (data === null && (keyword === 'type' || keyword === 'enum'))
    // Removing an entry of a list would shift the others.
    return place.isEntry ? undefined : { value: ABSENT, what: 'null → left out', isTentative: true }
  if (keyword === 'enum') return toChoice(data, params.allowedValues)
  if (keyword === 'const') return toChoice(data, [params.allowedValue])
  if (keyword !== 'type') return undefined
  const types: string[] = [params.type].flat()
  return onlyOf(types.map(type => toType(data, type) ?? toList(data, type, { ...place, parentSchema })))
}

/** The only repair, or one of several with the same outcome. */
export function onlyOf(repairs: (Repair | undefined)[]): Repair | undefined {
  const [first, ...others] = repairs.filter(repair => repair !== undefined)
  return first && others.every(other => same(other.value, first.value)) ? first : undefined
}

/** A list of one may have been meant, which is not certain: then nothing else is certain either. */
const DOUBTFUL: Repair = { value: Symbol('doubtful'), what: '', isDoubtful: true }

function same(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b)
}

function toType(data: unknown, type: string): Repair | undefined {
  switch (type) {
    case 'number':
    case 'integer':
      return toNumber(data, type)
    case 'boolean':
      return toBoolean(data)
    case 'object':
      return fromJson(data, isRecord, 'object')
    case 'array':
      return fromJson(data, Array.isArray, 'list')
    default:
      return undefined
  }
}

function toNumber(data: unknown, type: string): Repair | undefined {
  const value = typeof data === 'string' ? exactNumber(data) : undefined
  if (value === undefined || (type === 'integer' && !Number.isInteger(value))) return undefined
  return { value, what: 'numeric text → number' }
}

function toBoolean(data: unknown): Repair | undefined {
  const text = typeof data === 'string' ? data.trim().toLowerCase() : ''
  return text === 'true' || text === 'false' ? { value: text === 'true', what: `text → ${text}` } : undefined
}

/** JSON text, or JSON text inside JSON text: nobody encodes more than twice by mistake. */
function fromJson(data: unknown, fits: (value: unknown) => boolean, what: string): Repair | undefined {
  const once = typeof data === 'string' ? parseJsonText(data) : undefined
  const value = typeof once === 'string' ? parseJsonText(once) : once
  return value !== undefined && fits(value) ? { value, what: `JSON text → ${what}` } : undefined
}

/** The one allowed value that differs from the text only in case, whitespace, or not being text. */
function toChoice(data: unknown, choices: readonly unknown[]): Repair | undefined {
  if (typeof data !== 'string') return undefined
  const wanted = folded(data)
  const fitting = choices.filter(choice => {
    if (typeof choice === 'string' || typeof choice === 'boolean') return folded(String(choice)) === wanted
    return typeof choice === 'number' && exactNumber(data) === choice
  })
  return fitting.length === 1
    ? { value: fitting[0], what: `text → ${JSON.stringify(fitting[0])}` }
    : undefined
}

function folded(text: string): string {
  return text.replace(/\s+/g, '').toLowerCase()
}

/**
 * Wraps a single value if a list is expected and the schema of its entries makes that certain. An entry of a list is
 * never wrapped: `[1, 2]` for a list of lists may mean `[[1, 2]]`.
 */
function toList(
  data: unknown,
  type: string,
  place: Place & { parentSchema?: object | undefined },
): Repair | undefined {
  const { items } = (place.parentSchema ?? {}) as JsonSchema
  if (type !== 'array') return undefined
  const entry = place.isEntry ? undefined : asEntry(data, formsOf([items], place.root))
  if (entry === undefined) return DOUBTFUL
  return { value: [entry], what: 'one value → list of one', isTentative: true }
}

/** The value as an entry; `undefined` if it could be something else, such as a list in another notation. */
function asEntry(data: unknown, forms: readonly Form[]): unknown {
  const takes = (...types: string[]) =>
    forms.some(({ schema: { type } }) => [type].flat().some(one => types.includes(String(one))))
  if (typeof data === 'number') return takes('number', 'integer') ? data : undefined
  if (typeof data === 'boolean') return takes('boolean') ? data : undefined
  if (isRecord(data)) return isEntryObject(data, forms) ? data : undefined
  if (typeof data !== 'string') return undefined
  const choices = forms.flatMap(({ schema }) =>
    [schema.enum ?? [], 'const' in schema ? schema.const : []].flat(),
  )
  if (choices.length > 0) return choices.includes(data) ? data : toChoice(data, choices)?.value
  if (takes('string')) return isOneText(data, forms) ? data : undefined
  if (takes('number', 'integer')) return toNumber(data, takes('number') ? 'number' : 'integer')?.value
  return takes('boolean') ? toBoolean(data)?.value : undefined
}

/** An object is an entry if it has the names of one; otherwise it is a wrapper, or a list by index. */
function isEntryObject(data: Record<string, unknown>, forms: readonly Form[]): boolean {
  const names = Object.keys(data)
  const known = namesIn(forms)
  return names.length > 0 && names.every(name => known.has(name) && !/^\d+$/.test(name))
}

/** Texts that mean "no value" rather than themselves. */
const NO_VALUE = new Set('none null nil undefined nan na empty void nothing unknown true false'.split(' '))
const ONE_WORD = /^[\p{L}\p{N}_@#][\p{L}\p{M}\p{N}_@#.-]*$/u
/** Adds the characters of dates, times and addresses. */
const ONE_FORMATTED = /^[\p{L}\p{N}_@#.:+-]+$/u
const ONE_URL = /^[^\s,;|[\](){}<>"'`\\]+$/

/** Whether a text is certainly a single value: one word, or a formatted text without a separator. */
function isOneText(text: string, forms: readonly Form[]): boolean {
  if (NO_VALUE.has(text.toLowerCase().replaceAll('.', ''))) return false
  const format = forms.map(({ schema }) => schema.format).find(one => typeof one === 'string')
  if (format === undefined) return ONE_WORD.test(text)
  if (!/^[ui]ri/.test(String(format))) return ONE_FORMATTED.test(text)
  return ONE_URL.test(text) && text.indexOf('://') === text.lastIndexOf('://')
}
