import type { ErrorObject } from 'ajv'
import { grouped } from '../runtime/grouped.ts'
import { pointerParts } from '../schema/explain-errors.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { changed, withoutKeys } from './change-arguments.ts'
import type { Arguments } from './check-arguments.ts'
import { ABSENT, onlyOf, type Repair, repairFor } from './repair-value.ts'

/** Beyond this the arguments are not slightly wrong, they are something else. */
const MAX_ERRORS = 1_000
/** So many candidates are weighed one by one. */
const MAX_WEIGHED = 12

export interface Repaired {
  args: Arguments
  repairs: string[]
}

interface Candidate {
  pointer: string
  repair: Repair
}

export interface RepairOptions {
  root: JsonSchema
  /** Validates a trial. */
  findErrors(trial: Arguments): readonly ErrorObject[]
}

/**
 * One round of repairs, led by what the validation found. If there are alternatives, the one repair that leaves the
 * fewest errors goes first, so that nothing is changed for the sake of an alternative that was not meant; else all are
 * made at once. Returns `undefined` if there is nothing certain to do.
 */
export function repairArguments(
  args: Arguments,
  errors: readonly ErrorObject[],
  options: RepairOptions,
): Repaired | undefined {
  if (errors.length > MAX_ERRORS) return undefined
  const candidates = [...grouped(errors, ({ instancePath }) => instancePath)].flatMap(([pointer, here]) => {
    if (pointer === '') return []
    const isEntry = Array.isArray(valueAt(args, pointerParts(pointer).slice(0, -1)))
    const repair = onlyOf(here.map(error => repairFor(error, { root: options.root, isEntry })))
    return repair && !repair.isDoubtful ? [{ pointer, repair }] : []
  })
  const hasAlternatives = errors.some(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')
  const groups = hasAlternatives ? weighable(candidates) : [candidates]
  const tried = groups.flatMap(group => tryOut(args, group, options) ?? [])
  return tried.sort((a, b) => a.left - b.left)[0]
}

/** Each candidate for itself; if there are many, what is left out is left out together. */
function weighable(candidates: readonly Candidate[]): Candidate[][] {
  if (candidates.length <= MAX_WEIGHED) return candidates.map(candidate => [candidate])
  const absent = candidates.filter(({ repair }) => repair.value === ABSENT)
  const others = candidates.filter(({ repair }) => repair.value !== ABSENT)
  return [absent, ...others.slice(0, MAX_WEIGHED).map(candidate => [candidate])]
}

/** Makes the repairs, then takes back those that turn out to be wrong: what was left out is missed, what was made does not fit. */
function tryOut(
  args: Arguments,
  candidates: readonly Candidate[],
  { findErrors }: RepairOptions,
): (Repaired & { left: number }) | undefined {
  const all = repaired(args, candidates)
  const errors = findErrors(all)
  const broken = brokenPlaces(errors)
  const kept = candidates.filter(({ pointer, repair }) => !(repair.isTentative && broken.has(pointer)))
  if (kept.length === 0) return undefined
  const isWhole = kept.length === candidates.length
  const trial = isWhole ? all : repaired(args, kept)
  const left = isWhole ? errors.length : findErrors(trial).length
  const repairs = kept.map(({ pointer, repair }) => `${pointerParts(pointer).join('.')}: ${repair.what}`)
  return { args: trial, repairs, left }
}

function repaired(args: Arguments, candidates: readonly Candidate[]): Arguments {
  const keys = new Map<string, Set<string>>()
  const values = new Map<string, () => unknown>()
  for (const { pointer, repair } of candidates) {
    if (repair.value !== ABSENT) values.set(pointer, () => repair.value)
    else {
      const parent = pointer.slice(0, pointer.lastIndexOf('/'))
      keys.set(parent, (keys.get(parent) ?? new Set()).add(pointerParts(pointer).at(-1) as string))
    }
  }
  return withoutKeys(changed(args, values), keys)
}

/** The places that errors are at or inside of, and those of properties that are missed. */
function brokenPlaces(errors: readonly ErrorObject[]): Set<string> {
  const places = new Set<string>()
  for (const { instancePath, keyword, params } of errors) {
    if (keyword === 'required') places.add(`${instancePath}/${escaped(params.missingProperty)}`)
    for (let end = instancePath.length; end > 0; end = instancePath.lastIndexOf('/', end - 1))
      places.add(instancePath.slice(0, end))
  }
  return places
}

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

function valueAt(args: Arguments, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, part) => (value as Arguments | undefined)?.[part], args)
}
