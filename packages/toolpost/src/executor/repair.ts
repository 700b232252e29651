import type { ErrorObject } from 'ajv'
import { grouped } from '../runtime/grouped.ts'
import { isRecord, valueAt } from '../runtime/guards.ts'
import { hasTwoReadings, pointerParts } from '../schema/explain.ts'
import { declaredNames, type JsonSchema, withBranches } from '../schema/json-schema.ts'
import { exactNumber, parseJsonText } from './json-text.ts'

export type Arguments = Record<string, unknown>

/** With more errors, the arguments are not slightly wrong but something else. */
const MAX_ERRORS = 1_000
/** How many candidates are weighed one by one. */
const MAX_WEIGHED = 12

interface Candidate {
  pointer: string
  repair: Repair
}

interface Repaired {
  args: Arguments
  repairs: string[]
}

interface RepairOptions {
  root: JsonSchema
  /** Validates a trial. */
  findErrors(trial: Arguments): readonly ErrorObject[]
}

/**
 * One round of repairs, guided by the validation errors. If there are alternatives, only the repair that leaves the
 * fewest errors is made, so that nothing is changed for an alternative that was not meant; otherwise all are made
 * together. Returns `undefined` if no repair is certain.
 */
export function repairArguments(
  args: Arguments,
  errors: readonly ErrorObject[],
  { root, findErrors }: RepairOptions,
): Repaired | undefined {
  if (errors.length > MAX_ERRORS) return undefined
  const candidates = [...grouped(errors, ({ instancePath }) => instancePath)].flatMap(([pointer, here]) => {
    if (pointer === '') return []
    const isEntry = Array.isArray(valueAt(args, pointerParts(pointer).slice(0, -1)))
    const repair = onlyOf(here.map(error => repairFor(error, { root, isEntry })))
    return repair && !repair.isDoubtful ? [{ pointer, repair }] : []
  })
  const hasAlternatives = errors.some(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')
  const tried = (hasAlternatives ? oneByOne(candidates) : [candidates]).flatMap(
    group => tryOut(args, group, findErrors) ?? [],
  )
  return tried.sort((a, b) => a.left - b.left)[0]
}

/** Each candidate separately; all removals count as one. */
function oneByOne(candidates: readonly Candidate[]): Candidate[][] {
  const isRemoval = ({ repair }: Candidate) => repair.value === ABSENT
  const others = candidates.filter(candidate => !isRemoval(candidate)).slice(0, MAX_WEIGHED)
  return [candidates.filter(isRemoval), ...others.map(candidate => [candidate])]
}

/** Makes the repairs, then reverts those that turn out wrong: a removed value is required, or a new one does not fit. */
function tryOut(
  args: Arguments,
  candidates: readonly Candidate[],
  findErrors: RepairOptions['findErrors'],
): (Repaired & { left: number }) | undefined {
  let trial = repaired(args, candidates)
  let errors = findErrors(trial)
  const broken = brokenPlaces(errors)
  const kept = candidates.filter(({ pointer, repair }) => !(repair.isTentative && broken.has(pointer)))
  if (kept.length === 0) return undefined
  if (kept.length < candidates.length) {
    trial = repaired(args, kept)
    errors = findErrors(trial)
  }
  const repairs = kept.map(({ pointer, repair }) => `${pointerParts(pointer).join('.')}: ${repair.what}`)
  return { args: trial, repairs, left: errors.length }
}

function repaired(args: Arguments, candidates: readonly Candidate[]): Arguments {
  return changed(args, new Map(candidates.map(({ pointer, repair }) => [pointer, repair.value])))
}

/** Every place with an error at or below it, and the places of missing properties. */
function brokenPlaces(errors: readonly ErrorObject[]): Set<string> {
  const places = new Set<string>()
  for (const { instancePath, keyword, params } of errors) {
    if (keyword === 'required') places.add(pointerTo(instancePath, params.missingProperty))
    for (let end = instancePath.length; end > 0; end = instancePath.lastIndexOf('/', end - 1))
      places.add(instancePath.slice(0, end))
  }
  return places
}

/** The JSON pointer of a property. */
export function pointerTo(place: string, name: string): string {
  return `${place}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** New values by JSON pointer; `ABSENT` removes one. */
export type Changes = ReadonlyMap<string, unknown>

/** The value of an argument to be removed. */
export const ABSENT = Symbol('absent')

/** A copy of `args` with all changes applied; parts without changes are shared with the original. */
export function changed(args: Arguments, changes: Changes): Arguments {
  const copies = new Set<unknown>()
  const copyOf = (value: unknown): Arguments => {
    if (copies.has(value)) return value as Arguments
    const copy = Array.isArray(value) ? [...value] : { ...(value as Arguments) }
    copies.add(copy)
    return copy as Arguments
  }
  const root = copyOf(args)
  // A part is changed before the whole that it belongs to.
  for (const [pointer, value] of [...changes].sort(([a], [b]) => b.length - a.length)) {
    const path = pointerParts(pointer)
    const key = path.pop() as string
    let parent = root
    for (const part of path) {
      parent[part] = copyOf(parent[part])
      parent = parent[part] as Arguments
    }
    if (value === ABSENT) delete parent[key]
    else parent[key] = value
  }
  return root
}

interface Repair {
  value: unknown
  /** `numeric text → number` */
  what: string
  /** Correct only if no error is left at its place. */
  isTentative?: boolean
  /** Never made; only means that others are not certain. */
  isDoubtful?: boolean
}

interface Place {
  root: JsonSchema
  /** Whether the value is an entry of a list. */
  isEntry: boolean
}

/** The repair for an error, if it is certain. */
function repairFor({ keyword, params, data, parentSchema }: ErrorObject, place: Place): Repair | undefined {
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
function onlyOf(repairs: (Repair | undefined)[]): Repair | undefined {
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
  const value = typeof data === 'string' && !hasTwoReadings(data) ? exactNumber(data) : undefined
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
  const entry = place.isEntry ? undefined : asEntry(data, withBranches([items], place.root))
  if (entry === undefined) return DOUBTFUL
  return { value: [entry], what: 'one value → list of one', isTentative: true }
}

/** The value as an entry; `undefined` if it could be something else, such as a list in another notation. */
function asEntry(data: unknown, schemas: readonly JsonSchema[]): unknown {
  const takes = (...types: string[]) =>
    schemas.some(({ type }) => [type].flat().some(one => types.includes(String(one))))
  if (typeof data === 'number') return takes('number', 'integer') ? data : undefined
  if (typeof data === 'boolean') return takes('boolean') ? data : undefined
  if (isRecord(data)) return isEntryObject(data, schemas) ? data : undefined
  if (typeof data !== 'string') return undefined
  const choices = schemas.flatMap(schema => [schema.enum ?? [], 'const' in schema ? schema.const : []].flat())
  if (choices.length > 0) return choices.includes(data) ? data : toChoice(data, choices)?.value
  if (takes('string')) return isOneText(data, schemas) ? data : undefined
  if (takes('number', 'integer')) return toNumber(data, takes('number') ? 'number' : 'integer')?.value
  return takes('boolean') ? toBoolean(data)?.value : undefined
}

/** An object is an entry if it has the names of one; otherwise it is a wrapper, or a list by index. */
function isEntryObject(data: Record<string, unknown>, schemas: readonly JsonSchema[]): boolean {
  const names = Object.keys(data)
  const known = declaredNames(schemas)
  return names.length > 0 && names.every(name => known.has(name) && !/^\d+$/.test(name))
}

/** Texts that mean "no value" rather than themselves. */
const NO_VALUE = new Set('none null nil undefined nan na empty void nothing unknown true false'.split(' '))
const ONE_WORD = /^[\p{L}\p{N}_@#][\p{L}\p{M}\p{N}_@#.-]*$/u
/** Adds the characters of dates, times and addresses. */
const ONE_FORMATTED = /^[\p{L}\p{N}_@#.:+-]+$/u
const ONE_URL = /^[^\s,;|[\](){}<>"'`\\]+$/

/** Whether a text is certainly a single value: one word, or a formatted text without a separator. */
function isOneText(text: string, schemas: readonly JsonSchema[]): boolean {
  if (NO_VALUE.has(text.toLowerCase().replaceAll('.', ''))) return false
  const format = schemas.map(({ format }) => format).find(one => typeof one === 'string')
  if (format === undefined) return ONE_WORD.test(text)
  if (!/^[ui]ri/.test(String(format))) return ONE_FORMATTED.test(text)
  return ONE_URL.test(text) && text.indexOf('://') === text.lastIndexOf('://')
}
