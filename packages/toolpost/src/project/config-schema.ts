import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { joinPlace, kindOf } from '../schema/explain.ts'
import { isRecord, ownValue } from '../util/guards.ts'
import { packageRoot } from '../util/package-root.ts'

/** What a value breaks: where, in words, and the key that does not belong there, if that is the problem. */
export interface SchemaProblem {
  path: string[]
  problem: string
  key?: string
}

interface Schema {
  $ref?: string
  type?: string | string[]
  description?: string
  properties?: Record<string, Schema>
  definitions?: Record<string, Schema>
  additionalProperties?: boolean | Schema
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  not?: Schema
  const?: unknown
  enum?: unknown[]
  pattern?: string
  format?: 'uri'
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  minLength?: number
  minItems?: number
  minProperties?: number
}

let root: Schema | undefined

/** `toolpost.schema.json`: the only list of valid keys, and what their values are checked against. */
function configSchema(): Schema {
  root ??= JSON.parse(readFileSync(join(packageRoot(), 'toolpost.schema.json'), 'utf8')) as Schema
  return root
}

/** The keys of a configuration. */
export function configKeys(): ReadonlySet<string> {
  return new Set(Object.keys(configSchema().properties ?? {}))
}

/** The keys of a server. */
export function serverKeys(): ReadonlySet<string> {
  return new Set(Object.keys(configSchema().definitions?.server?.properties ?? {}))
}

/**
 * The first problem in a configuration, if any. Interprets the keywords that our schema uses: compiling it with Ajv would take
 * longer than everything else that a command does.
 */
export function problemIn(config: unknown): SchemaProblem | undefined {
  const problems = [...check(configSchema(), config, [])]
  return problems.find(({ key }) => key === undefined) ?? problems[0]
}

function* check(given: Schema, value: unknown, path: string[]): Generator<SchemaProblem> {
  const schema = target(given)
  const problem = ownProblem(schema, value)
  if (problem !== undefined) yield { path, problem }
  const branches = schema.anyOf ?? schema.oneOf
  if (branches) yield* checkBranches(branches, value, path)
  if (isRecord(value)) yield* checkProperties(schema, value, path)
  if (Array.isArray(value) && schema.items)
    for (const [index, item] of value.entries()) yield* check(schema.items, item, [...path, String(index)])
}

function target({ $ref, ...schema }: Schema): Schema {
  return $ref === undefined
    ? schema
    : (configSchema().definitions?.[$ref.replace('#/definitions/', '')] ?? {})
}

/** What is wrong with the value itself, apart from its contents. */
function ownProblem(schema: Schema, value: unknown): string | undefined {
  const { type, enum: choices, not, pattern, format } = schema
  if (type !== undefined && ![type].flat().some(one => isType(one, value)))
    return `must be ${[type].flat().join(' or ')}, got ${kindOf(value)}`
  if (choices && !choices.includes(value)) return `must be one of: ${choices.join(', ')}`
  if ('const' in schema && value !== schema.const) return `must be ${schema.const}`
  if (not && ownProblem(not, value) === undefined) return `must not be ${value}`
  if (typeof value === 'string' && pattern !== undefined && !new RegExp(pattern, 'u').test(value))
    return `expected ${schema.description ?? 'another form'}`
  if (format === 'uri' && !URL.canParse(String(value))) return 'must match format "uri"'
  const { minimum, maximum, exclusiveMinimum: over, minLength, minItems, minProperties } = schema
  const [size, least] =
    typeof value === 'string'
      ? [value.length, minLength]
      : Array.isArray(value)
        ? [value.length, minItems]
        : isRecord(value)
          ? [Object.keys(value).length, minProperties]
          : [0, undefined]
  if (least !== undefined && size < least)
    return least === 1 ? 'must not be empty' : `must have >= ${least} characters`
  if (typeof value !== 'number') return undefined
  if (minimum !== undefined && value < minimum) return `must be >= ${minimum}`
  if (maximum !== undefined && value > maximum) return `must be <= ${maximum}`
  return over !== undefined && value <= over ? `must be > ${over}` : undefined
}

function isType(type: string, value: unknown): boolean {
  return type === 'integer' ? Number.isInteger(value) : kindOf(value) === type
}

function* checkProperties(
  { properties = {}, additionalProperties = true, required = [] }: Schema,
  value: Record<string, unknown>,
  path: string[],
): Generator<SchemaProblem> {
  const shown = (key: string) => `'${[...path, key].reduce(joinPlace, '')}'`
  for (const key of required) if (!Object.hasOwn(value, key)) yield { path, problem: `missing ${shown(key)}` }
  for (const [key, entry] of Object.entries(value)) {
    const known = ownValue(properties, key) ?? additionalProperties
    if (typeof known === 'object') yield* check(known, entry, [...path, key])
    else if (!known) {
      const keys = Object.keys(properties).filter(name => !name.startsWith('$'))
      yield { path, key, problem: `unknown ${shown(key)}; expected one of ${keys.join(', ')}` }
    }
  }
}

/** The problems of the form that was meant, judging by the type; if none was, the types that would fit. */
function* checkBranches(
  branches: readonly Schema[],
  value: unknown,
  path: string[],
): Generator<SchemaProblem> {
  const tried = branches.map(branch => [...check(branch, value, path)])
  if (tried.some(problems => problems.length === 0)) return
  const forms = branches.map(branch => target(branch)).map(form => form.type ?? form.const)
  const meant = tried[forms.findIndex(form => isType(String(form), value))]
  yield* meant ?? [{ path, problem: `must be ${forms.join(' or ')}, got ${kindOf(value)}` }]
}
