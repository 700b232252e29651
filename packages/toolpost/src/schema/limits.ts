import { setTimeout as pause } from 'node:timers/promises'
import { createContext, Script } from 'node:vm'
import { isObjectLike, isRecord } from '../util/guards.ts'
import { appliedSchemas, type JsonSchema, refTarget } from './json-schema.ts'

const MAX_SCHEMA_KB = 256
const MAX_LEVELS = 64
const MAX_SUBSCHEMAS = 1_000
const MAX_PATTERN_CHARS = 1_000
const MAX_WORK_MS = 200
/** With less processor time than this share of the limit, the machine was busy, not the work slow. */
const STARVED_SHARE = 0.75
const MAX_ATTEMPTS = 5

/** Why a schema is too large to be read; `undefined` if it is not. A part counts wherever it appears. */
export function sizeProblem(schema: object): string | undefined {
  let chars = 0
  const problemIn = (value: object, above: readonly object[]): string | undefined => {
    if (above.includes(value)) return 'it contains itself; write recursion as a $ref'
    if (above.length >= MAX_LEVELS) return `it is nested more than ${MAX_LEVELS} levels deep`
    const path = [...above, value]
    for (const key of Object.keys(value)) {
      const inner = (value as JsonSchema)[key]
      chars += key.length + 4 + (typeof inner === 'string' ? inner.length : 0)
      if (chars > MAX_SCHEMA_KB * 1_000) return `it is larger than ${MAX_SCHEMA_KB} kB`
      const problem = isObjectLike(inner) ? problemIn(inner, path) : undefined
      if (problem) return problem
    }
    return undefined
  }
  return problemIn(schema, [])
}

/** A schema as plain data that any program can read; `undefined` if it is too large, missing or unreadable. */
export function plainSchema(read: () => JsonSchema | undefined): JsonSchema | undefined {
  try {
    const schema = read()
    return schema && !sizeProblem(schema) ? JSON.parse(JSON.stringify(schema)) : undefined
  } catch {
    return undefined
  }
}

/** Why a schema is not compiled; `undefined` if it may be. */
export function schemaProblem(root: JsonSchema, maxSubschemas = MAX_SUBSCHEMAS): string | undefined {
  const problem = sizeProblem(root)
  if (problem) return problem
  const all = new Set([root])
  // Schemas added during the loop are visited too.
  for (const schema of all) {
    if (all.size > maxSubschemas) return `it has more than ${maxSubschemas} subschemas`
    if (patternsOf(schema).some(({ length }) => length > MAX_PATTERN_CHARS))
      return `one of its patterns is longer than ${MAX_PATTERN_CHARS} characters`
    const { $defs, definitions } = schema
    const named = [$defs, definitions].filter(isRecord).flatMap(Object.values).filter(isRecord)
    for (const inner of [...appliedSchemas(schema, root), ...named]) all.add(inner)
  }
  return undefined
}

function patternsOf({ pattern, patternProperties }: JsonSchema): string[] {
  const names = isRecord(patternProperties) ? Object.keys(patternProperties) : []
  return typeof pattern === 'string' ? [pattern, ...names] : names
}

/** How many checks one value can take; infinite if the schema is recursive, or if that cannot be told. */
export function checksPerValue(root: JsonSchema): number {
  const known = new Map<JsonSchema, number>()
  const visit = (schema: JsonSchema): number => {
    // Provisional: meeting it again inside itself means that it is recursive.
    if (!known.has(schema)) known.set(schema, Number.POSITIVE_INFINITY)
    else return known.get(schema) as number
    const inner = appliedSchemas(schema, root)
    const checks = inner.reduce((sum, each) => sum + visit(each), ownChecks(schema, root))
    known.set(schema, checks)
    return checks
  }
  return visit(root)
}

function ownChecks(schema: JsonSchema, root: JsonSchema): number {
  const { enum: choices, required, $ref, $dynamicRef, $recursiveRef, uniqueItems } = schema
  const isUnknown = $ref !== undefined && refTarget(schema, root) === undefined
  // `uniqueItems` compares every pair of entries.
  if (isUnknown || $dynamicRef || $recursiveRef || uniqueItems) return Number.POSITIVE_INFINITY
  let checks = 1 + [choices, required].flat().length
  // A repeat counts as often as it repeats: the pattern engine writes it out.
  for (const pattern of patternsOf(schema))
    for (const repeat of [pattern.length, ...(pattern.match(/\d{1,4}(?=,?\})/g) ?? [])])
      checks += Number(repeat)
  return checks
}

/** Work that was stopped at the time limit. */
export class TimeLimitError extends Error {}

const context = createContext({ work: undefined as unknown })
const script = new Script('work()')

/**
 * Runs synchronous work, and stops it with a TimeLimitError after 200 ms, whatever it is doing; then calls `reset`. On a
 * machine too busy to give this process most of that time, the work is repeated.
 */
export function withTimeLimit<T>(work: () => T, reset = () => {}): T {
  for (let attempt = 1; ; attempt++) {
    const before = process.cpuUsage()
    context.work = work
    try {
      return script.runInContext(context, { timeout: MAX_WORK_MS })
    } catch (error) {
      if ((error as { code?: unknown } | null)?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
      reset()
      const { user, system } = process.cpuUsage(before)
      const isStarved = (user + system) / 1_000 < MAX_WORK_MS * STARVED_SHARE
      if (!isStarved || attempt === MAX_ATTEMPTS) throw new TimeLimitError(`more than ${MAX_WORK_MS} ms`)
    } finally {
      context.work = undefined
    }
  }
}

let queue: Promise<unknown> = Promise.resolve()

/** Like `withTimeLimit`, one after the other. After work that was stopped, there is as much time for all other calls. */
export function inTurn<T>(work: () => T, reset?: () => void): Promise<T> {
  const result = queue.then(() => withTimeLimit(work, reset))
  queue = result.catch(error => (error instanceof TimeLimitError ? pause(MAX_WORK_MS) : undefined))
  return result
}
