import type { PolicyRule } from '../interceptors/index.ts'
import { shownAddress } from '../logging/config-secrets.ts'
import { oauthProblem } from '../mcp/oauth/oauth-options.ts'
import { isHttpUrl } from '../mcp/server-entry.ts'
import { compileSchema } from '../schema/compile.ts'
import { fitsGlob, globProblem } from '../util/glob.ts'
import { isLoopback } from '../util/loopback.ts'
import type { OAuthConfig, ServerConfig, ToolpostConfig } from './config.ts'
import type { ConfigPath, ConfigSource } from './source.ts'

/*
 * What `toolpost.schema.json` cannot express. Tokens and passwords are never shown.
 */

interface Problem {
  path: ConfigPath
  problem: string
}

/** Checks a configuration as it is written. Throws a ConfigError. */
export function checkWritten({ limits = {}, voice }: ToolpostConfig, source: ConfigSource): void {
  for (const kind of ['tools', 'servers', 'callers'] as const)
    refuseFirst(limitProblems(limits[kind], ['limits', kind]), source)
  if (voice?.transcriber === 'whisper.cpp' && !voice.whisper)
    throw source.error(['voice', 'whisper'], "whisper.cpp needs a model file; set 'model'")
  if (voice?.speaker === 'piper' && voice.piperModel === undefined)
    throw source.error(['voice', 'piperModel'], 'piper needs a voice file (.onnx)')
}

/** Checks a configuration whose variables are filled in. Throws a ConfigError. */
export function checkFilled(
  { clients = {}, gateway = {}, durable }: ToolpostConfig,
  source: ConfigSource,
): void {
  const { token, host = '127.0.0.1', oauth } = gateway
  const wrong = token ? tokenProblem(token) : undefined
  if (wrong) throw source.error(['gateway', 'token'], wrong)
  if (token === false && (Object.keys(clients).length > 0 || oauth))
    throw source.error(['gateway', 'token'], "cannot be false together with 'clients' or 'oauth'")
  if (token === false && !isLoopback(host))
    throw source.error(['gateway', 'token'], `can only be false on loopback, not on ${host}`)
  refuseFirst(clientProblems(clients, token || undefined), source)
  if (oauth) refuseFirst(oauthProblems(oauth), source, ['gateway', 'oauth'])
  if (typeof durable === 'object') refuseFirst(durableProblems(durable), source, ['durable'])
}

function refuseFirst(problems: Iterable<Problem>, source: ConfigSource, place: ConfigPath = []): void {
  for (const { path, problem } of problems) throw source.error([...place, ...path], problem)
}

type Limits = Readonly<Record<string, { concurrency?: number; perMinute?: number }>>

function* limitProblems(limits: Limits = {}, place: ConfigPath): Generator<Problem> {
  for (const [pattern, { concurrency, perMinute }] of Object.entries(limits)) {
    const isEmpty = concurrency === undefined && perMinute === undefined
    const problem = globProblem(pattern) ?? (isEmpty ? "needs 'concurrency' or 'perMinute'" : undefined)
    if (problem !== undefined) yield { path: [...place, pattern], problem }
  }
}

function* globProblems(patterns: readonly string[] = [], place: ConfigPath): Generator<Problem> {
  for (const [index, pattern] of patterns.entries()) {
    const problem = globProblem(pattern)
    if (problem !== undefined) yield { path: [...place, index], problem }
  }
}

/** Shorter tokens are too easy to guess. */
const MIN_TOKEN_LENGTH = 16

/** Why a token is too easy to guess, or cannot be sent. */
export function tokenProblem(token: string): string | undefined {
  if (token.length < MIN_TOKEN_LENGTH) return `is too short: it needs at least ${MIN_TOKEN_LENGTH} characters`
  if (!/^[\x21-\x7e]+$/.test(token)) return 'must consist of printable ASCII characters without spaces'
  return undefined
}

type Clients = Readonly<
  Record<
    string,
    { token: string } & Partial<Record<'tools' | 'resources' | 'prompts', readonly string[] | undefined>>
  >
>

/** The problems with clients, and where they are; `own` is the gateway's token. */
export function* clientProblems(clients: Clients, own?: string): Generator<Problem> {
  const owners = new Map(own === undefined ? [] : [[own, 'the gateway']])
  for (const [name, { token, tools, resources, prompts }] of Object.entries(clients)) {
    const path = ['clients', name]
    const owner = owners.get(token)
    const wrongToken = tokenProblem(token) ?? (owner && `is the same as the token of ${owner}`)
    if (name === 'default')
      yield { path, problem: "'default' is reserved for the gateway's own token; choose another name" }
    else if (!/^[A-Za-z0-9][\w.-]{0,63}$/.test(name))
      yield { path, problem: 'expected at most 64 letters, digits, _, . or -' }
    if (wrongToken) yield { path: [...path, 'token'], problem: wrongToken }
    for (const [kind, patterns] of Object.entries({ tools, resources, prompts }))
      yield* globProblems(patterns, [...path, kind])
    owners.set(token, `'${name}'`)
  }
}

/** The problems with the gateway's OAuth settings, and where they are. */
export function* oauthProblems({ issuer, audience, resource, scopes }: OAuthConfig): Generator<Problem> {
  const wrongIssuer = issuerProblem(issuer)
  const wrongResource = resource === undefined ? undefined : issuerProblem(resource)
  if (wrongIssuer) yield { path: ['issuer'], problem: wrongIssuer }
  if (audience.trim() === '') yield { path: ['audience'], problem: 'must not be empty' }
  if (wrongResource) yield { path: ['resource'], problem: wrongResource }
  if (scopes && Object.keys(scopes).length === 0)
    yield { path: ['scopes'], problem: 'lists no scope; leave it out to offer all tools' }
  for (const [scope, patterns] of Object.entries(scopes ?? {})) {
    const path = ['scopes', scope]
    // RFC 6749
    if (!/^[\x21\x23-\x5b\x5d-\x7e]{1,128}$/.test(scope))
      yield { path, problem: 'a scope consists of printable ASCII characters except space, " and \\' }
    yield* globProblems(patterns, path)
  }
}

/** Keys fetched over plain HTTP could be anyone's. Issuers are compared as strings, so they may have no query or fragment. */
function issuerProblem(address: string): string | undefined {
  if (!URL.canParse(address)) return `is not a valid URL: '${address}'`
  const { protocol, hostname, username, password, search, hash } = new URL(address)
  if (protocol !== 'https:' && !(protocol === 'http:' && isLoopback(hostname)))
    return 'must begin with https://, or http:// on a loopback address'
  if (username !== '' || password !== '') return 'must not contain a user name or password'
  return search !== '' || hash !== '' ? 'must not have a query or fragment' : undefined
}

function* durableProblems(
  durable: Exclude<ToolpostConfig['durable'], boolean | undefined>,
): Generator<Problem> {
  const { databaseUrl, tools, servers, limits } = durable
  const problem = databaseUrl === undefined ? undefined : databaseProblem(databaseUrl)
  if (problem !== undefined) yield { path: ['databaseUrl'], problem }
  yield* globProblems(tools, ['tools'])
  yield* limitProblems(servers, ['servers'])
  if (limits !== undefined) {
    const problem = 'is set by MCP server now, not by tool: use \'durable.servers\' ("local" for other tools)'
    yield { path: ['limits'], problem }
  }
}

function databaseProblem(text: string): string | undefined {
  const shown = `'${shownAddress(text)}'; expected postgres://user:password@host:5432/database`
  if (!URL.canParse(text)) return `is not a valid URL: ${shown}`
  const { protocol, pathname } = new URL(text)
  if (!['postgres:', 'postgresql:'].includes(protocol)) return `is not a PostgreSQL URL: ${shown}`
  return pathname.length > 1 ? undefined : `has no database name: ${shown}`
}

/** Why a server cannot be started as it is configured. */
export function serverProblem({ command, url, ...rest }: ServerConfig): string | undefined {
  if (command === undefined && url === undefined) return "has neither 'command' nor 'url'; set exactly one"
  if (command !== undefined && url !== undefined) return "has both 'command' and 'url'; set exactly one"
  if (command?.trim() === '') return "'command' is empty"
  if (url !== undefined && !isHttpUrl(url))
    return `'url' is not a valid URL: '${shownAddress(url)}'; expected http://… or https://…`
  if (url !== undefined && 'sandbox' in rest) return "'sandbox' needs a 'command'"
  return 'oauth' in rest ? oauthProblem(rest.oauth) : undefined
}

/**
 * Checks the policy for rules that can never match and unusable schemas; throws a ConfigError. Returns warnings about what may
 * be a mistake: a server missing from an included file may be added later.
 */
export async function checkPolicy(config: ToolpostConfig, source: ConfigSource): Promise<string[]> {
  const { policy: rules = [], mcpServers = {}, clients = {}, include = [] } = config
  const doubts: string[] = []
  for (const [index, rule] of rules.entries()) {
    const { tools, servers, callers } = rule
    const after = rule.after === 'outside' ? [] : rule.after
    const patterns = [tools, servers, callers, after].flat().filter(pattern => pattern !== undefined)
    const problems = [
      ...patterns.map(globProblem),
      unknownName('client', callers, ['default', ...Object.keys(clients)]),
      rule.if?.destructive && rule.if.readOnly ? "a tool is either 'destructive' or 'readOnly'" : undefined,
      isShadowed(rule, rules.slice(0, index)),
      await brokenSchema(rule),
    ]
    const missing = unknownName('server', servers, Object.keys(mcpServers))
    if (missing && include.length > 0) doubts.push(`⚠️ policy[${index}] ${missing} (yet)`)
    else problems.push(missing)
    const problem = problems.find(each => each !== undefined)
    if (problem) throw source.error(['policy', index], problem)
  }
  return doubts
}

/** Tools may appear later, but servers and clients are in the configuration. */
function unknownName(
  what: 'server' | 'client',
  names: readonly string[] | undefined,
  known: readonly string[],
): string | undefined {
  if (!names?.every(glob => !known.some(name => fitsGlob(name, glob)))) return undefined
  const place = what === 'server' ? 'mcpServers' : 'clients'
  return `can never match: there is no ${what} '${names.join("', '")}' in ${place}`
}

/** The first matching rule decides, so one after a broader one, which names no other conditions, never does. */
function isShadowed({ tools, ...rule }: PolicyRule, before: readonly PolicyRule[]): string | undefined {
  const names = [tools ?? '*'].flat()
  const index = before.findIndex(({ tools: wider = '*', then: _, because: __, ...conditions }) => {
    const covers = (name: string) =>
      [wider].flat().some(glob => glob === name || (!glob.includes('?') && fitsGlob(name, glob)))
    const isSame = ([key, value]: [string, unknown]) =>
      JSON.stringify(value) === JSON.stringify(rule[key as keyof typeof rule])
    return names.every(covers) && Object.entries(conditions).every(isSame)
  })
  return index < 0 ? undefined : `can never match: policy[${index}] matches first`
}

async function brokenSchema({ args }: PolicyRule): Promise<string | undefined> {
  if (args === undefined) return undefined
  try {
    const [pattern] = (await compileSchema(args)).leftOut
    return pattern && `'args' has a pattern that cannot be checked in linear time: ${pattern}`
  } catch (error) {
    return `'args' is not a usable JSON Schema: ${(error as Error).message}`
  }
}
