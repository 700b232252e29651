import type { ErrorObject } from 'ajv'
import { grouped } from '../runtime/grouped.ts'
import { valueAt } from '../runtime/guards.ts'
import { pointerParts } from '../schema/explain-errors.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { changed, withoutKeys } from './change-arguments.ts'
import type { Arguments } from './check-arguments.ts'
import { ABSENT, onlyOf, type Repair, repairFor } from './repair-value.ts'

/** With more errors, the arguments are not slightly wrong but something else. */
const MAX_ERRORS = 1_000
/** How many candidates are weighed one by one. */
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
 * One round of repairs, guided by the validation errors. If there are alternatives, only the repair that leaves the
 * fewest errors is made, so that nothing is changed for an alternative that was not meant; otherwise all are made
 * together. Returns `undefined` if no repair is certain.
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

/** Each candidate separately; if there are many, all removals count as one. */
function weighable(candidates: readonly Candidate[]): Candidate[][] {
  if (candidates.length <= MAX_WEIGHED) return candidates.map(candidate => [candidate])
  const absent = candidates.filter(({ repair }) => repair.value === ABSENT)
  const others = candidates.filter(({ repair }) => repair.value !== ABSENT)
  return [absent, ...others.slice(0, MAX_WEIGHED).map(candidate => [candidate])]
}

/** Makes the repairs, then reverts those that turn out wrong: a removed value is required, or a new one does not fit. */
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

/** Every place with an error at or below it, and the places of missing properties. */
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
