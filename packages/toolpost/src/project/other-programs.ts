import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { isRecord } from '../util/guards.ts'
import { packageRoot } from '../util/package-root.ts'
import { platform } from '../util/platform.ts'
import { serverKeys } from './check.ts'

/** A program on this machine that keeps MCP servers in a file. */
export interface KnownProgram {
  name: string
  /** As written in `include`. */
  file: string
}

/** The programs whose file exists: in the home folder, or in that of a project. */
export function knownPrograms(folder: string): KnownProgram[] {
  const text = readFileSync(join(packageRoot(), 'data', 'programs.json'), 'utf8')
  const programs = JSON.parse(text) as (Record<string, string> & KnownProgram)[]
  const pathOf = (file: string) =>
    file.startsWith('~') ? join(homedir(), file.slice(1)) : join(folder, file)
  return programs
    .map(program => ({ name: program.name, file: program[platform] ?? program.file }))
    .filter(({ file }) => existsSync(pathOf(file)))
}

/** Another program's server, translated to our keys. */
interface NormalisedServer {
  /** Only keys of ours, if it is an object; their values are not checked yet. */
  entry: unknown
  ignored: string[]
  /** Tools that need no approval, in Cline's notation. */
  autoApprove: string[]
  problem: string | undefined
}

/** Other names for our keys. */
const RENAMED = new Map([
  ...['serverUrl', 'httpUrl'].map(key => [key, 'url'] as const),
  ...['transport', 'transportType'].map(key => [key, 'type'] as const),
  ...['tools', 'includeTools'].map(key => [key, 'include'] as const),
  ...['disabledTools', 'excludeTools'].map(key => [key, 'exclude'] as const),
  ['alwaysAllow', 'autoApprove'],
])
/** In lower case, without `-` and `_`. */
const TYPES = new Map([
  ...['stdio', 'local'].map(name => [name, 'stdio'] as const),
  ...['http', 'streamablehttp'].map(name => [name, 'http'] as const),
  ['sse', 'sse'],
])
/** Cline and its forks count seconds, up to an hour; others count milliseconds. */
const MAX_SECONDS = 3_600

/** What another program's value says in our keys; `undefined` if it would not write such a value, which is then ignored. */
function meaningOf(key: string, value: unknown): Record<string, unknown> | undefined {
  const own = RENAMED.get(key) ?? key
  const isRenamed = own !== key
  switch (own) {
    case 'command': {
      // A string, a list that includes the arguments, or an object in older files of Zed.
      if (Array.isArray(value)) return { command: value[0], args: value.slice(1) }
      if (!isRecord(value)) return { command: value }
      const { path, args = [], env = {} } = value
      return { command: path, args, env: withoutNulls(env) }
    }
    case 'type':
      return {
        type: TYPES.get(
          String(value)
            .toLowerCase()
            .replace(/[-_\s]/g, ''),
        ),
      }
    case 'url':
      return isRenamed && typeof value !== 'string' ? undefined : { url: value }
    case 'include':
    case 'exclude':
      return isRenamed && !isTexts(value) ? undefined : { [own]: value }
    case 'autoApprove':
      // Exact names only: nobody has reviewed what a pattern would allow.
      return isTexts(value) && !value.some(name => /[*?]/.test(name)) ? { autoApprove: value } : undefined
    case 'timeout': {
      const given = typeof value === 'object' ? 0 : Number(value)
      if (!(given > 0 && given < Number.MAX_SAFE_INTEGER)) return undefined
      return { timeoutMs: Math.max(1, Math.round(given > MAX_SECONDS ? given : given * 1_000)) }
    }
    case 'enabled':
      return typeof value === 'boolean' ? { disabled: !value } : undefined
    case 'env':
    case 'headers':
      return { [own]: withoutNulls(value) }
    case 'sandbox':
      // That of VS Code is another.
      return isRecord(value) && isRecord(value.network) ? {} : { sandbox: value }
    case 'source':
      return {}
    default:
      return serverKeys().includes(key) ? { [key]: value } : undefined
  }
}

/** Translates a server written by any program into one of ours. Never throws. */
export function normaliseServer(raw: unknown): NormalisedServer {
  const server: NormalisedServer = { entry: raw, ignored: [], autoApprove: [], problem: undefined }
  if (!isRecord(raw)) return server
  const entry: Record<string, unknown> = {}
  const known = serverKeys()
  // Our own keys come last and win.
  const keys = Object.keys(raw).sort((a, b) => Number(known.includes(a)) - Number(known.includes(b)))
  for (const key of keys.filter(each => raw[each] !== null && raw[each] !== undefined)) {
    const meaning = meaningOf(key, raw[key])
    if (!meaning) server.ignored.push(key)
    for (const [name, one] of Object.entries(meaning ?? {})) entry[name] = joined(entry[name], one)
    if (meaning && 'type' in meaning && meaning.type === undefined)
      server.problem = `invalid '${key}' '${String(raw[key]).slice(0, 50)}'; expected one of stdio, http, streamable-http, sse`
  }
  if (raw.source === 'extension') server.problem = 'is a Zed extension, which only Zed can start'
  const { autoApprove = [], ...rest } = entry
  return { ...server, entry: rest, autoApprove: autoApprove as string[] }
}

/** Lists and objects are merged; of anything else, the later value wins. */
function joined(before: unknown, after: unknown): unknown {
  if (Array.isArray(before) && Array.isArray(after)) return [...before, ...after]
  return isRecord(before) && isRecord(after) ? { ...before, ...after } : after
}

/** Some programs write `null` for an unset variable. */
function withoutNulls(value: unknown): unknown {
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null))
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(each => typeof each === 'string')
}
