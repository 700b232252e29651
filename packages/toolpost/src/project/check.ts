import type { PolicyRule } from '../interceptors/index.ts'
import { checkServerEntry } from '../mcp/server-entry.ts'
import { compileSchema } from '../schema/compile.ts'
import { kindOf } from '../schema/explain.ts'
import { projection } from '../tools/shape.ts'
import { isObjectLike, isRecord, ownValue } from '../util/guards.ts'
import { packageJson } from '../util/package-root.ts'
import { describeThrown } from '../util/quietly.ts'
import { fitsGlob, globProblem, isLoopback } from '../util/text.ts'
import type { OAuthConfig, ServerConfig, ToolpostConfig } from './config.ts'
import { type Problem, placeOf } from './source.ts'

interface Schema
  extends Partial<Record<'minimum' | 'maximum' | 'minLength' | 'minItems' | 'minProperties', number>>,
    Partial<Record<'$ref' | 'description' | 'pattern' | 'format', string>>,
    Partial<Record<'properties' | 'definitions', Record<string, Schema>>>,
    Partial<Record<'items' | 'propertyNames', Schema>> {
  type?: string | string[]
  additionalProperties?: boolean | Schema
  required?: string[]
  dependencies?: Record<string, string[]>
  anyOf?: Schema[]
  enum?: unknown[]
  const?: unknown
}

export function tokenProblem(token: string): string | undefined {
  if (token.length < 16) return 'is too short: it needs at least 16 characters'
  return /^[\x21-\x7e]+$/.test(token)
    ? undefined
    : 'must consist of printable ASCII characters without spaces'
}

const FORMATS: Readonly<Record<string, (text: string) => string | undefined>> = {
  uri: text => (URL.canParse(text) ? undefined : 'must match format "uri"'),
  glob: globProblem,
  token: tokenProblem,
}

/** `toolpost.schema.json`: the only list of valid keys, and what their values are checked against. */
const SCHEMA: Schema = packageJson('toolpost.schema.json')
export const CONFIG_KEYS = Object.keys(SCHEMA.properties ?? {})
export const SERVER_KEYS = Object.keys(SCHEMA.definitions?.server?.properties ?? {})

/**
 * The first problem in a configuration, or a part of it, according to the schema. Interprets the keywords that ours uses:
 * compiling it would take longer than everything else that a command does.
 */
export function problemIn(config: unknown, definition?: 'decisions'): Problem | undefined {
  return check(definition ? { $ref: `#/definitions/${definition}` } : SCHEMA, config, [])
}

function check(given: Schema, value: unknown, path: string[]): Problem | undefined {
  const schema = target(given)
  const problem = ownProblem(schema, value)
  if (problem !== undefined) return { path, problem }
  if (schema.anyOf) {
    const forms = schema.anyOf.map(target)
    const meant = forms.find(form => form.const === value || isType(form.type, value))
    const types = forms.map(form => form.type ?? form.const).join(' or ')
    return meant ? check(meant, value, path) : { path, problem: `must be ${types}, got ${kindOf(value)}` }
  }
  if (!isObjectLike(value)) return undefined
  const { properties = {}, additionalProperties: others = true, propertyNames = {}, items = {} } = schema
  const { required = [], dependencies = {} } = schema
  const needed = Object.keys(value).flatMap(key => ownValue(dependencies, key) ?? [])
  const missing = [...required, ...needed].find(key => !Object.hasOwn(value, key))
  if (missing !== undefined) return { path, problem: `missing '${placeOf([...path, missing])}'` }
  for (const [key, entry] of Object.entries(value)) {
    if (entry === undefined) continue
    const inner = [...path, key]
    const known = Array.isArray(value) ? items : (ownValue(properties, key) ?? others)
    const keys = Object.keys(properties).filter(name => !name.startsWith('$'))
    const renamed = RENAMED[placeOf(inner)]
    if (!known && renamed) return { path, key, problem: `'${placeOf(inner)}' is now '${renamed}'` }
    if (!known)
      return { path, key, problem: `unknown '${placeOf(inner)}'; expected one of ${keys.join(', ')}` }
    const found = check(propertyNames, key, inner) ?? check(known === true ? {} : known, entry, inner)
    if (found) return found
  }
  return undefined
}

const RENAMED: Readonly<Record<string, string>> = { 'durable.limits': 'durable.servers' }

function target({ $ref = '', ...schema }: Schema): Schema {
  return SCHEMA.definitions?.[$ref.replace('#/definitions/', '')] ?? schema
}

function ownProblem(schema: Schema, value: unknown): string | undefined {
  const { type, enum: choices, pattern, minLength = 0, minimum = -Infinity, maximum = Infinity } = schema
  if (type !== undefined && ![type].flat().some(one => isType(one, value)))
    return `must be ${[type].flat().join(' or ')}, got ${kindOf(value)}`
  if (choices && !choices.includes(value)) return `must be one of: ${choices.join(', ')}`
  if ('const' in schema && value !== schema.const) return `must be ${schema.const}`
  if (typeof value === 'number' && value < minimum) return `must be >= ${minimum}`
  if (typeof value === 'number' && value > maximum) return `must be <= ${maximum}`
  if (isObjectLike(value)) {
    const least = (Array.isArray(value) ? schema.minItems : schema.minProperties) ?? 0
    return Object.keys(value).length < least ? 'must not be empty' : undefined
  }
  if (typeof value !== 'string') return undefined
  if (value.trim().length < minLength)
    return minLength === 1 ? 'must not be empty' : `must have >= ${minLength} characters`
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(value))
    return `expected ${schema.description ?? 'another form'}`
  return FORMATS[schema.format ?? '']?.(value)
}

const isType = (type: unknown, value: unknown) =>
  type === 'integer' ? Number.isInteger(value) : kindOf(value) === type

/** What is wrong with a configuration; servers were checked where they are written. `servers`: all that the files name. */
export async function* problemsIn(
  config: ToolpostConfig,
  servers: readonly string[],
): AsyncGenerator<Problem> {
  const { mcpServers, clients = {}, gateway = {}, policy = [], include = [], shape = {} } = config
  const found = problemIn({ ...config, mcpServers: isRecord(mcpServers) ? undefined : mcpServers })
  if (found) yield found
  const { token, host = '127.0.0.1', oauth } = gateway
  if (token === false && (Object.keys(clients).length > 0 || oauth || !isLoopback(host)))
    yield {
      path: ['gateway', 'token'],
      problem: "can only be false on loopback, without 'clients' and 'oauth'",
    }
  yield* accessProblems(clients, token)
  for (const [index, rule] of policy.entries()) {
    const problem =
      // A server missing from an included file may be added later.
      (include.length > 0 ? undefined : neverThere('server', rule.servers, servers)) ??
      neverThere('client', rule.callers, ['default', ...Object.keys(clients)]) ??
      (await argsProblem(rule))
    if (problem) yield { path: ['policy', index], problem }
  }
  for (const [pattern, { result }] of Object.entries(shape)) {
    const problem = result === undefined ? '' : await projection(result).then(() => '', describeThrown)
    if (problem) yield { path: ['shape', pattern, 'result'], problem }
  }
}

/** What is wrong with the tokens of clients, beside the gateway's own, and with the issuer of others. */
export function* accessProblems(
  clients: Readonly<Record<string, { token: string }>>,
  own: string | false | undefined,
  oauth?: OAuthConfig,
): Generator<Problem> {
  const found = problemIn({ clients, gateway: { oauth } })
  if (found) yield found
  const owners = new Map(own ? [[own, 'the gateway']] : [])
  for (const [name, { token }] of Object.entries(clients)) {
    const problem = `is the same as the token of ${owners.get(token)}`
    if (owners.has(token)) yield { path: ['clients', name, 'token'], problem }
    owners.set(token, `'${name}'`)
  }
}

export function serverProblem(name: string, entry: ServerConfig): Problem | undefined {
  const found = problemIn({ mcpServers: { [name]: entry } })
  const path = ['mcpServers', name]
  try {
    if (!found) checkServerEntry(name, entry)
  } catch (error) {
    return { path, problem: (error as Error).message.replace(`MCP server '${name}'`, '').replace(/^:? /, '') }
  }
  const isUseless = entry?.url !== undefined && 'sandbox' in entry
  return found ?? (isUseless ? { path, problem: "'sandbox' needs a 'command'" } : undefined)
}

/** Tools may appear later, but servers and clients are in the configuration. */
function neverThere(what: 'server' | 'client', names: PolicyRule['servers'], known: readonly string[]) {
  if (!names || names.some(glob => known.some(name => fitsGlob(name, glob)))) return undefined
  const place = what === 'server' ? 'mcpServers' : 'clients'
  return `can never match: there is no ${what} '${names.join("', '")}' in ${place}`
}

async function argsProblem({ args }: PolicyRule): Promise<string | undefined> {
  try {
    const [pattern] = args === undefined ? [] : (await compileSchema(args)).leftOut
    return pattern && `'args' has a pattern that cannot be checked in linear time: ${pattern}`
  } catch (error) {
    return `'args' is not a usable JSON Schema: ${(error as Error).message}`
  }
}
