import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { isRecord } from '../runtime/guards.ts'
import { checkLimits } from './check-limits.ts'
import { checkPolicy } from './check-policy.ts'
import { checkServers } from './check-servers.ts'
import { checkVoice } from './check-voice.ts'
import { collectServers } from './collect-servers.ts'
import {
  ConfigError,
  DEFAULT_PORT,
  type ServerConfig,
  type ToolpostConfig,
  type VoiceConfig,
} from './config.ts'
import { type ConfigSchema, configSchema } from './config-schema.ts'
import { type ConfigPath, ConfigSource } from './config-source.ts'
import type { FoundServer, ServerFile } from './found-servers.ts'
import { ignoredLine, nearestKey } from './ignored-keys.ts'

export const DEFAULT_CONFIG_FILE = 'toolpost.json'

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
  const path = resolve(folder, file ?? DEFAULT_CONFIG_FILE)
  const shown = file ?? DEFAULT_CONFIG_FILE
  const text = await readText(path, shown, file !== undefined)
  if (text === undefined) return undefined
  const source = new ConfigSource(shown, text)
  const schema = await configSchema()
  const main = { source, path, shown, isIncluded: false }
  const port = portIn(source.value)
  const { servers, notices, paths } = await collectServers(main, { schema, folder: dirname(path), port })
  const config = takeConfig(source, schema, servers)
  checkLimits(config, source)
  checkVoice(config, source)
  const doubts = await checkPolicy(config, source)
  return {
    config: withAbsolutePaths(config, dirname(path)),
    file: path,
    source,
    servers,
    notices: [...ignoredIn(main, schema, servers), ...notices, ...doubts],
    files: [path, ...paths],
  }
}

/** The checked configuration, reduced to our keys, with all servers. */
function takeConfig(
  source: ConfigSource,
  schema: ConfigSchema,
  servers: readonly FoundServer[],
): ToolpostConfig {
  const own = servers.filter(({ file }) => !file.isIncluded)
  const given = ownPart(source.value, schema, own)
  const wrong = schema.problemIn(given)
  if (wrong) throw source.error(pathIn(wrong.path, own), wrong.problem, { key: wrong.key })
  checkServers(own)
  const { mcpServers, ...known } = without(given as object, ['servers', 'context_servers', 'inputs'])
  const hasServers = mcpServers !== undefined || servers.length > 0
  return { ...known, ...(hasServers && { mcpServers: entriesOf(servers) }) }
}

/** Read before validation: an included server on this port would be the gateway itself. */
function portIn(value: unknown): number {
  const gateway = isRecord(value) ? value.gateway : undefined
  const port = isRecord(gateway) ? gateway.port : undefined
  return typeof port === 'number' ? port : DEFAULT_PORT
}

async function readText(path: string, shown: string, wanted: boolean): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' && !wanted) return undefined
    const problem = code === 'ENOENT' ? 'file not found' : `cannot be read: ${message}`
    throw new ConfigError(shown, '', problem, { cause: error })
  }
}

/** The configuration reduced to our keys, with its own servers in `mcpServers`, whatever key they were under. */
function ownPart(value: unknown, { keys }: ConfigSchema, servers: readonly FoundServer[]): unknown {
  if (!isRecord(value)) return value
  const own = servers.filter(({ problem }) => problem === undefined)
  const known = Object.entries(value).filter(([key]) => keys.has(key))
  return {
    ...Object.fromEntries(known),
    ...(isRecord(value.mcp) && { mcp: without(value.mcp, ['servers', 'inputs']) }),
    ...((own.length > 0 || isRecord(value.mcpServers)) && { mcpServers: entriesOf(own) }),
  }
}

/** A server may be under a key other than ours. */
function pathIn(path: readonly string[], own: readonly FoundServer[]): ConfigPath {
  const [first, name, ...rest] = path
  const server = first === 'mcpServers' ? own.find(each => each.name === name) : undefined
  return server ? [...server.path, ...rest] : path
}

/** Keys of other programs are only reported, with a suggestion if one looks like a misspelt key of ours. */
function ignoredIn(
  { source: { value }, shown }: ServerFile,
  { keys }: ConfigSchema,
  servers: readonly FoundServer[],
): string[] {
  const unknown = Object.keys(isRecord(value) ? value : {}).filter(
    key => !keys.has(key) && key !== 'projects',
  )
  const top = unknown.map(key => ({ path: [key], meant: nearestKey(key, keys) }))
  const own = servers.filter(({ file }) => !file.isIncluded)
  const line = ignoredLine(shown, [...top, ...own.flatMap(({ ignored }) => ignored)])
  return line === undefined ? [] : [line]
}

function entriesOf(servers: readonly FoundServer[]): Record<string, ServerConfig> {
  return Object.fromEntries(servers.map(({ name, entry }) => [name, entry]))
}

function without(value: object, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)))
}

/** Paths in a configuration are relative to its folder. */
function withAbsolutePaths(config: ToolpostConfig, folder: string): ToolpostConfig {
  const { documents, voice, history } = config
  return {
    ...config,
    ...(documents !== undefined && { documents: resolve(folder, documents) }),
    ...(voice && { voice: withAbsoluteModels(voice, folder) }),
    ...(history &&
      history.file !== undefined && { history: { ...history, file: resolve(folder, history.file) } }),
  }
}

function withAbsoluteModels(voice: VoiceConfig, folder: string): VoiceConfig {
  const { whisper, piperModel } = voice
  return {
    ...voice,
    ...(whisper && { whisper: { ...whisper, model: resolve(folder, whisper.model) } }),
    ...(piperModel !== undefined && { piperModel: resolve(folder, piperModel) }),
  }
}
