import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { parseEnv } from 'node:util'
import { distance } from 'fastest-levenshtein'
import { kindOf } from '../schema/explain.ts'
import { isObjectLike, isRecord, ownValue, valueAt } from '../util/guards.ts'
import { packageRoot } from '../util/package-root.ts'
import type { Environment } from '../util/platform.ts'
import { CONFIG_KEYS, problemsIn, SERVER_KEYS, serverProblem } from './check.ts'
import { ConfigError, DEFAULT_PORT, type ServerConfig, type ToolpostConfig } from './config.ts'
import { exampleServers } from './example-home.ts'
import { type KnownProgram, normaliseServer } from './other-programs.ts'
import { type ConfigPath, type ConfigSource, configSource, placeOf, readText } from './source.ts'

export const DEFAULT_CONFIG_FILE = 'toolpost.json'

/** What a configuration says, checked, with the environment filled in: all that a project needs to know. */
export interface ResolvedConfig {
  config: ToolpostConfig
  file: string | undefined
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

/** Reads, checks and resolves a configuration, or the built-in example if there is no file. Rejects with a ConfigError. */
export async function resolveConfig(
  file: string | undefined,
  { folder = process.cwd(), environment }: { folder?: string; environment?: Environment } = {},
): Promise<ResolvedConfig> {
  const shown = file ?? DEFAULT_CONFIG_FILE
  const path = resolve(folder, shown)
  const text = readText(shown, path)
  if (text !== undefined) return resolveSource(configSource(shown, text, path), environment)
  if (file !== undefined) throw new ConfigError(shown, '', 'file not found')
  return builtInExample()
}

/** Used without any configuration: the local tools, a folder of household notes, and the example home. */
export function builtInExample(): ResolvedConfig {
  return {
    config: { documents: join(packageRoot(), 'example', 'notes'), mcpServers: exampleServers() },
    file: undefined,
    source: configSource(DEFAULT_CONFIG_FILE, '{}'),
    files: [resolve(DEFAULT_CONFIG_FILE)],
    brokenServers: {},
    notices: [],
    autoApprove: {},
    fromEnvironment: {},
  }
}

/** Keys in which `${NAME}` is replaced from the environment, besides servers. */
const FILLED = ['clients', 'approvals', 'gateway', 'durable', 'voice', 'models']
const PATHS = ['documents', 'sentences.folder', 'voice.whisper.model', 'voice.piperModel', 'history.file']

/** An unset variable breaks only the server that uses it; anywhere else it is a mistake. Disabled servers are left out. */
export async function resolveSource(source: ConfigSource, environment: Environment = process.env) {
  const { servers, notices, files } = collectServers(source)
  const folder = dirname(source.path)
  const scope: Scope = { source, environment, folder }
  const own = Object.entries(source.value as object).filter(([key]) => CONFIG_KEYS.includes(key))
  const config: ToolpostConfig & Record<string, unknown> = structuredClone(Object.fromEntries(own))
  for (const key of FILLED)
    if (config[key]) Object.assign(config, { [key]: filled(config[key], [key], scope) })
  for (const path of PATHS.map(place => place.split('.'))) {
    const parent = valueAt(config, path.slice(0, -1))
    const key = path.at(-1) ?? ''
    if (isRecord(parent) && typeof parent[key] === 'string') parent[key] = pathFrom(folder, parent[key])
  }
  const entries: Record<string, ServerConfig> = {}
  const brokenServers: Record<string, string> = {}
  const enabled = servers.filter(({ entry }) => entry?.disabled !== true)
  for (const server of enabled) {
    const { name, entry, source: written, path } = server
    const found = filledServer(server, { ...scope, source: written }, files)
    const wrong = found instanceof ConfigError ? undefined : serverProblem(name, found)
    const result = wrong ? written.error({ ...wrong, path: [...path, ...wrong.path.slice(2)] }) : found
    // A mistake that depends on the environment, or on another program, costs only the server.
    if (wrong && !written.isIncluded && !JSON.stringify(entry).includes('${')) throw result
    const isBroken = result instanceof ConfigError
    if (isBroken) brokenServers[name] = result.message
    entries[name] = isBroken ? (isRecord(entry) ? entry : ({} as ServerConfig)) : result
  }
  if (servers.length > 0 || isRecord(config.mcpServers)) config.mcpServers = entries
  const names = servers.map(({ name }) => name)
  for await (const problem of problemsIn(config, names)) throw source.error(problem)
  const declared = (config.tools ?? []).map(({ name }) => name)
  for (const name of new Set(declared.filter((each, at) => declared.indexOf(each) < at)))
    notices.push(`⚠️ ${source.file}: the tool '${name}' is declared twice; the last declaration counts`)
  return {
    config,
    file: source.path,
    source,
    brokenServers,
    files,
    notices,
    autoApprove: Object.fromEntries(enabled.map(({ name, autoApprove }) => [name, autoApprove])),
    fromEnvironment: Object.fromEntries(enabled.map(({ name, entry }) => [name, variablesIn(entry)])),
  }
}

/** The servers that `toolpost.json` in this folder would have if it included the program's file. */
export async function programServers({ file }: KnownProgram, folder: string): Promise<FoundServer[]> {
  const text = JSON.stringify({ include: [file] })
  return collectServers(configSource(DEFAULT_CONFIG_FILE, text, join(folder, DEFAULT_CONFIG_FILE))).servers
}

/** Keys that have no effect in an included file, which should not go unnoticed. */
const OWN_ONLY = ['policy', 'clients', 'limits', 'gateway', 'approvals']

/** In the order of the configuration: its own servers, then those of each included file; names are unique. */
function collectServers(main: ConfigSource) {
  const servers: FoundServer[] = []
  const notices: string[] = []
  const files = [main.path]
  const collect = (source: ConfigSource): void => {
    const { file, value, isIncluded } = source
    if (!isRecord(value)) throw source.error({ path: [], problem: `must be object, got ${kindOf(value)}` })
    const notice = (text: string) => notices.push(`⚠️ ${file}: ${text}`)
    const keys = Object.keys(value)
    const unknown = isIncluded ? [] : keys.filter(key => ![...CONFIG_KEYS, 'projects'].includes(key))
    const shown = unknown.map(key => shownKey([], key, CONFIG_KEYS))
    for (const server of serversIn(source, dirname(main.path))) {
      const { name, path, ignored } = server
      const earlier = servers.find(other => other.name === name)
      if (isItself(server, main)) notice(`skipping '${name}', which is Toolpost itself`)
      else if (earlier) notice(`skipping '${name}', already defined in ${earlier.source.file}`)
      else servers.push(server)
      shown.push(...ignored.map(key => shownKey(path, key, SERVER_KEYS)))
    }
    if (shown.length > 0)
      notice(`ignoring unknown ${shown.length === 1 ? 'key' : 'keys'} ${shown.join(', ')}`)
    const useless = isIncluded ? keys.filter(key => OWN_ONLY.includes(key)) : []
    if (useless.length > 0) notice(`only servers are included; ignoring ${useless.join(', ')}`)
    // In other programs' files, `include` may mean something else.
    const { include } = value
    for (const name of Array.isArray(include) ? include.filter(each => typeof each === 'string') : []) {
      const path = pathFrom(dirname(source.path), name)
      if (files.includes(path)) continue
      files.push(path)
      const text = readText(name, path)
      if (text === undefined) notice(`the included file ${name} does not exist yet`)
      else collect(configSource(name, text, path, true))
    }
  }
  collect(main)
  return { servers, notices, files }
}

type FoundServer = ReturnType<typeof serversIn>[number]

/** The servers in a file, whichever program wrote it: Claude Code also has them by folder, VS Code's settings under `mcp`. */
function serversIn(source: ConfigSource, folder: string) {
  const own = [['mcpServers'], ['servers'], ['context_servers'], ['mcp', 'servers']]
  return [...own, ['projects', folder, 'mcpServers']].flatMap(place => {
    const servers = valueAt(source.value, place)
    return Object.entries(isRecord(servers) ? servers : {}).map(([name, raw]) => {
      const { entry, autoApprove, ...read } = normaliseServer(raw)
      const found = { ...read, name, source, path: [...place, name] }
      if (!source.isIncluded || !isRecord(entry))
        return { ...found, entry: entry as ServerConfig, autoApprove }
      // An included file must not say whom to trust, nor change what needs approval.
      const { trust: _, ...rest } = entry
      return { ...found, entry: rest as unknown as ServerConfig, autoApprove: [] }
    })
  })
}

/** If an editor's file is included that has Toolpost as a server, it would start itself, or its own tools, endlessly. */
function isItself({ entry, source }: FoundServer, main: ConfigSource): boolean {
  const [command, args, url] = ['command', 'args', 'url'].map(key => valueAt(entry, [key]))
  const words = [command, args].flat().map(String)
  const isOurs = words.some(word => /^toolpost(@.*|\.c?js|\.cmd)?$/.test(basename(word)))
  const port = valueAt(main.value, ['gateway', 'port']) ?? DEFAULT_PORT
  const own = ['127.0.0.1', 'localhost', '[::1]'].map(host => `http://${host}:${port}/mcp`)
  return source.isIncluded && ((isOurs && words.includes('serve')) || own.includes(String(url)))
}

function shownKey(path: ConfigPath, key: string, known: readonly string[]): string {
  const meant = known.find(each => distance(key.toLowerCase(), each.toLowerCase()) <= key.length / 4)
  return `${placeOf([...path, key])}${meant ? ` (did you mean '${meant}'?)` : ''}`
}

function pathFrom(folder: string, path: string): string {
  const home = path.replace(/^(?:~|\$\{userHome\}|\$\{env:HOME\}|\$\{HOME\})(?=[\\/]|$)/, () => homedir())
  return resolve(folder, home)
}

type Scope = { source: ConfigSource; environment: Environment; folder: string }

function variablesIn(entry: ServerConfig): string[] {
  const settings = [valueAt(entry, ['env']), valueAt(entry, ['headers'])].filter(isRecord)
  const filled = settings.flatMap(Object.entries).filter(([, value]) => String(value).search(VARIABLE) >= 0)
  return filled.map(([key]) => key)
}

/** A server with its variables filled in and absolute paths, or why it cannot be used. Adds its file of variables to `files`. */
function filledServer(server: FoundServer, scope: Scope, files: string[]): ServerConfig | ConfigError {
  const { entry, path, problem, source } = server
  if (problem !== undefined) return source.error({ path, problem })
  if (!isRecord(entry)) return entry
  const folder = dirname(source.path)
  try {
    const result = filled(entry, path, scope) as Record<string, unknown>
    const { cwd, envFile, env } = result
    // Numbers and booleans become strings, as in an environment.
    const asText = (value: unknown) => (/number|boolean/.test(typeof value) ? String(value) : value)
    if (isRecord(env))
      result.env = Object.fromEntries(Object.entries(env).map(([key, value]) => [key, asText(value)]))
    if (typeof cwd === 'string') result.cwd = pathFrom(folder, cwd)
    if (typeof envFile === 'string') {
      const variables = pathFrom(folder, envFile)
      files.push(variables)
      result.env = { ...parseEnv(readFileSync(variables, 'utf8')), ...(result.env as object | undefined) }
    }
    return result as unknown as ServerConfig
  } catch (cause) {
    if (cause instanceof ConfigError) return cause
    const unreadable = `cannot be read: ${(cause as Error).message}`
    return source.error({ path: [...path, 'envFile'], problem: unreadable }, { cause })
  }
}

function filled(value: unknown, path: ConfigPath, scope: Scope): unknown {
  if (typeof value === 'string') return filledText(value, path, scope)
  if (Array.isArray(value)) return value.map((each, index) => filled(each, [...path, index], scope))
  if (!isObjectLike(value)) return value
  const entries = Object.entries(value).map(([key, each]) => [key, filled(each, [...path, key], scope)])
  return Object.fromEntries(entries)
}

/** `${NAME}`, `${NAME:-default}`, and the variables of Cursor and VS Code: `${env:NAME}`, `${input:id}`, `${userHome}` … */
const VARIABLE = /\$\{([^}]+?)(?::-([^}]*))?\}/g

function filledText(text: string, path: ConfigPath, { source, environment, folder }: Scope): string {
  const editors: Record<string, string> = {
    workspaceFolder: folder,
    workspaceRoot: folder,
    workspaceFolderBasename: basename(folder),
    userHome: homedir(),
    cwd: process.cwd(),
    pathSeparator: sep,
    '/': sep,
  }
  return text.replace(VARIABLE, (_, given: string, fallback: string | undefined) => {
    // VS Code asks for these: `perplexity-key` is TOOLPOST_INPUT_PERPLEXITY_KEY here.
    const [, input] = /^input:(.*)/s.exec(given) ?? []
    const name = input
      ? `TOOLPOST_INPUT_${input.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`
      : given.replace(/^env:/, '')
    const value = ownValue(editors, given) ?? environment[name] ?? fallback
    if (value !== undefined) return value
    const unset = `the environment variable ${name} is not set`
    throw source.error({ path, problem: name.includes(':') ? `\${${given}} is not supported` : unset })
  })
}
