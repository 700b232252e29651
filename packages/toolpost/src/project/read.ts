import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { closest, distance } from 'fastest-levenshtein'
import { joinPlace, kindOf } from '../schema/explain.ts'
import { isRecord, valueAt } from '../util/guards.ts'
import { isLoopback } from '../util/text.ts'
import { serverProblem } from './check.ts'
import { ConfigError, DEFAULT_PORT, type ServerConfig, type ToolpostConfig } from './config.ts'
import { configKeys, problemIn, serverKeys } from './config-schema.ts'
import { type KnownProgram, normaliseServer } from './other-programs.ts'
import { type ConfigPath, ConfigSource } from './source.ts'

export const DEFAULT_CONFIG_FILE = 'toolpost.json'

export interface ConfigFile {
  source: ConfigSource
  /** Absolute. */
  path: string
  isIncluded: boolean
}

/** A server as it was found, with our keys; its variables are not filled in yet. */
export interface FoundServer {
  name: string
  entry: ServerConfig
  file: ConfigFile
  path: ConfigPath
  /** Keys that Toolpost does not know, as they are shown. */
  ignored: readonly string[]
  autoApprove: readonly string[]
  problem: ConfigError | undefined
}

export interface CollectedServers {
  /** In the order of the configuration: its own, then those of each included file. Names are unique. */
  servers: FoundServer[]
  notices: string[]
  /** Every file, including those that do not exist yet. */
  files: string[]
}

/** Opens a configuration; `undefined` if no file was given and there is none. Rejects with a ConfigError. */
export async function openConfig(file: string | undefined, folder: string): Promise<ConfigFile | undefined> {
  const shown = file ?? DEFAULT_CONFIG_FILE
  const path = resolve(folder, shown)
  try {
    const text = await readFile(path, 'utf8')
    return { source: new ConfigSource(shown, text), path, isIncluded: false }
  } catch (error) {
    if (error instanceof ConfigError) throw error
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' && file === undefined) return undefined
    const problem = code === 'ENOENT' ? 'file not found' : `cannot be read: ${message}`
    throw new ConfigError(shown, '', problem, { cause: error })
  }
}

/** What a configuration says in our keys, without its servers; not checked yet. */
export function ownConfig({ source }: ConfigFile): ToolpostConfig {
  const { servers: _, context_servers: __, inputs: ___, ...given } = source.value as Record<string, unknown>
  const known = configKeys()
  const own = Object.fromEntries(Object.entries(given).filter(([key]) => known.includes(key)))
  if (!isRecord(own.mcp)) return own
  const { servers, inputs, ...mcp } = own.mcp
  return { ...own, mcp }
}

/** The servers of a configuration and of the files it includes. Rejects with a ConfigError. */
export async function collectServers(main: ConfigFile): Promise<CollectedServers> {
  const all = { servers: [], notices: [], files: [main.path] }
  await collect(main, main, all)
  return all
}

/** The servers that `toolpost.json` in this folder would have if it included the program's file. */
export async function programServers({ file }: KnownProgram, folder: string): Promise<FoundServer[]> {
  const source = new ConfigSource(DEFAULT_CONFIG_FILE, JSON.stringify({ include: [file] }))
  const path = join(folder, DEFAULT_CONFIG_FILE)
  const { servers } = await collectServers({ source, path, isIncluded: false })
  return servers.map(server => {
    const isComplete = !server.problem && !JSON.stringify(server.entry).includes('${')
    return isComplete ? { ...server, problem: mistakeIn(server, server.entry) } : server
  })
}

/** Keys that have no effect in an included file, which should not go unnoticed. */
const OWN_ONLY = ['policy', 'clients', 'limits', 'gateway', 'approvals']

/** Adds the servers of a file, then of those it includes; each file is read once. */
async function collect(file: ConfigFile, main: ConfigFile, all: CollectedServers): Promise<void> {
  const { source, isIncluded } = file
  const shown = source.file
  if (!isRecord(source.value)) throw source.error([], `must be object, got ${kindOf(source.value)}`)
  const found = serversIn(file, dirname(main.path))
  for (const server of found) {
    const earlier = all.servers.find(({ name }) => name === server.name)
    const skipped = isItself(server, main) ? 'which is Toolpost itself' : ''
    const reason = skipped || (earlier && `already defined in ${earlier.file.source.file}`)
    if (reason) all.notices.push(`⚠️ ${shown}: skipping '${server.name}', ${reason}`)
    else all.servers.push(server)
  }
  const keys = Object.keys(source.value)
  const unknown = isIncluded ? [] : unknownKeys(keys, [...configKeys(), 'projects'], [])
  all.notices.push(...ignoredLine(shown, [...unknown, ...found.flatMap(({ ignored }) => ignored)]))
  const useless = isIncluded ? keys.filter(key => OWN_ONLY.includes(key)) : []
  if (useless.length > 0)
    all.notices.push(`⚠️ ${shown}: only servers are included; ignoring ${useless.join(', ')}`)
  // In other programs' files, `include` may mean something else.
  const { include } = source.value
  const names = Array.isArray(include) && include.every(each => typeof each === 'string') ? include : []
  for (const name of names) {
    const path = pathFrom(dirname(file.path), name)
    if (all.files.includes(path)) continue
    all.files.push(path)
    const text = await readFile(path, 'utf8').catch(({ code, message }: NodeJS.ErrnoException) => {
      const problem = code === 'ENOENT' ? 'does not exist yet' : `cannot be read: ${message}`
      all.notices.push(`⚠️ ${shown}: the included file ${name} ${problem}`)
    })
    if (text === undefined) continue
    await collect({ source: new ConfigSource(name, text), path, isIncluded: true }, main, all)
  }
}

/** Resolves a path relative to `folder`; `~` is the home folder. */
export function pathFrom(folder: string, path: string): string {
  const home = path.replace(/^(?:~|\$\{userHome\}|\$\{env:HOME\}|\$\{HOME\})(?=[\\/]|$)/, () => homedir())
  return resolve(folder, home)
}

/** The servers in a file, whichever program wrote it: Claude Code also has them by folder, VS Code's settings under `mcp`. */
function serversIn(file: ConfigFile, folder: string): FoundServer[] {
  const { source, isIncluded } = file
  const { value } = source
  const own = [['mcpServers'], ['servers'], ['context_servers'], ['mcp', 'servers']]
  return [...own, ['projects', folder, 'mcpServers']].flatMap(place => {
    const servers = valueAt(value, place)
    return Object.entries(isRecord(servers) ? servers : {}).map(([name, raw]) => {
      const path = [...place, name]
      const read = isRecord(raw) ? normaliseServer(raw) : { entry: raw }
      const { entry, ignored = [], autoApprove = [], problem } = read as ReturnType<typeof normaliseServer>
      // An included file must not say whom to trust, nor change what needs approval.
      if (isIncluded && isRecord(entry)) delete entry.trust
      return {
        ...{ name, entry: entry as unknown as ServerConfig, file, path },
        ignored: unknownKeys(ignored, serverKeys(), path),
        autoApprove: isIncluded ? [] : autoApprove,
        problem: problem === undefined ? undefined : source.error(path, problem),
      }
    })
  })
}

/** A mistake in a server, whose variables are filled in. */
export function mistakeIn({ name, file, path }: FoundServer, entry: ServerConfig): ConfigError | undefined {
  const found = problemIn({ mcpServers: { [name]: entry } })
  const problem = found?.problem ?? serverProblem(entry)
  const place = [...path, ...(found?.path.slice(2) ?? [])]
  return problem === undefined ? undefined : file.source.error(place, problem, found)
}

/**
 * If an editor has Toolpost as a server and its file is included here, Toolpost would start itself, or offer its own tools to
 * itself, endlessly.
 */
function isItself({ entry, file }: FoundServer, main: ConfigFile): boolean {
  if (!file.isIncluded || !isRecord(entry)) return false
  const { command, args = [], url } = entry as { command?: unknown; args?: unknown; url?: unknown }
  if (typeof url === 'string' && URL.canParse(url)) {
    const { hostname, port, pathname } = new URL(url)
    const own = valueAt(main.source.value, ['gateway', 'port']) ?? DEFAULT_PORT
    return isLoopback(hostname) && Number(port) === own && pathname === '/mcp'
  }
  const words = [command, args].flat().filter(word => typeof word === 'string')
  return words.includes('serve') && words.some(word => /^toolpost(@.*|\.c?js|\.cmd)?$/.test(basename(word)))
}

/** Those that are not known, each with its place and the known key that was probably meant. */
function unknownKeys(keys: readonly string[], known: string[], path: ConfigPath): string[] {
  const unknown = keys.filter(key => !known.includes(key) || path.length > 0)
  return unknown.map(key => {
    const place = [...path, key].map(String).reduce(joinPlace, '')
    const meant = closest(key, known)
    const isNear = key.length < 64 && distance(key.toLowerCase(), meant.toLowerCase()) <= key.length / 4
    return isNear ? `${place} (did you mean '${meant}'?)` : place
  })
}

const MAX_SHOWN = 20

/** One line naming them, or the first few; none if there are none. */
function ignoredLine(file: string, keys: readonly string[]): string[] {
  if (keys.length === 0) return []
  const more = keys.length > MAX_SHOWN ? ` and ${keys.length - MAX_SHOWN} more` : ''
  const shown = `${keys.length === 1 ? 'key' : 'keys'} ${keys.slice(0, MAX_SHOWN).join(', ')}${more}`
  return [`⚠️ ${file}: ignoring unknown ${shown}`]
}
