/*
 * Estimates the cost of compiling a schema and validating with it, so that expensive work is done in another process.
 * The unit is one validation of a small schema, about a microsecond if it fails.
 */
import { isObjectLike, isRecord } from '../runtime/guards.ts'
import { shownNames } from '../runtime/names-of.ts'
import { type JsonSchema, refTarget } from './json-schema.ts'
import { type Form, formOf, formsOfProperty } from './walk-schema.ts'

/** Ajv takes about 0.3 ms per schema, and re2js about as long per pattern. */
const MAX_COMPILED_HERE = 150
/** About 20 ms if everything is invalid, 1 ms if everything is valid. */
const MAX_WORK_HERE = 20_000
/** Arguments that need repairs are validated repeatedly. */
const REPAIR_FACTOR = 8
/** Below this, validation is never expensive, whatever the arguments. */
export const QUICK_WORK = MAX_WORK_HERE / REPAIR_FACTOR

const MAX_STEPS = 4_000
const MAX_DEPTH = 1_000
const UNITS_PER_FORMAT_CHAR = 0.1
/** Keywords whose lists are plain data and cost next to nothing. */
const DATA = new Set(['enum', 'examples', 'required'])

/** Whether a schema takes too long to compile on the event loop. */
export function isExpensiveToCompile(schema: JsonSchema): boolean {
  const seen = new Set<object>([schema])
  let units = 0
  for (const part of seen) {
    if (isOutOfSight(part as JsonSchema, schema)) return true
    units += 1 + patternUnits(part as JsonSchema) + namesIn(part)
    // Each costs at least one unit: most of 10,000 properties need not be visited.
    if (Math.max(units, seen.size) > 3 * MAX_COMPILED_HERE) return true
    for (const key in part) {
      const inner = (part as JsonSchema)[key]
      if (isObjectLike(inner) && (!DATA.has(key) || isRecord(inner))) seen.add(inner)
      if (seen.size > 3 * MAX_COMPILED_HERE) return true
    }
  }
  return units > MAX_COMPILED_HERE
}

/** Whether a schema refers to something this estimate cannot see: through another base, or dynamically. */
function isOutOfSight(part: JsonSchema, root: JsonSchema): boolean {
  const { $ref, $id, $dynamicRef, $recursiveRef } = part
  if (typeof $dynamicRef === 'string' || typeof $recursiveRef === 'string') return true
  if (part !== root && typeof $id === 'string') return true
  return typeof $ref === 'string' && refTarget(part, root) === undefined
}

/** Ajv generates code for every name in `dependentRequired`. */
function namesIn(part: object): number {
  return Array.isArray(part) ? part.filter(entry => typeof entry === 'string').length : 0
}

/** The cost of compiling a schema's patterns: the engine expands repeats. */
function patternUnits({ pattern, patternProperties }: JsonSchema): number {
  const patterns = isRecord(patternProperties) ? Object.keys(patternProperties) : []
  if (typeof pattern === 'string') patterns.push(pattern)
  return patterns.reduce((units, text) => units + 2 + statesOf(text) / 300 + 20 * unicodeClasses(text), 0)
}

function unicodeClasses(pattern: string): number {
  return pattern.match(/\\p\{/gi)?.length ?? 0
}

/** Roughly how many states the linear engine has for a pattern: each is checked for each character. */
function statesOf(pattern: unknown): number {
  if (typeof pattern !== 'string') return 0
  const repeats = pattern.match(/\d{1,4}(?=,?\})/g) ?? []
  return (
    pattern.length *
    Math.max(
      1,
      repeats.reduce((sum, count) => sum + Number(count), 0),
    )
  )
}

/**
 * The most that any one part of the arguments can cost; infinite if a schema is recursive or compares entries with each
 * other. Computed once per schema: most calls are so far below the limit that nothing else is needed. Throws if a schema
 * refers to itself for the very same value, which can never be validated.
 */
export function costPerPart(schema: JsonSchema): number {
  const known = new Map<JsonSchema, number>()
  const visit = (part: JsonSchema, above: ReadonlySet<JsonSchema>, depth: number): number => {
    if (above.has(part)) throw new Error('infinite self-reference')
    const before = known.get(part)
    if (before !== undefined) return before
    if (depth > MAX_DEPTH) return Number.POSITIVE_INFINITY
    if (isLeaf(part)) return 1 + statesOf(part.pattern) + (Array.isArray(part.enum) ? part.enum.length : 0)
    // Provisional: meeting it again inside itself means it is endless.
    known.set(part, Number.POSITIVE_INFINITY)
    const form = formOf(part, schema)
    let cost = ownCost(form) + statesOf(part.pattern)
    if (comparesEntries(part)) cost = Number.POSITIVE_INFINITY
    const here = form.branches.length > 0 ? new Set(above).add(part) : NOTHING
    for (const inner of form.branches) cost += visit(inner, here, depth + 1)
    for (const inner of partsOf(form)) cost += visit(inner, NOTHING, depth + 1)
    known.set(part, cost)
    return cost
  }
  return visit(schema, NOTHING, 0)
}

/** Whether a schema contains no others, like most: not worth remembering. */
function isLeaf(schema: JsonSchema): boolean {
  for (const key in schema) {
    const value = schema[key]
    if (key === '$ref' || key === 'required' || (isObjectLike(value) && key !== 'enum' && key !== 'type'))
      return false
  }
  return schema.uniqueItems !== true
}

const NOTHING: ReadonlySet<JsonSchema> = new Set()

function partsOf({ items, declared, byPattern, others, names }: Form): JsonSchema[] {
  return [...items, ...Object.values(declared ?? {}).filter(isRecord), ...byPattern, ...others, ...names]
}

/** Whether arguments of a known weight take too long to validate on the event loop. */
export function isExpensiveToValidate(
  { schema, costPerPart }: { schema: JsonSchema; costPerPart: number },
  args: object,
  { weight, repair }: { weight: number; repair: boolean },
): boolean {
  const limit = repair ? QUICK_WORK : MAX_WORK_HERE
  return costPerPart * weight > limit && workOf(schema, args) > limit
}

/** How often arguments may be revalidated for repairs before it takes too long. */
export function trialsFor({ costPerPart }: { costPerPart: number }, weight: number): number {
  const work = Math.min(Math.max(costPerPart * weight, 1), QUICK_WORK)
  return Math.ceil((2 * MAX_WORK_HERE) / work)
}

/**
 * The most that validating `args` can cost: every schema on every value it applies to, each pair visited once.
 * Infinite if that takes too many steps to find out.
 */
function workOf(schema: JsonSchema, args: object): number {
  const forms = new Map<JsonSchema, { form: Form; own: number; onValues: Map<unknown, number> }>()
  let steps = 0
  const visit = (part: JsonSchema, value: unknown, depth: number): number => {
    let known = forms.get(part)
    if (!known) {
      const form = formOf(part, schema)
      known = { form, own: ownCost(form), onValues: new Map() }
      forms.set(part, known)
    }
    const before = known.onValues.get(value)
    if (before !== undefined) return before
    if (++steps > MAX_STEPS || depth > MAX_DEPTH) return Number.POSITIVE_INFINITY
    known.onValues.set(value, Number.POSITIVE_INFINITY)
    let work = known.own + costOnValue(part, value)
    for (const inner of known.form.branches) work += visit(inner, value, depth + 1)
    eachApplication(known.form, value, (inner, entry) => {
      work += visit(inner, entry, depth + 1)
      return work < Number.POSITIVE_INFINITY
    })
    known.onValues.set(value, work)
    return work
  }
  return visit(schema, args, 0)
}

/** Calls `apply` for each subschema and each value it applies to, until it returns `false`. */
function eachApplication(
  form: Form,
  value: unknown,
  apply: (schema: JsonSchema, part: unknown) => boolean,
): void {
  if (Array.isArray(value)) {
    for (const schema of form.items) for (const part of value) if (!apply(schema, part)) return
  } else if (isObjectLike(value)) {
    for (const name of shownNames(value)) {
      for (const schema of formsOfProperty(form, name))
        if (!apply(schema, (value as JsonSchema)[name])) return
      for (const schema of form.names) if (!apply(schema, name)) return
    }
  }
}

/** The cost of a form itself, each time it is applied. */
function ownCost({ declared, schema: { patternProperties, required, enum: choices } }: Form): number {
  let cost = 1
  if (declared) cost += Object.keys(declared).length
  if (isRecord(patternProperties))
    for (const pattern of Object.keys(patternProperties)) cost += statesOf(pattern)
  if (Array.isArray(required)) cost += required.length
  return Array.isArray(choices) ? cost + choices.length : cost
}

function costOnValue(schema: JsonSchema, value: unknown): number {
  if (Array.isArray(value)) return comparesEntries(schema) ? value.length ** 2 / 2 : 0
  if (typeof value !== 'string') return isObjectLike(value) ? shownNames(value).length : 0
  return (
    value.length * (statesOf(schema.pattern) / 10 + (schema.format === undefined ? 0 : UNITS_PER_FORMAT_CHAR))
  )
}

/** `uniqueItems` compares every pair of entries unless they are known to be primitives. */
function comparesEntries({ uniqueItems, items }: JsonSchema): boolean {
  if (uniqueItems !== true) return false
  const types = isRecord(items) ? [items.type].flat() : [undefined]
  return types.some(type => type === undefined || type === 'object' || type === 'array')
}
