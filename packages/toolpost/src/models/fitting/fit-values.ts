import { isRecord } from '../../runtime/guards.ts'
import { shortText } from '../../runtime/short-text.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { typesOf } from './combine.ts'
import { ABOUT, type FittingProvider, isOfType, RULES, TYPES } from './rules.ts'

/** More values would bloat the request; the executor still checks them all. */
const MAX_VALUES = 250
const MAX_VALUE_CHARS = 20_000

interface ValueRules {
  provider: FittingProvider
  note: (keyword: string, change: string) => void
}

export function isPlainType(type: unknown): type is string {
  return typeof type === 'string' && TYPES.has(type)
}

/** Adds what the original says about the value itself: `type`, `enum`, `const`, `nullable`, `format`. */
export function fitValues(fitted: JsonSchema, schema: JsonSchema, rules: ValueRules): JsonSchema {
  const types = fitTypes(schema, rules)
  const values = fitEnum(schema, rules)
  const described = withFormat(fitted, schema, rules)
  if (types && types.length > 1 && RULES[rules.provider].oneType) {
    rules.note('type', 'a list, written as anyOf')
    return split(described, types, values)
  }
  const result: JsonSchema = { ...(types && { type: types.length > 1 ? types : types[0] }), ...described }
  if (values) result.enum = values
  // Providers reject an array without `items`.
  if (types?.includes('array') && !result.items) result.items = {}
  return result
}

function fitTypes({ type, nullable }: JsonSchema, { note }: ValueRules): string[] | undefined {
  if (type === undefined) return undefined
  const given = typesOf(type) ?? []
  if (!given.every(isPlainType) || given.length === 0) {
    note('type', 'left out')
    return undefined
  }
  if (nullable === true) note('nullable', "written as type 'null'")
  return [...new Set([...given, ...(nullable === true ? ['null'] : [])])]
}

function fitEnum(schema: JsonSchema, { note }: ValueRules): unknown[] | undefined {
  const isConst = Object.hasOwn(schema, 'const')
  if (!isConst && schema.enum === undefined) return undefined
  const given = isConst ? [schema.const] : schema.enum
  const count = Array.isArray(given) ? given.length : 0
  const values = count > 0 && count <= MAX_VALUES ? jsonCopy(given) : undefined
  if (isConst) note('const', 'written as enum')
  if (values === undefined) note(isConst ? 'const' : 'enum', `left out: ${count} values`)
  return values as unknown[] | undefined
}

/** A copy as plain JSON; `undefined` if it is not JSON or too long for a request. */
export function jsonCopy(value: unknown): unknown {
  try {
    const text = JSON.stringify(value)
    return text.length <= MAX_VALUE_CHARS ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}

/** A format the provider does not know goes into the description. */
function withFormat(fitted: JsonSchema, { format }: JsonSchema, { provider, note }: ValueRules): JsonSchema {
  if (format === undefined) return fitted
  if (typeof format === 'string' && RULES[provider].formats.has(format)) return { ...fitted, format }
  note('format', 'written into the description')
  const words = `Format: ${shortText(String(format), 100)}.`
  return { ...fitted, description: [fitted.description, words].filter(Boolean).join(' ') }
}

const ANNOTATIONS = new Set(['title', 'description', 'default', 'examples'])

/** One schema per type, with the keywords for values of that type. */
function split(fitted: JsonSchema, types: readonly string[], values: unknown[] | undefined): JsonSchema {
  const entries = Object.entries(fitted)
  const variants = types.flatMap(type => {
    const own = values?.filter(value => isOfType(value, type))
    if (own?.length === 0) return []
    const about = entries.filter(([keyword]) => ABOUT[keyword] === (type === 'integer' ? 'number' : type))
    const variant: JsonSchema = { type, ...Object.fromEntries(about), ...(own && { enum: own }) }
    return [type === 'array' && !isRecord(variant.items) ? { ...variant, items: {} } : variant]
  })
  const shared = Object.fromEntries(entries.filter(([keyword]) => ANNOTATIONS.has(keyword)))
  if (variants.length === 1) return { ...variants[0], ...shared }
  return variants.length === 0 ? shared : { ...shared, anyOf: variants }
}
