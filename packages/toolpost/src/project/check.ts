import type { PolicyRule } from '../interceptors/index.ts'
import { shownAddress } from '../logging/config-secrets.ts'
import { oauthProblem } from '../mcp/oauth/oauth-options.ts'
import { isHttpUrl } from '../mcp/server-entry.ts'
import { compileSchema } from '../schema/compile.ts'
import { isRecord } from '../util/guards.ts'
import { fitsGlob, isLoopback } from '../util/text.ts'
import type { OAuthConfig, ServerConfig, ToolpostConfig } from './config.ts'
import { problemIn } from './config-schema.ts'
import type { ConfigPath, ConfigSource } from './source.ts'

export { tokenProblem } from './config-schema.ts'

interface Problem {
  path: ConfigPath
  problem: string
  key?: string
}

/**
 * Checks a configuration whose variables are filled in; throws a ConfigError. Resolves to warnings about what may be a mistake.
 * `servers` are all that are named in the files, also disabled ones.
 */
export async function checkConfig(
  config: ToolpostConfig,
  source: ConfigSource,
  servers: readonly string[],
): Promise<string[]> {
  for (const found of problemsIn(config)) throw source.error(found.path, found.problem, found)
  const { policy = [], clients = {}, include = [] } = config
  const doubts: string[] = []
  for (const [index, rule] of policy.entries()) {
    const missing = unknownName('server', rule.servers, servers)
    // A server missing from an included file may be added later.
    if (missing && include.length > 0) doubts.push(`⚠️ policy[${index}] ${missing} (yet)`)
    const problem =
      (include.length > 0 ? undefined : missing) ??
      unknownName('client', rule.callers, ['default', ...Object.keys(clients)]) ??
      (rule.if?.destructive && rule.if.readOnly
        ? "a tool is either 'destructive' or 'readOnly'"
        : undefined) ??
      isShadowed(rule, policy.slice(0, index)) ??
      (await brokenSchema(rule))
    if (problem) throw source.error(['policy', index], problem)
  }
  return doubts
}

/** What is wrong with a configuration: according to its schema, then what that cannot express. */
function* problemsIn(config: ToolpostConfig): Generator<Problem> {
  // Servers have been checked where they were written.
  const { mcpServers } = config
  const found = problemIn({ ...config, mcpServers: isRecord(mcpServers) ? undefined : mcpServers })
  if (found) yield found
  const { clients = {}, gateway = {}, voice, approvals: { notify } = {} } = config
  const { token, host = '127.0.0.1', oauth } = gateway
  const open = { path: ['gateway', 'token'] }
  if (token === false && (Object.keys(clients).length > 0 || oauth))
    yield { ...open, problem: "cannot be false together with 'clients' or 'oauth'" }
  if (token === false && !isLoopback(host))
    yield { ...open, problem: `can only be false on loopback, not on ${host}` }
  yield* clientProblems(clients, token || undefined)
  if (notify?.url !== undefined && notify.secret === undefined)
    yield { path: ['approvals', 'notify'], problem: "'url' needs a 'secret' to sign with" }
  if (voice?.transcriber === 'whisper.cpp' && !voice.whisper)
    yield { path: ['voice', 'whisper'], problem: "whisper.cpp needs a model file; set 'model'" }
  if (voice?.speaker === 'piper' && voice.piperModel === undefined)
    yield { path: ['voice', 'piperModel'], problem: 'piper needs a voice file (.onnx)' }
}

/** The problems with clients, and where they are; `own` is the gateway's token. */
export function* clientProblems(
  clients: Readonly<Record<string, { token: string }>>,
  own?: string,
): Generator<Problem> {
  const found = problemIn({ clients })
  if (found) yield found
  const owners = new Map(own === undefined ? [] : [[own, 'the gateway']])
  for (const [name, { token }] of Object.entries(clients)) {
    const problem = `is the same as the token of ${owners.get(token)}`
    if (owners.has(token)) yield { path: ['clients', name, 'token'], problem }
    owners.set(token, `'${name}'`)
  }
}

/** The problems with the gateway's OAuth settings, and where they are. */
export function* oauthProblems(oauth: OAuthConfig): Generator<Problem> {
  const found = problemIn({ gateway: { oauth } })
  if (found) yield { ...found, path: found.path.slice(2) }
}

export function serverProblem({ command, url, ...rest }: ServerConfig): string | undefined {
  if (command === undefined && url === undefined) return "has neither 'command' nor 'url'; set exactly one"
  if (command !== undefined && url !== undefined) return "has both 'command' and 'url'; set exactly one"
  if (command?.trim() === '') return "'command' is empty"
  if (url !== undefined && !isHttpUrl(url))
    return `'url' is not a valid URL: '${shownAddress(url)}'; expected http://… or https://…`
  if (url !== undefined && 'sandbox' in rest) return "'sandbox' needs a 'command'"
  return 'oauth' in rest ? oauthProblem(rest.oauth) : undefined
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
  const index = before.findIndex(({ tools: wider = '*', then: _, because: __, ...conditions }) => {
    const covers = (name: string) =>
      [wider].flat().some(glob => glob === name || (!glob.includes('?') && fitsGlob(name, glob)))
    const isSame = ([key, value]: [string, unknown]) =>
      JSON.stringify(value) === JSON.stringify(rule[key as keyof typeof rule])
    return [tools ?? '*'].flat().every(covers) && Object.entries(conditions).every(isSame)
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
