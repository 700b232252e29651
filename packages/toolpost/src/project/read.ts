import { readFile, realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { distance } from 'fastest-levenshtein'
import { joinPlace, kindOf } from '../schema/explain.ts'
import { isRecord, valueAt } from '../util/guards.ts'
import { hasSwap } from '../util/has-swap.ts'
import { isLoopback } from '../util/loopback.ts'
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
    notices: [...notices, ...doubts],
    files: [path, ...paths],
  }
}

/** The configuration reduced to our keys, with all servers in `mcpServers`. Throws a ConfigError. */
function checkedConfig(source: ConfigSource, servers: readonly FoundServer[]): ToolpostConfig {
  const { value } = source
  if (!isRecord(value)) throw source.error([], `the configuration must be object, got ${kindOf(value)}`)
  const { mcp, mcpServers } = value
  const keys = configKeys()
  const unknown = Object.keys(value).filter(key => !keys.has(key))
  const given = {
    ...without(value, [
      ...unknown,
      'servers',
      'context_servers',
      'inputs',
      isRecord(mcpServers) ? 'mcpServers' : '',
    ]),
    ...(isRecord(mcp) && { mcp: without(mcp, ['servers', 'inputs']) }),
  }
  const wrong = problemIn(given)
  if (wrong) throw source.error(wrong.path, wrong.problem, { key: wrong.key })
  const hasServers = mcpServers !== undefined || servers.length > 0
  const entries = Object.fromEntries(servers.map(({ name, entry }) => [name, entry]))
  return { ...given, ...(hasServers && { mcpServers: entries }) }
}

function without(value: object, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)))
}

/** Paths in a configuration are relative to its folder. */
function withAbsolutePaths(config: ToolpostConfig, folder: string): ToolpostConfig {
  const { documents, voice, history, sentences } = config
  const at = (path: string | undefined) => (path === undefined ? undefined : resolve(folder, path))
  const { whisper, piperModel } = voice ?? {}
  const model = at(whisper?.model)
  return {
    ...config,
    ...(documents !== undefined && { documents: resolve(folder, documents) }),
    ...(sentences?.folder !== undefined && {
      sentences: { ...sentences, folder: resolve(folder, sentences.folder) },
    }),
    ...(voice && {
      voice: {
        ...voice,
        ...(whisper && model !== undefined && { whisper: { ...whisper, model } }),
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

/** The servers of a configuration and of the files it includes. Throws a ConfigError on a mistake, also in an own server. */
async function collectServers(main: ServerFile): Promise<CollectedServers> {
  const included: Included = { files: [], paths: [], notices: [] }
  await includeAll(main, [{ shown: main.shown, path: await realPath(main.path) }], included)
  const port = valueAt(main.source.value, ['gateway', 'port'])
  const servers = new Map<string, FoundServer>()
  const notices = included.notices
  for (const file of [main, ...included.files]) {
    const found = serversIn(file, dirname(main.path))
    for (const server of found) {
      const { name } = server
      const earlier = servers.get(name)
      if (isItself(server, typeof port === 'number' ? port : DEFAULT_PORT))
        notices.push(`⚠️ ${file.shown}: skipping '${name}', which is Toolpost itself`)
      else if (earlier)
        notices.push(`⚠️ ${file.shown}: skipping '${name}', already defined in ${earlier.file.shown}`)
      else servers.set(name, checkedServer(server))
    }
    const unknown = [
      ...(file.isIncluded ? [] : unknownKeys(file)),
      ...found.flatMap(({ ignored }) => ignored),
    ]
    notices.push(...ignoredLine(file.shown, unknown))
  }
  return { servers: [...servers.values()], notices, paths: included.paths }
}

export async function serversOf(program: KnownProgram, folder: string): Promise<string[]> {
  return (await programServers(program, folder)).map(({ name }) => name)
}

/** The servers that `toolpost.json` in this folder would have if it included the program's file. */
export async function programServers(
  { file }: KnownProgram,
  folder: string,
): Promise<readonly FoundServer[]> {
  const source = new ConfigSource(DEFAULT_CONFIG_FILE, JSON.stringify({ include: [file] }))
  const path = join(folder, DEFAULT_CONFIG_FILE)
  const main = { source, path, shown: DEFAULT_CONFIG_FILE, isIncluded: false }
  return (await collectServers(main)).servers
}

/** Throws a ConfigError on a mistake in an own server; one in an included file breaks only that server. */
function checkedServer(server: FoundServer): FoundServer {
  const { name, entry, file, path } = server
  if (server.problem !== undefined) return server
  const found = problemIn({ mcpServers: { [name]: entry } })
  const place = found?.path.slice(2) ?? []
  const problem = found?.problem ?? writtenProblem(server)
  if (problem === undefined) return server
  if (!file.isIncluded) throw file.source.error([...path, ...place], problem, { key: found?.key })
  return { ...server, problem: `${place.length > 0 ? `'${place.join('.')}' ` : ''}${problem}` }
}

/** Why a server cannot be used. One with variables is checked once they are filled in. */
function writtenProblem({ entry, ignored }: FoundServer): string | undefined {
  if (entry.disabled || JSON.stringify(entry).includes('${')) return undefined
  const problem = serverProblem(entry)
  const misspelt = ignored.find(({ meant }) => meant === 'command' || meant === 'url')
  if (!problem || !misspelt || (entry.command ?? entry.url) !== undefined) return problem
  return `${problem}; did you mean '${misspelt.meant}' instead of '${misspelt.path.at(-1)}'?`
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
  const words = [command, args].flat().filter(word => typeof word === 'string')
  return words.includes('serve') && words.some(word => /^toolpost(@.*|\.c?js|\.cmd)?$/.test(basename(word)))
}

/** The servers in a file, whichever program wrote it: Claude Code also has them by folder, VS Code's settings under `mcp`. */
function serversIn(file: ServerFile, folder: string): FoundServer[] {
  const { value } = file.source
  const known = serverKeys()
  const inputs = inputsIn(valueAt(value, ['inputs']) ?? valueAt(value, ['mcp', 'inputs']), file.path)
  const places = [
    ...[['mcpServers'], ['servers'], ['context_servers'], ['mcp', 'servers']],
    ['projects', folder, 'mcpServers'],
  ]
  return places.flatMap(place => {
    const servers = valueAt(value, place)
    return Object.entries(isRecord(servers) ? servers : {}).map(([name, raw]) => {
      const path = [...place, name]
      const { entry, ignored, autoApprove, problem } = isRecord(raw)
        ? normaliseServer(raw, known)
        : { entry: raw, ignored: [], autoApprove: [], problem: undefined }
      // An included file must not say whom to trust.
      if (file.isIncluded && isRecord(entry)) delete entry.trust
      return {
        ...{ name, entry: entry as ServerConfig, file, path, inputs, problem },
        ignored: ignored.map(key => ({ path: [...path, key], meant: nearestKey(key, known) })),
        // An included file must not change what needs approval.
        autoApprove: file.isIncluded ? [] : autoApprove,
      }
    })
  })
}

/** Keys that have no effect in an included file, which should not go unnoticed. */
const OWN_ONLY = ['policy', 'clients', 'limits', 'gateway', 'approvals']

interface Included {
  /** In the order they are included, each once. */
  files: ServerFile[]
  /** Every file named, including those that do not exist. */
  paths: string[]
  notices: string[]
}

function realPath(path: string): Promise<string> {
  return realpath(path).catch(() => path)
}

/** Reads the files that a file includes, recursively. Throws a ConfigError on a cycle. */
async function includeAll(
  from: ServerFile,
  chain: readonly { shown: string; path: string }[],
  { files, paths, notices }: Included,
): Promise<void> {
  // In other programs' files, `include` may mean something else.
  const list = valueAt(from.source.value, ['include'])
  const names = Array.isArray(list) && list.every(each => typeof each === 'string') ? list : []
  for (const [index, shown] of names.entries()) {
    const path = pathFrom(dirname(from.path), shown)
    const longer = [...chain, { shown, path: await realPath(path) }]
    if (chain.some(earlier => earlier.path === longer.at(-1)?.path)) {
      const shownChain = longer.map(each => each.shown).join(' → ')
      throw from.source.error(['include', index], `includes itself: ${shownChain}`)
    }
    if (paths.includes(path)) continue
    paths.push(path)
    const text = await readFile(path, 'utf8').catch(({ code, message }: NodeJS.ErrnoException) => {
      const problem = code === 'ENOENT' ? 'does not exist yet' : `cannot be read: ${message}`
      notices.push(`⚠️ ${from.shown}: the included file ${shown} ${problem}`)
    })
    if (text === undefined) continue
    const file = { source: new ConfigSource(shown, text), path, shown, isIncluded: true }
    if (!isRecord(file.source.value)) throw file.source.error([], 'must be an object')
    const useless = Object.keys(file.source.value).filter(key => OWN_ONLY.includes(key))
    if (useless.length > 0)
      notices.push(`⚠️ ${shown}: only servers are included; ignoring ${useless.join(', ')}`)
    files.push(file)
    await includeAll(file, longer, { files, paths, notices })
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

/** Keys of other programs are only reported, with a suggestion if one looks like a misspelt key of ours. */
function unknownKeys({ source: { value } }: ServerFile): IgnoredKey[] {
  const keys = configKeys()
  const unknown = Object.keys(isRecord(value) ? value : {}).filter(
    key => !keys.has(key) && key !== 'projects',
  )
  return unknown.map(key => ({ path: [key], meant: nearestKey(key, keys) }))
}

const MAX_SHOWN = 20

/** One line naming them, or the first few, likely mistakes first; none if there are none. */
function ignoredLine(file: string, keys: readonly IgnoredKey[]): string[] {
  if (keys.length === 0) return []
  const sorted = [...keys.filter(({ meant }) => meant), ...keys.filter(({ meant }) => !meant)]
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
