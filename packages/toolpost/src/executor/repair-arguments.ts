import type { ErrorObject } from 'ajv'
import { isObjectLike } from '../tools/json-schema.ts'
import type { Arguments } from './check-arguments.ts'
import { exactNumber } from './exact-number.ts'
import { change } from './extra-arguments.ts'
import { parseJsonText } from './json-text.ts'
import { pointerParts } from './validation/explain-errors.ts'

/** Beyond this the arguments are not slightly wrong, they are something else. */
const MAX_REPAIRS = 1_000

interface Repair {
  value: unknown
  /** `numeric text → number` */
  what: string
}

export interface Repaired {
  args: Arguments
  repairs: string[]
}

const ABSENT = Symbol('absent')

/**
 * One round of repairs, led by what the validation found: a value that is valid is never touched, and one that
 * could be meant in two ways stays as it is. Gives `undefined` if there is nothing certain to do.
 * `findErrors` validates a trial, to see whether an argument that is null may be left out.
 */
export function repairArguments(
  args: Arguments,
  errors: readonly ErrorObject[],
  findErrors: (trial: Arguments) => readonly ErrorObject[],
): Repaired | undefined {
  if (errors.length > MAX_REPAIRS) return undefined
  let repaired = args
  const repairs: string[] = []
  for (const [pointer, errorsHere] of byPlace(errors)) {
    const repair = onlyRepair(errorsHere)
    if (!repair) continue
    const path = pointerParts(pointer)
    if (repair.value === ABSENT) {
      const trial = leaveOut(repaired, path)
      if (!trial || isMissed(path, findErrors(trial))) continue
      repaired = trial
    } else {
      repaired = change(repaired, path, () => repair.value)
    }
    repairs.push(`${path.join('.')}: ${repair.what}`)
  }
  return repairs.length > 0 ? { args: repaired, repairs } : undefined
}

function byPlace(errors: readonly ErrorObject[]): Map<string, ErrorObject[]> {
  const places = new Map<string, ErrorObject[]>()
  for (const error of errors) {
    if (error.instancePath === '') continue
    places.set(error.instancePath, [...(places.get(error.instancePath) ?? []), error])
  }
  return places
}

/** The repair that all who know one agree on. */
function onlyRepair(errors: readonly ErrorObject[]): Repair | undefined {
  const repairs = errors.map(repairFor).filter(repair => repair !== undefined)
  const [first] = repairs
  return first && repairs.every(repair => same(repair.value, first.value)) ? first : undefined
}

function same(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b)
}

function repairFor(error: ErrorObject): Repair | undefined {
  const { keyword, params, data } = error
  if (data === null && keyword === 'type') return { value: ABSENT, what: 'null → left out' }
  if (keyword === 'type') return onlyOf([params.type].flat().map(type => toType(data, type)))
  if (keyword === 'enum') return toChoice(data, params.allowedValues)
  if (keyword === 'const') return toChoice(data, [params.allowedValue])
  return undefined
}

function onlyOf(repairs: (Repair | undefined)[]): Repair | undefined {
  const known = repairs.filter(repair => repair !== undefined)
  return known.length === 1 ? known[0] : undefined
}

function toType(data: unknown, type: string): Repair | undefined {
  switch (type) {
    case 'number':
    case 'integer':
      return toNumber(data, type)
    case 'boolean':
      return toBoolean(data)
    case 'object':
      return fromJson(data, value => isObjectLike(value) && !Array.isArray(value), 'object')
    case 'array':
      return fromJson(data, Array.isArray, 'list') ?? { value: [data], what: 'one value → list of one' }
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

function fromJson(data: unknown, fits: (value: unknown) => boolean, what: string): Repair | undefined {
  const value = typeof data === 'string' ? parseJsonText(data) : undefined
  return value !== undefined && fits(value) ? { value, what: `JSON text → ${what}` } : undefined
}

/** The one allowed value that differs from the given text only in case and blanks, or in being no text. */
function toChoice(data: unknown, choices: readonly unknown[]): Repair | undefined {
  if (typeof data !== 'string') return undefined
  const wanted = folded(data)
  const fitting = choices.filter(choice =>
    typeof choice === 'string'
      ? folded(choice) === wanted
      : typeof choice === 'number' && exactNumber(data) === choice,
  )
  return fitting.length === 1
    ? { value: fitting[0], what: `text → ${JSON.stringify(fitting[0])}` }
    : undefined
}

function folded(text: string): string {
  return text.replace(/\s+/g, '').toLowerCase()
}

/** A copy without the argument; `undefined` in a list, where a hole would move the others. */
function leaveOut(args: Arguments, path: readonly string[]): Arguments | undefined {
  const key = path.at(-1) as string
  let inList = false
  const rest = change(args, path.slice(0, -1), parent => {
    inList = Array.isArray(parent)
    const { [key]: _, ...others } = parent as Arguments
    return others
  })
  return inList ? undefined : rest
}

function isMissed(path: readonly string[], errors: readonly ErrorObject[]): boolean {
  const parent = path.slice(0, -1).join('/')
  return errors.some(
    ({ keyword, params, instancePath }) =>
      keyword === 'required' &&
      params.missingProperty === path.at(-1) &&
      pointerParts(instancePath).join('/') === parent,
  )
}
