import { readFile, realpath, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { distance } from 'fastest-levenshtein'
import { isRecord, valueAt } from '../runtime/guards.ts'
import { hasSwap } from '../runtime/has-swap.ts'
import { isLoopback } from '../runtime/loopback.ts'
import { joinPlace } from '../schema/explain.ts'
import { checkPolicy, checkWritten, serverProblem } from './check.ts'
import { ConfigError, DEFAULT_PORT, type ServerConfig, type ToolpostConfig } from './config.ts'
import { configKeys, problemIn, serverKeys } from './config-schema.ts'
import { type ConfigInput, inputsIn } from './inputs.ts'
import { type KnownProgram, normaliseServer } from './other-programs.ts'
import { type ConfigPath, ConfigSource } from './source.ts'

export const DEFAULT_CONFIG_FILE = 'toolpost.json'

/** A file that servers are read from. */
interface ServerFile {
  source: ConfigSource
  /** Absolute. */
  path: string
  /** The name as the user gave it. */
  shown: string
  isIncluded: boolean
}

/** A server as it was found, with our keys; its variables are not filled in yet. */
export interface FoundServer {
  name: string
  entry: ServerConfig
  file: ServerFile
  /** Where it is in its file. */
  path: ConfigPath
  /** The inputs of its file, by id. */
  inputs: ReadonlyMap<string, ConfigInput>
  /** Its keys that Toolpost does not know. */
  ignored: readonly IgnoredKey[]
  /** Tools that need no approval. */
  autoApprove: readonly string[]
  /** Why it cannot be used; `undefined` if it can. */
  problem: string | undefined
}

/** A configuration as it is written: checked, but without the environment. */
export interface LoadedConfig {
  config: ToolpostConfig
  /** Where it was read from. */
  file: string
  source: ConfigSource
  /** The servers of the file and of those it includes, as they were found. */
  servers: readonly FoundServer[]
  /** Warnings for the user: ignored keys, missing files. */
  notices: readonly string[]
  /** Every file this was read from, including those that do not exist yet. */
  files: readonly string[]
}

/**
 * Reads and checks a configuration; comments are allowed. Without `file`, reads `toolpost.json` in `folder`, and resolves
 * to `undefined` if there is none. Rejects with a ConfigError that says where the mistake is and what is expected.
 */
export async function readConfig(
  file: string | undefined,
  folder = process.cwd(),
): Promise<LoadedConfig | undefined> {
  const shown = file ?? DEFAULT_CONFIG_FILE
  const path = resolve(folder, shown)
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' && file === undefined) return undefined
    const problem = error.code === 'ENOENT' ? 'file not found' : `cannot be read: ${error.message}`
    throw new ConfigError(shown, '', problem, { cause: error })
  })
  if (text === undefined) return undefined
  const main = { source: new ConfigSource(shown, text), path, shown, isIncluded: false }
  const { source } = main
  const { servers, notices, paths } = await collectServers(main)
  const config = checkedConfig(source, servers)
  checkWritten(config, source)
  const doubts = await checkPolicy(config, source)
  return {
    config: withAbsolutePaths(config, dirname(path)),
    file: path,
    source,
    servers,
    notices: [...ignoredIn(main, servers), ...notices, ...doubts],
    files: [path, ...paths],
  }
}

/** The configuration reduced to our keys, with all servers in `mcpServers`. Throws a ConfigError. */
function checkedConfig(source: ConfigSource, servers: readonly FoundServer[]): ToolpostConfig {
  const own = servers.filter(({ file }) => !file.isIncluded)
  const given = ownPart(source.value, own)
  const wrong = problemIn(given)
  if (wrong) {
    // A server may be under a key other than ours.
    const [first, name, ...rest] = wrong.path
    const server = first === 'mcpServers' ? own.find(each => each.name === name) : undefined
    const place = server ? [...server.path, ...rest] : wrong.path
    throw source.error(place, wrong.problem, { key: wrong.key })
  }
  for (const server of own) {
    const problem = server.problem === undefined ? writtenProblem(server) : undefined
    if (problem) throw source.error(server.path, problem)
  }
  const { mcpServers, ...known } = without(given as object, ['servers', 'context_servers', 'inputs'])
  const hasServers = mcpServers !== undefined || servers.length > 0
  return { ...known, ...(hasServers && { mcpServers: entriesOf(servers) }) }
}

function ownPart(value: unknown, servers: readonly FoundServer[]): unknown {
  if (!isRecord(value)) return value
  const keys = configKeys()
  const own = servers.filter(({ problem }) => problem === undefined)
  return {
    ...Object.fromEntries(Object.entries(value).filter(([key]) => keys.has(key))),
    ...(isRecord(value.mcp) && { mcp: without(value.mcp, ['servers', 'inputs']) }),
    ...((own.length > 0 || isRecord(value.mcpServers)) && { mcpServers: entriesOf(own) }),
  }
}

function entriesOf(servers: readonly FoundServer[]): Record<string, ServerConfig> {
  return Object.fromEntries(servers.map(({ name, entry }) => [name, entry]))
}

function without(value: object, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)))
}

/** Why a server cannot be used. One with variables is checked once they are filled in. */
function writtenProblem({ entry, ignored }: FoundServer): string | undefined {
  if (entry.disabled || JSON.stringify(entry).includes('${')) return undefined
  const problem = serverProblem(entry)
  const misspelt = ignored.find(({ meant }) => meant === 'command' || meant === 'url')
  if (!problem || !misspelt || (entry.command ?? entry.url) !== undefined) return problem
  return `${problem}; did you mean '${misspelt.meant}' instead of '${misspelt.path.at(-1)}'?`
}

/** Paths in a configuration are relative to its folder. */
function withAbsolutePaths(config: ToolpostConfig, folder: string): ToolpostConfig {
  const { documents, voice, history } = config
  const { whisper, piperModel } = voice ?? {}
  return {
    ...config,
    ...(documents !== undefined && { documents: resolve(folder, documents) }),
    ...(voice && {
      voice: {
        ...voice,
        ...(whisper && { whisper: { ...whisper, model: resolve(folder, whisper.model) } }),
        ...(piperModel !== undefined && { piperModel: resolve(folder, piperModel) }),
      },
    }),
    ...(history &&
      history.file !== undefined && { history: { ...history, file: resolve(folder, history.file) } }),
  }
}

interface CollectedServers {
  /** In the order of the configuration: its own, then those of each included file. Names are unique. */
  servers: FoundServer[]
  /** Warnings for the user. */
  notices: string[]
  /** Every included file, including those that do not exist yet. */
  paths: string[]
}

/** The servers of a configuration and of the files it includes. Throws a ConfigError on invalid JSON or a cycle. */
async function collectServers(main: ServerFile): Promise<CollectedServers> {
  const { files, paths, notices } = await readIncludes(main)
  const port = valueAt(main.source.value, ['gateway', 'port'])
  const servers = new Map<string, FoundServer>()
  for (const file of [main, ...files]) {
    const found = serversIn(file, dirname(main.path))
    for (const server of found) {
      const { name } = server
      const earlier = servers.get(name)
      if (isItself(server, typeof port === 'number' ? port : DEFAULT_PORT))
        notices.push(`⚠️ ${file.shown}: skipping '${name}', which is Toolpost itself`)
      else if (earlier)
        notices.push(`⚠️ ${file.shown}: skipping '${name}', already defined in ${earlier.file.shown}`)
      else servers.set(name, file.isIncluded ? checkedServer(server) : server)
    }
    if (file.isIncluded)
      notices.push(
        ...ignoredLine(
          file.shown,
          found.flatMap(({ ignored }) => ignored),
        ),
      )
  }
  return { servers: [...servers.values()], notices, paths }
}

/** The servers that `toolpost.json` in this folder would have if it included the program's file. */
export async function serversOf({ file }: KnownProgram, folder: string): Promise<string[]> {
  const source = new ConfigSource(DEFAULT_CONFIG_FILE, JSON.stringify({ include: [file] }))
  const path = join(folder, DEFAULT_CONFIG_FILE)
  const main = { source, path, shown: DEFAULT_CONFIG_FILE, isIncluded: false }
  return (await collectServers(main)).servers.map(({ name }) => name)
}

/** A mistake in an included file breaks only that one server. */
function checkedServer(server: FoundServer): FoundServer {
  const { name, entry } = server
  if (server.problem !== undefined) return server
  const found = problemIn({ mcpServers: { [name]: entry } })
  const place = found?.path.slice(2).join('.')
  const problem = found ? `${place ? `'${place}' ` : ''}${found.problem}` : writtenProblem(server)
  return { ...server, problem }
}

/**
 * If an editor has Toolpost as a server and its file is included here, Toolpost would start itself, or offer its own tools to
 * itself, endlessly.
 */
function isItself({ entry, file }: FoundServer, port: number): boolean {
  if (!file.isIncluded || !isRecord(entry)) return false
  const { command, args = [], url } = entry as { command?: unknown; args?: unknown; url?: unknown }
  if (typeof url === 'string' && URL.canParse(url)) {
    const { hostname, port: given, pathname } = new URL(url)
    return isLoopback(hostname) && Number(given) === port && pathname === '/mcp'
  }
  const words = [command, ...(Array.isArray(args) ? args : [])].filter(word => typeof word === 'string')
  return words.includes('serve') && words.some(word => /^toolpost(@.*|\.c?js|\.cmd)?$/.test(basename(word)))
}

/** Where programs keep their servers; Claude Code also has them by folder, VS Code's settings under `mcp`. */
function serverPlaces(folder: string): ConfigPath[] {
  return [
    ['mcpServers'],
    ['servers'],
    ['context_servers'],
    ['mcp', 'servers'],
    ['projects', folder, 'mcpServers'],
  ]
}

/** The servers in a file, whichever program wrote it; `folder` is the project's. */
function serversIn(file: ServerFile, folder: string): FoundServer[] {
  const { value } = file.source
  const known = serverKeys()
  const inputs = inputsIn(valueAt(value, ['inputs']) ?? valueAt(value, ['mcp', 'inputs']), file.path)
  return serverPlaces(folder).flatMap(place => {
    const servers = valueAt(value, place)
    return Object.entries(isRecord(servers) ? servers : {}).map(([name, raw]) => {
      const path = [...place, name]
      const { entry, ignored, autoApprove, problem } = isRecord(raw)
        ? normaliseServer(raw, known)
        : { entry: raw, ignored: [], autoApprove: [], problem: undefined }
      return {
        ...{ name, entry: entry as ServerConfig, file, path, inputs, problem },
        ignored: ignored.map(key => ({ path: [...path, key], meant: nearestKey(key, known) })),
        // An included file must not change what needs approval.
        autoApprove: file.isIncluded ? [] : autoApprove,
      }
    })
  })
}

/** `~/.claude.json` also contains chat history, and grows. */
const MAX_BYTES = 16_000_000
const MAX_FILES = 100
/** Keys that have no effect in an included file, which should not go unnoticed. */
const OWN_ONLY = ['policy', 'clients', 'limits', 'gateway', 'approvals']

interface Included {
  /** In the order they are included, each once. */
  files: ServerFile[]
  /** Every file named, including those that do not exist. */
  paths: string[]
  notices: string[]
}

/** Reads the files that `main` includes, recursively. Throws a ConfigError on a cycle. */
async function readIncludes(main: ServerFile): Promise<Included> {
  const included: Included = { files: [], paths: [], notices: [] }
  await includeAll(main, [{ shown: main.shown, path: await realPath(main.path) }], included)
  return included
}

function realPath(path: string): Promise<string> {
  return realpath(path).catch(() => path)
}

type Chain = readonly { shown: string; path: string }[]

async function includeAll(from: ServerFile, chain: Chain, included: Included): Promise<void> {
  // In other programs' files, `include` may mean something else.
  const list = valueAt(from.source.value, ['include'])
  const names = Array.isArray(list) && list.every(each => typeof each === 'string') ? list : []
  for (const [index, shown] of names.entries()) {
    const path = pathFrom(dirname(from.path), shown)
    const link = { shown, path: await realPath(path) }
    const longer = [...chain, link]
    if (chain.some(earlier => earlier.path === link.path)) {
      const shownChain = longer.map(each => each.shown).join(' → ')
      throw from.source.error(['include', index], `includes itself: ${shownChain}`)
    }
    if (included.paths.includes(path)) continue
    included.paths.push(path)
    const text = await readIncluded(path, included.paths.length)
    if ('problem' in text) {
      included.notices.push(`⚠️ ${from.shown}: the included file ${shown} ${text.problem}`)
      continue
    }
    const file = { source: new ConfigSource(shown, text.text), path, shown, isIncluded: true }
    if (!isRecord(file.source.value)) throw file.source.error([], 'must be an object')
    const useless = Object.keys(file.source.value).filter(key => OWN_ONLY.includes(key))
    if (useless.length > 0)
      included.notices.push(`⚠️ ${shown}: only servers are included; ignoring ${useless.join(', ')}`)
    included.files.push(file)
    await includeAll(file, longer, included)
  }
}

async function readIncluded(path: string, count: number): Promise<{ text: string } | { problem: string }> {
  if (count > MAX_FILES) return { problem: `is skipped: more than ${MAX_FILES} files are included` }
  try {
    if ((await stat(path)).size > MAX_BYTES) return { problem: `is larger than ${MAX_BYTES} bytes` }
    return { text: await readFile(path, 'utf8') }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return { problem: code === 'ENOENT' ? 'does not exist yet' : `cannot be read: ${message}` }
  }
}

/** Resolves a path relative to `folder`; `~` is the home folder. */
export function pathFrom(folder: string, path: string): string {
  const home = path.replace(/^(?:~|\$\{userHome\}|\$\{env:HOME\}|\$\{HOME\})(?=[\\/]|$)/, () => homedir())
  return resolve(folder, home)
}

/** A key that Toolpost does not know. */
interface IgnoredKey {
  path: ConfigPath
  /** The key of ours that was probably meant. */
  meant: string | undefined
}

const MAX_SHOWN = 20

/** Keys of other programs are only reported, with a suggestion if one looks like a misspelt key of ours. */
function ignoredIn({ source: { value }, shown }: ServerFile, servers: readonly FoundServer[]): string[] {
  const keys = configKeys()
  const unknown = Object.keys(isRecord(value) ? value : {}).filter(
    key => !keys.has(key) && key !== 'projects',
  )
  const top = unknown.map(key => ({ path: [key], meant: nearestKey(key, keys) }))
  const own = servers.filter(({ file }) => !file.isIncluded)
  return ignoredLine(shown, [...top, ...own.flatMap(({ ignored }) => ignored)])
}

/** One line naming them, or the first few; none if there are none. */
function ignoredLine(file: string, keys: readonly IgnoredKey[]): string[] {
  if (keys.length === 0) return []
  // Likely mistakes come first, so they are not left out.
  const sorted = [...keys].sort((a, b) => Number(b.meant !== undefined) - Number(a.meant !== undefined))
  const shown = sorted.slice(0, MAX_SHOWN).map(({ path, meant }) => {
    const place = path.map(String).reduce(joinPlace, '')
    return meant === undefined ? place : `${place} (did you mean '${meant}'?)`
  })
  const more = keys.length > MAX_SHOWN ? ` and ${keys.length - MAX_SHOWN} more` : ''
  return [`⚠️ ${file}: ignoring unknown ${keys.length === 1 ? 'key' : 'keys'} ${shown.join(', ')}${more}`]
}

/** The known key closest to a misspelt one. */
function nearestKey(key: string, known: Iterable<string>): string | undefined {
  const comparable = (text: string) => text.toLowerCase().replace(/[-_\s]/g, '')
  const wanted = comparable(key)
  return [...known].find(each => {
    const other = comparable(each)
    if (wanted === other || hasSwap(wanted, other)) return true
    const shorter = Math.min(wanted.length, other.length)
    return shorter >= 4 && wanted.length < 64 && distance(wanted, other) <= (shorter > 6 ? 2 : 1)
  })
}
