import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve, sep } from 'node:path'
import util from 'node:util'
import type { Environment } from '../util/environment.ts'
import { isObjectLike, isRecord } from '../util/guards.ts'
import { packageRoot } from '../util/package-root.ts'
import { checkFilled, serverProblem } from './check.ts'
import { ConfigError, type ServerConfig, type ToolpostConfig } from './config.ts'
import type { ConfigInput } from './inputs.ts'
import { DEFAULT_CONFIG_FILE, type FoundServer, type LoadedConfig, pathFrom, readConfig } from './read.ts'
import { type ConfigPath, ConfigSource } from './source.ts'

/** What a configuration says, checked, with the environment filled in: all that a project needs to know. */
export interface ResolvedConfig {
  config: ToolpostConfig
  /** Where it was read from; `undefined` for the built-in example. */
  file: string | undefined
  /** Its text, which locates mistakes. */
  source: ConfigSource
  /** Why a server cannot be started as configured, by name. */
  brokenServers: Readonly<Record<string, string>>
  /** Warnings for a person, one line each. */
  notices: readonly string[]
  /** Every file it was read from, including those that do not exist yet. */
  files: readonly string[]
  /** Inputs of servers that nobody has answered yet. */
  inputs: readonly ConfigInput[]
  /** By server: tools that run without asking, even if the policy would ask. */
  autoApprove: Readonly<Record<string, readonly string[]>>
  /** By server: the variables and headers that were filled in from the environment. */
  fromEnvironment: Readonly<Record<string, readonly string[]>>
}

export interface ResolveOptions {
  /** Where to look for the file; the working directory if left out. */
  folder?: string
  environment?: Environment
  /** A person's answers, by the key of the input. */
  answers?: ReadonlyMap<string, string>
}

/** Reads, checks and resolves a configuration, or the built-in example if there is no file. Rejects with a ConfigError. */
export async function resolveConfig(
  file: string | undefined,
  { folder, environment = process.env, answers = new Map() }: ResolveOptions = {},
): Promise<ResolvedConfig> {
  const loaded = await readConfig(file, folder)
  const resolved = loaded ? fill(loaded, environment, answers) : builtInExample()
  checkFilled(resolved.config, resolved.source)
  return resolved
}

/** Used without any configuration: the local tools, and a folder of household notes. */
export function builtInExample(): ResolvedConfig {
  return {
    config: { documents: join(packageRoot(), 'example', 'notes') },
    file: undefined,
    source: new ConfigSource(DEFAULT_CONFIG_FILE, '{}'),
    files: [resolve(DEFAULT_CONFIG_FILE)],
    ...{ brokenServers: {}, notices: [], inputs: [], autoApprove: {}, fromEnvironment: {} },
  }
}

/** What variables are replaced from. */
interface Scope {
  /** Locates mistakes. */
  source: ConfigSource
  environment: Environment
  /** The project's folder. */
  folder: string
  /** The inputs of a file, by id, and the answers to them. */
  inputs?: { known: ReadonlyMap<string, ConfigInput>; answerTo(input: ConfigInput): string | undefined }
}

/**
 * Replaces `${NAME}` from the environment in servers, tokens, OAuth settings, the voice gateway's broker and the database for
 * durable calls; `${NAME:-text}` becomes the text if NAME is not set. An unset variable breaks only the server that uses it;
 * anywhere else it is a ConfigError. Disabled servers are left out.
 */
function fill(
  { config, source, file, servers, notices, files }: LoadedConfig,
  environment: Environment,
  answers: ReadonlyMap<string, string>,
): ResolvedConfig {
  const { mcpServers, clients = {}, gateway, voice, durable, approvals } = config
  const scope: Scope = { source, environment, folder: dirname(file) }
  const entries: Record<string, ServerConfig> = {}
  const brokenServers: Record<string, string> = {}
  const envFiles: string[] = []
  const unanswered = new Set<ConfigInput>()
  const answerTo = (input: ConfigInput) => {
    if (!answers.has(input.key)) unanswered.add(input)
    return answers.get(input.key)
  }
  for (const server of servers) {
    const { name, entry } = server
    if (entry?.disabled === true) continue
    try {
      const inputs = { known: server.inputs, answerTo }
      entries[name] = fillServer(server, { ...scope, source: server.file.source, inputs }, envFiles)
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      brokenServers[name] = error.message
      entries[name] = (isRecord(entry) ? entry : {}) as ServerConfig
    }
  }
  const approved = servers.filter(({ autoApprove }) => autoApprove.length > 0)
  return {
    config: {
      ...config,
      ...(mcpServers && { mcpServers: entries }),
      ...(config.clients && { clients: fillTexts(clients, ['clients'], scope) }),
      ...(approvals && { approvals: fillTexts(approvals, ['approvals'], scope) }),
      ...(gateway && { gateway: fillTexts(gateway, ['gateway'], scope) }),
      ...(isRecord(durable) && { durable: fillTexts(durable, ['durable'], scope) }),
      ...(voice?.mqtt && { voice: { ...voice, mqtt: fillTexts(voice.mqtt, ['voice', 'mqtt'], scope) } }),
    },
    ...{ file, source, brokenServers, notices },
    files: [...files, ...envFiles],
    inputs: [...unanswered],
    fromEnvironment: Object.fromEntries(servers.map(({ name, entry }) => [name, filledKeys(entry)])),
    autoApprove: Object.fromEntries(approved.map(({ name, autoApprove }) => [name, autoApprove])),
  }
}

/** The variables and headers of a server whose values come from `${NAME}`. */
function filledKeys(entry: ServerConfig): string[] {
  const { env, headers } = (isRecord(entry) ? entry : {}) as Record<string, unknown>
  const settings = { ...(isRecord(env) && env), ...(isRecord(headers) && headers) }
  return Object.keys(settings).filter(key => String(settings[key]).search(VARIABLE) >= 0)
}

const FILLED = ['command', 'args', 'cwd', 'env', 'envFile', 'url', 'headers', 'oauth']

function fillServer(
  { entry, path, problem, file }: FoundServer,
  scope: Scope,
  envFiles: string[],
): ServerConfig {
  if (problem !== undefined) throw scope.source.error(path, problem)
  const given = Object.fromEntries(Object.entries(entry).filter(([key]) => FILLED.includes(key)))
  const filled: ServerConfig = { ...entry, ...fillTexts(given, path, scope) }
  const wrong = serverProblem(filled)
  if (wrong) throw scope.source.error(path, wrong)
  if (filled.url !== undefined) return filled
  const folder = dirname(file.path)
  const { cwd, envFile, env = {} } = filled
  // Numbers and booleans become strings, as in an environment.
  if (filled.env)
    filled.env = Object.fromEntries(Object.entries(env).map(([key, value]) => [key, String(value)]))
  if (cwd !== undefined) filled.cwd = pathFrom(folder, cwd)
  if (envFile !== undefined) {
    const variables = pathFrom(folder, envFile)
    envFiles.push(variables)
    try {
      filled.env = {
        ...(util.parseEnv(readFileSync(variables, 'utf8')) as Record<string, string>),
        ...filled.env,
      }
    } catch (error) {
      const unreadable = `cannot be read: ${(error as Error).message}`
      throw scope.source.error([...path, 'envFile'], unreadable, { cause: error })
    }
  }
  return filled
}

/** Fills in every string in a value, and leaves the rest as it is. */
function fillTexts<Value>(value: Value, path: ConfigPath, scope: Scope): Value {
  if (typeof value === 'string') return fillText(value, path, scope) as Value
  if (Array.isArray(value))
    return value.map((each, index) => fillTexts(each, [...path, index], scope)) as Value
  if (!isObjectLike(value)) return value
  const entries = Object.entries(value).map(([key, each]) => [key, fillTexts(each, [...path, key], scope)])
  return Object.fromEntries(entries)
}

/** `${NAME}`, `${NAME:-default}`, and the variables of Cursor and VS Code: `${env:NAME}`, `${input:id}`, `${userHome}` … */
const VARIABLE = /\$\{([^}]+?)(?::-([^}]*))?\}/g

/** Throws a ConfigError on a variable without a value or default. */
function fillText(text: string, path: ConfigPath, scope: Scope): string {
  return text.replace(VARIABLE, (_, name: string, fallback: string | undefined) => {
    const value = lookUp(name, scope) ?? fallback
    if (value === undefined) throw scope.source.error(path, missing(name, scope))
    return value
  })
}

function lookUp(name: string, { environment, folder, inputs }: Scope): string | undefined {
  const editors = new Map([
    ['workspaceFolder', folder],
    ['workspaceRoot', folder],
    ['workspaceFolderBasename', basename(folder)],
    ['userHome', homedir()],
    ['cwd', process.cwd()],
    ['pathSeparator', sep],
    ['/', sep],
  ])
  const input = inputs?.known.get(/^input:(.*)/s.exec(name)?.[1] ?? '')
  if (input) return environment[input.variable] ?? inputs?.answerTo(input)
  return editors.get(name) ?? environment[name.replace(/^env:/, '')]
}

function missing(name: string, { inputs }: Scope): string {
  const [, id] = /^input:(.*)/s.exec(name) ?? []
  const input = inputs?.known.get(id ?? '')
  if (input)
    return `the input '${input.id}' has no value; set ${input.variable}, or start Toolpost in a terminal to be asked`
  if (id !== undefined) return `unknown input '${id}': it is not in 'inputs'`
  if (name.includes(':') && !name.startsWith('env:')) return `\${${name}} is not supported`
  return `the environment variable ${name.replace(/^env:/, '')} is not set`
}
