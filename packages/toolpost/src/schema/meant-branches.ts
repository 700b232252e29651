import type { ErrorObject } from 'ajv'
import { grouped } from '../runtime/grouped.ts'
import { isObjectLike } from '../runtime/guards.ts'
import { type JsonSchema, refTarget, resolveRef } from './json-schema.ts'

/** Subschemas searched per branch. */
const MAX_PARTS = 2_000

/**
 * If `anyOf` or `oneOf` fails, Ajv reports every branch. This keeps only the errors of the branch that was meant, or
 * the list of types that would fit.
 */
export function withoutBranches(errors: readonly ErrorObject[], root: JsonSchema): ErrorObject[] {
  const parts = new BranchParts(root)
  let left = errors.filter(error => error.keyword !== 'if')
  const alternatives = left
    .filter(error => error.keyword === 'anyOf' || error.keyword === 'oneOf')
    .sort((a, b) => depthOf(b) - depthOf(a))
  for (const alternative of alternatives) {
    const branches = grouped(left, error => parts.branchOf(error, alternative))
    branches.delete(undefined)
    if (branches.size === 0) continue
    const inside = new Set([...branches.values()].flat())
    left = left.filter(error => error !== alternative && !inside.has(error))
    left.push(...summary(alternative, [...branches.values()]))
  }
  return left
}

/** Sorts nested alternatives first. */
function depthOf({ instancePath, schemaPath }: ErrorObject): number {
  return instancePath.split('/').length * 10_000 + schemaPath.length
}

/**
 * Finds the branch an error comes from. The schema path cannot tell, because it starts over inside a `$ref`, so the
 * reporting schema is looked up among the subschemas of each branch.
 */
class BranchParts {
  readonly #root: JsonSchema
  readonly #own = new Map<unknown, ReadonlySet<unknown>>()
  readonly #all = new Map<unknown, ReadonlySet<unknown>>()

  constructor(root: JsonSchema) {
    this.#root = root
  }

  branchOf(error: ErrorObject, alternative: ErrorObject): unknown {
    const { instancePath: path } = error
    const { instancePath: place, schema } = alternative
    if (error === alternative || !isWithin(path, place) || !Array.isArray(schema)) return undefined
    const reporter = error.parentSchema
    const own = schema.find(branch => this.#ownParts(branch).has(reporter))
    // A recursive branch can reach any subschema, but only deeper in the value.
    return own ?? (path === place ? undefined : schema.find(branch => this.#allParts(branch).has(reporter)))
  }

  #ownParts(branch: unknown): ReadonlySet<unknown> {
    const before = this.#own.get(branch)
    if (before) return before
    const parts = partsOf([branch, resolveRef(branch, this.#root)], part => Object.values(part))
    this.#own.set(branch, parts)
    return parts
  }

  #allParts(branch: unknown): ReadonlySet<unknown> {
    const before = this.#all.get(branch)
    if (before) return before
    const parts = partsOf([branch], part => [...Object.values(part), refTarget(part, this.#root)])
    this.#all.set(branch, parts)
    return parts
  }
}

function partsOf(first: unknown[], inside: (part: JsonSchema) => unknown[]): Set<unknown> {
  const parts = new Set<unknown>()
  const left = [...first]
  while (left.length > 0 && parts.size < MAX_PARTS) {
    const part = left.pop()
    if (!isObjectLike(part) || parts.has(part)) continue
    parts.add(part)
    left.push(...inside(part as JsonSchema))
  }
  return parts
}

function isWithin(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`)
}

function summary(alternative: ErrorObject, branches: ErrorObject[][]): ErrorObject[] {
  const meant = branches.filter(branch => !branch.some(error => rulesOut(alternative, error)))
  const best = meant.sort((a, b) => a.length - b.length)[0]
  if (best) return best
  const inside = branches.flat()
  const types = inside.filter(({ keyword }) => keyword === 'type')
  if (types.length === inside.length && types.every(error => isAtPlace(alternative, error)))
    return [{ ...alternative, keyword: 'type', params: { type: typesOf(types) } }]
  return choiceOf(inside) ?? [{ ...alternative, message: 'must match one of the allowed forms' }]
}

/** Branches that differ by a constant are an enum: `'kind' must be one of: circle, box`. */
function choiceOf(errors: readonly ErrorObject[]): ErrorObject[] | undefined {
  const [first, ...others] = errors.filter(({ keyword }) => keyword === 'const')
  if (!first || others.length === 0 || others.some(error => !isAtPlace(first, error))) return undefined
  const allowedValues = [first, ...others].map(({ params }) => params.allowedValue)
  return [{ ...first, keyword: 'enum', params: { allowedValues } }]
}

function typesOf(errors: readonly ErrorObject[]): string[] {
  return [...new Set(errors.flatMap(({ params }) => [params.type].flat()))]
}

/** A branch with a different type or constant was not meant. */
function rulesOut(alternative: ErrorObject, error: ErrorObject): boolean {
  return error.keyword === 'const' || (error.keyword === 'type' && isAtPlace(alternative, error))
}

function isAtPlace(alternative: ErrorObject, error: ErrorObject): boolean {
  return error.instancePath === alternative.instancePath
}
