import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { joinPlace, kindOf } from '../schema/explain.ts'
import { isRecord, ownValue } from '../util/guards.ts'
import { packageRoot } from '../util/package-root.ts'
import { globProblem } from '../util/text.ts'

/** What a value breaks: where, in words, and the key that does not belong there, if that is the problem. */
interface SchemaProblem {
  path: string[]
  problem: string
  key?: string
}

type Bound = 'minimum' | 'maximum' | 'exclusiveMinimum' | 'minLength' | 'minItems' | 'minProperties'

interface Schema extends Partial<Record<Bound, number>> {
  $ref?: string
  type?: string | string[]
  description?: string
  properties?: Record<string, Schema>
  definitions?: Record<string, Schema>
  additionalProperties?: boolean | Schema
  propertyNames?: Schema
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  const?: unknown
  enum?: unknown[]
  pattern?: string
  format?: string
}

/** Shorter tokens are too easy to guess. */
const MIN_TOKEN_LENGTH = 16

export function tokenProblem(token: string): string | undefined {
  if (token.length < MIN_TOKEN_LENGTH) return `is too short: it needs at least ${MIN_TOKEN_LENGTH} characters`
  const isSendable = /^[\x21-\x7e]+$/.test(token)
  return isSendable ? undefined : 'must consist of printable ASCII characters without spaces'
}

const FORMATS: Readonly<Record<string, (text: string) => string | undefined>> = {
  uri: text => (URL.canParse(text) ? undefined : 'must match format "uri"'),
  glob: globProblem,
  token: tokenProblem,
}

let root: Schema | undefined

/** `toolpost.schema.json`: the only list of valid keys, and what their values are checked against. */
function configSchema(): Schema {
  root ??= JSON.parse(readFileSync(join(packageRoot(), 'toolpost.schema.json'), 'utf8')) as Schema
  return root
}

export function configKeys(): string[] {
  return Object.keys(configSchema().properties ?? {})
}

export function serverKeys(): string[] {
  return Object.keys(configSchema().definitions?.server?.properties ?? {})
}

/**
 * The first problem in a configuration, or a part of it, if any. Interprets the keywords that our schema uses: compiling it with Ajv would take
 * longer than everything else that a command does.
 */
export function problemIn(config: unknown, definition?: 'decisions'): SchemaProblem | undefined {
  const schema = definition ? { $ref: `#/definitions/${definition}` } : configSchema()
  return check(schema, config, []).next().value
}

function* check(given: Schema, value: unknown, path: string[]): Generator<SchemaProblem, undefined> {
  const schema = target(given)
  const problem = ownProblem(schema, value)
  if (problem !== undefined) yield { path, problem }
  else if (schema.anyOf) yield* checkForms(schema.anyOf, value, path)
  else if (isRecord(value)) yield* checkProperties(schema, value, path)
  else if (Array.isArray(value))
    for (const [index, item] of value.entries())
      yield* check(schema.items ?? {}, item, [...path, String(index)])
}

function target({ $ref = '', ...schema }: Schema): Schema {
  return configSchema().definitions?.[$ref.replace('#/definitions/', '')] ?? schema
}

/** What is wrong with the value itself, apart from its contents. */
function ownProblem(schema: Schema, value: unknown): string | undefined {
  const { type, enum: choices, pattern, format } = schema
  if (type !== undefined && ![type].flat().some(one => isType(one, value)))
    return `must be ${[type].flat().join(' or ')}, got ${kindOf(value)}`
  if (choices && !choices.includes(value)) return `must be one of: ${choices.join(', ')}`
  if ('const' in schema && value !== schema.const) return `must be ${schema.const}`
  if (typeof value === 'number') {
    const { minimum = -Infinity, maximum = Infinity, exclusiveMinimum: over = -Infinity } = schema
    if (value < minimum) return `must be >= ${minimum}`
    if (value > maximum) return `must be <= ${maximum}`
    return value <= over ? `must be > ${over}` : undefined
  }
  if (typeof value === 'object' && value !== null) {
    const least = Array.isArray(value) ? schema.minItems : schema.minProperties
    return Object.keys(value).length < (least ?? 0) ? 'must not be empty' : undefined
  }
  if (typeof value !== 'string') return undefined
  const { minLength = 0 } = schema
  if (value.trim().length < minLength)
    return minLength === 1 ? 'must not be empty' : `must have >= ${minLength} characters`
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(value))
    return `expected ${schema.description ?? 'another form'}`
  return format === undefined ? undefined : FORMATS[format]?.(value)
}

function isType(type: unknown, value: unknown): boolean {
  return type === 'integer' ? Number.isInteger(value) : kindOf(value) === type
}

function* checkProperties(
  { properties = {}, additionalProperties = true, propertyNames = {}, required = [] }: Schema,
  value: Record<string, unknown>,
  path: string[],
): Generator<SchemaProblem> {
  const shown = (key: string) => `'${[...path, key].reduce(joinPlace, '')}'`
  for (const key of required) if (!Object.hasOwn(value, key)) yield { path, problem: `missing ${shown(key)}` }
  for (const [key, entry] of Object.entries(value)) {
    if (entry === undefined) continue
    const inner = [...path, key]
    yield* check(propertyNames, key, inner)
    const known = ownValue(properties, key) ?? additionalProperties
    if (typeof known === 'object') yield* check(known, entry, inner)
    const keys = Object.keys(properties).filter(name => !name.startsWith('$'))
    if (!known) yield { path, key, problem: `unknown ${shown(key)}; expected one of ${keys.join(', ')}` }
  }
}

/** The problem of the form that was meant, judging by the type; if none was, the types that would fit. */
function* checkForms(forms: readonly Schema[], value: unknown, path: string[]): Generator<SchemaProblem> {
  const tried = forms.map(form => check(form, value, path).next().value)
  if (tried.includes(undefined)) return
  const types = forms.map(form => target(form)).map(({ type, const: only }) => type ?? only)
  const meant = tried[types.findIndex(type => isType(type, value))]
  yield meant ?? { path, problem: `must be ${types.join(' or ')}, got ${kindOf(value)}` }
}
