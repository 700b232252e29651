import type { ErrorObject } from 'ajv'
import { isObjectLike } from '../runtime/guards.ts'
import { pointerParts } from '../schema/explain-errors.ts'
import type { Arguments } from './check-arguments.ts'
import { exactNumber } from './exact-number.ts'
import { change } from './extra-arguments.ts'
import { parseJsonText } from './json-text.ts'

/** Beyond this the arguments are not slightly wrong, they are something else. */
const MAX_ERRORS = 1_000
/** So many candidates are weighed one by one; more than that are taken together. */
const MAX_WEIGHED = 12

interface Repair {
  value: unknown
  /** `numeric text → number` */
  what: string
}

export interface Repaired {
  args: Arguments
  repairs: string[]
}

type FindErrors = (trial: Arguments) => readonly ErrorObject[]

const ABSENT = Symbol('absent')

/**
 * One round of repairs, led by what the validation found. Of several the one that leaves the fewest errors goes first,
 * so that nothing is changed for the sake of an alternative that was not meant. Gives `undefined` if there is nothing
 * certain to do. `findErrors` validates a trial.
 */
export function repairArguments(
  args: Arguments,
  errors: readonly ErrorObject[],
  findErrors: FindErrors,
): Repaired | undefined {
  if (errors.length > MAX_ERRORS) return undefined
  const candidates = [...byPlace(errors)].flatMap(([pointer, here]) => {
    const repair = onlyRepair(here)
    return repair ? [{ path: pointerParts(pointer), repair }] : []
  })
  const tried = candidates.flatMap(candidate => apply(args, candidate, findErrors) ?? [])
  if (tried.length <= MAX_WEIGHED) return fewestErrors(tried, findErrors)
  return candidates.reduce<Repaired>(
    (done, candidate) => {
      const next = apply(done.args, candidate, findErrors)
      return next ? { args: next.args, repairs: [...done.repairs, ...next.repairs] } : done
    },
    { args, repairs: [] },
  )
}

interface Candidate {
  path: string[]
  repair: Repair
}

function apply(args: Arguments, { path, repair }: Candidate, findErrors: FindErrors): Repaired | undefined {
  const repairs = [`${path.join('.')}: ${repair.what}`]
  if (repair.value !== ABSENT) return { args: change(args, path, () => repair.value), repairs }
  const trial = leaveOut(args, path)
  return trial && !isMissed(path, findErrors(trial)) ? { args: trial, repairs } : undefined
}

function fewestErrors(tried: readonly Repaired[], findErrors: FindErrors): Repaired | undefined {
  const [best] = tried
    .map(repaired => ({ repaired, left: findErrors(repaired.args).length }))
    .sort((a, b) => a.left - b.left)
  return best?.repaired
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
  return onlyOf(errors.map(repairFor))
}

function same(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b)
}

function repairFor(error: ErrorObject): Repair | undefined {
  const { keyword, params, data } = error
  if (data === null && (keyword === 'type' || keyword === 'enum'))
    return { value: ABSENT, what: 'null → left out' }
  if (keyword === 'type') return onlyOf([params.type].flat().map(type => toType(data, type)))
  if (keyword === 'enum') return toChoice(data, params.allowedValues)
  if (keyword === 'const') return toChoice(data, [params.allowedValue])
  return undefined
}

/** One repair, or several that come to the same. */
function onlyOf(repairs: (Repair | undefined)[]): Repair | undefined {
  const [first, ...others] = repairs.filter(repair => repair !== undefined)
  return first && others.every(other => same(other.value, first.value)) ? first : undefined
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
      return fromJson(data, Array.isArray, 'list') ?? toList(data)
    default:
      return undefined
  }
}

/** Text that begins like a list is a broken list, and no entry of one. */
function toList(data: unknown): Repair | undefined {
  if (typeof data === 'string' && data.trimStart().startsWith('[')) return undefined
  return { value: [data], what: 'one value → list of one' }
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
