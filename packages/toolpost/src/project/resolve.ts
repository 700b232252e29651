import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { parseEnv } from 'node:util'
import { isObjectLike, isRecord, valueAt } from '../util/guards.ts'
import { packageRoot } from '../util/package-root.ts'
import type { Environment } from '../util/platform.ts'
import { checkConfig } from './check.ts'
import { ConfigError, type ServerConfig, type ToolpostConfig } from './config.ts'
import {
  type ConfigFile,
  collectServers,
  DEFAULT_CONFIG_FILE,
  type FoundServer,
  mistakeIn,
  openConfig,
  ownConfig,
  pathFrom,
} from './read.ts'
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
  notices: readonly string[]
  /** Every file it was read from, including those that do not exist yet. */
  files: readonly string[]
  /** By server: tools that run without asking, even if the policy would ask. */
  autoApprove: Readonly<Record<string, readonly string[]>>
  /** By server: the variables and headers that were filled in from the environment. */
  fromEnvironment: Readonly<Record<string, readonly string[]>>
}

export interface ResolveOptions {
  folder?: string
  environment?: Environment
}

/** Reads, checks and resolves a configuration, or the built-in example if there is no file. Rejects with a ConfigError. */
export async function resolveConfig(
  file: string | undefined,
  { folder = process.cwd(), ...options }: ResolveOptions = {},
): Promise<ResolvedConfig> {
  const main = await openConfig(file, folder)
  return main ? resolveFile(main, options) : builtInExample()
}

/** Used without any configuration: the local tools, and a folder of household notes. */
export function builtInExample(): ResolvedConfig {
  return {
    config: { documents: join(packageRoot(), 'example', 'notes') },
    file: undefined,
    source: new ConfigSource(DEFAULT_CONFIG_FILE, '{}'),
    files: [resolve(DEFAULT_CONFIG_FILE)],
    ...{ brokenServers: {}, notices: [], autoApprove: {}, fromEnvironment: {} },
  }
}

/** Keys in which `${NAME}` is replaced from the environment, besides servers. */
const FILLED = ['clients', 'approvals', 'gateway', 'durable', 'voice', 'models'] as const
/** Relative to the folder of the configuration. */
const PATHS = ['documents', 'sentences.folder', 'voice.whisper.model', 'voice.piperModel', 'history.file']

/**
 * Replaces `${NAME}` from the environment; `${NAME:-text}` becomes the text if NAME is not set. An unset variable breaks only
 * the server that uses it; anywhere else it is a ConfigError. Disabled servers are left out.
 */
export async function resolveFile(
  main: ConfigFile,
  { environment = process.env }: Omit<ResolveOptions, 'folder'> = {},
): Promise<ResolvedConfig> {
  const { servers, notices, files } = await collectServers(main)
  const config = structuredClone(ownConfig(main))
  const scope: Scope = { source: main.source, environment, folder: dirname(main.path) }
  for (const key of FILLED)
    if (config[key]) Object.assign(config, { [key]: filled(config[key], [key], scope) })
  for (const place of PATHS) {
    const path = place.split('.')
    const parent = valueAt(config, path.slice(0, -1))
    const key = path.at(-1) ?? ''
    if (isRecord(parent) && typeof parent[key] === 'string') parent[key] = pathFrom(scope.folder, parent[key])
  }
  const entries: Record<string, ServerConfig> = {}
  const brokenServers: Record<string, string> = {}
  const enabled = servers.filter(({ entry }) => entry?.disabled !== true)
  for (const server of enabled) {
    const { name, entry, file } = server
    entries[name] = (isRecord(entry) ? entry : {}) as ServerConfig
    const found = filledServer(server, { ...scope, source: file.source }, files)
    const mistake = found instanceof ConfigError ? undefined : mistakeIn(server, found)
    // One that depends on the environment costs only the server.
    if (mistake && !file.isIncluded && !JSON.stringify(entry).includes('${')) throw mistake
    if (mistake ?? found instanceof ConfigError)
      brokenServers[name] = (mistake ?? (found as ConfigError)).message
    else entries[name] = found as ServerConfig
  }
  if (servers.length > 0 || isRecord(config.mcpServers)) config.mcpServers = entries
  const names = servers.map(({ name }) => name)
  const doubts = await checkConfig(config, main.source, names)
  return {
    ...{ config, file: main.path, source: main.source, brokenServers, files },
    notices: [...notices, ...doubts],
    autoApprove: Object.fromEntries(enabled.map(({ name, autoApprove }) => [name, autoApprove])),
    fromEnvironment: Object.fromEntries(enabled.map(({ name, entry }) => [name, filledKeys(entry)])),
  }
}

/** What variables are replaced from. */
interface Scope {
  source: ConfigSource
  environment: Environment
  folder: string
}

/** The variables and headers of a server whose values come from `${NAME}`. */
function filledKeys(entry: ServerConfig): string[] {
  const { env, headers } = (isRecord(entry) ? entry : {}) as Record<string, unknown>
  const settings = { ...(isRecord(env) && env), ...(isRecord(headers) && headers) }
  return Object.keys(settings).filter(key => String(settings[key]).search(VARIABLE) >= 0)
}

const FILLED_IN_SERVER = ['command', 'args', 'cwd', 'env', 'envFile', 'url', 'headers', 'oauth']

/** A server with its variables filled in and absolute paths, or why it cannot be used. Adds its file of variables to `files`. */
function filledServer(
  { entry, path, problem, file }: FoundServer,
  scope: Scope,
  files: string[],
): ServerConfig | ConfigError {
  if (problem || !isRecord(entry)) return problem ?? entry
  try {
    const given = Object.entries(entry).filter(([key]) => FILLED_IN_SERVER.includes(key))
    const server = { ...entry, ...filled(Object.fromEntries(given), path, scope) } as Record<string, unknown>
    const { cwd, envFile, env } = server
    const folder = dirname(file.path)
    // Numbers and booleans become strings, as in an environment.
    if (isRecord(env))
      server.env = Object.fromEntries(Object.entries(env).map(([key, value]) => [key, String(value)]))
    if (typeof cwd === 'string') server.cwd = pathFrom(folder, cwd)
    if (typeof envFile === 'string') {
      const variables = pathFrom(folder, envFile)
      files.push(variables)
      server.env = { ...parseEnv(readFileSync(variables, 'utf8')), ...(server.env as object | undefined) }
    }
    return server as unknown as ServerConfig
  } catch (error) {
    if (error instanceof ConfigError) return error
    const unreadable = `cannot be read: ${(error as Error).message}`
    return scope.source.error([...path, 'envFile'], unreadable, { cause: error })
  }
}

/** Fills in every string in a value, and leaves the rest as it is. Throws a ConfigError. */
function filled<Value>(value: Value, path: ConfigPath, scope: Scope): Value {
  if (typeof value === 'string') return filledText(value, path, scope) as Value
  if (Array.isArray(value)) return value.map((each, index) => filled(each, [...path, index], scope)) as Value
  if (!isObjectLike(value)) return value
  const entries = Object.entries(value).map(([key, each]) => [key, filled(each, [...path, key], scope)])
  return Object.fromEntries(entries)
}

/** `${NAME}`, `${NAME:-default}`, and the variables of Cursor and VS Code: `${env:NAME}`, `${input:id}`, `${userHome}` … */
const VARIABLE = /\$\{([^}]+?)(?::-([^}]*))?\}/g

/** Throws a ConfigError on a variable without a value or default. */
function filledText(text: string, path: ConfigPath, { source, environment, folder }: Scope): string {
  const editors = new Map([
    ['workspaceFolder', folder],
    ['workspaceRoot', folder],
    ['workspaceFolderBasename', basename(folder)],
    ['userHome', homedir()],
    ['cwd', process.cwd()],
    ['pathSeparator', sep],
    ['/', sep],
  ])
  return text.replace(VARIABLE, (_, given: string, fallback: string | undefined) => {
    // VS Code asks for these: `perplexity-key` is TOOLPOST_INPUT_PERPLEXITY_KEY here.
    const [, input] = /^input:(.*)/s.exec(given) ?? []
    const name = input
      ? `TOOLPOST_INPUT_${input.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`
      : given.replace(/^env:/, '')
    const value = editors.get(given) ?? environment[name] ?? fallback
    if (value !== undefined) return value
    const isOther = name.includes(':')
    throw source.error(
      path,
      isOther ? `\${${given}} is not supported` : `the environment variable ${name} is not set`,
    )
  })
}
