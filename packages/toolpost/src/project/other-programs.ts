import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { isRecord } from '../util/guards.ts'
import { packageRoot } from '../util/package-root.ts'
import { platform } from '../util/platform.ts'
import { serverKeys } from './config-schema.ts'

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
export interface NormalisedServer {
  /** Only keys of ours; their values are not checked yet. */
  entry: Record<string, unknown>
  ignored: string[]
  /** Tools that need no approval, in Cline's notation. */
  autoApprove: string[]
  problem: string | undefined
}

/** Other names for our keys: of Windsurf, Cline, Roo, Gemini CLI, Copilot. */
const RENAMED = new Map(
  Object.entries({
    ...{
      serverUrl: 'url',
      httpUrl: 'url',
      transport: 'type',
      transportType: 'type',
      alwaysAllow: 'autoApprove',
    },
    ...{ tools: 'include', includeTools: 'include', disabledTools: 'exclude', excludeTools: 'exclude' },
  }),
)
/** In lower case, without `-` and `_`. */
const TYPES = new Map(
  Object.entries({ stdio: 'stdio', local: 'stdio', http: 'http', streamablehttp: 'http', sse: 'sse' }),
)
/** Cline and its forks count seconds, up to an hour; Gemini CLI counts milliseconds. */
const MAX_SECONDS = 3_600

/** What another program's value says in our keys; `undefined` if it would not write such a value, which is then ignored. */
function meaningOf(key: string, value: unknown): Partial<Omit<NormalisedServer, 'ignored'>> | undefined {
  const own = RENAMED.get(key) ?? key
  const asIs = { entry: { [own]: value } }
  switch (own) {
    case 'command': {
      // A string, a list that includes the arguments, or an object in older files of Zed.
      if (Array.isArray(value)) return { entry: { command: value[0], args: value.slice(1) } }
      if (!isRecord(value)) return asIs
      const { path, args = [], env = {} } = value
      return { entry: { command: path, args, env: withoutNulls(env) } }
    }
    case 'type': {
      const name = typeof value === 'string' ? value.slice(0, 50) : ''
      const type = TYPES.get(name.toLowerCase().replace(/[-_\s]/g, ''))
      if (type) return { entry: { type } }
      return { problem: `invalid '${key}' '${name}'; expected one of stdio, http, streamable-http, sse` }
    }
    case 'url':
      return key === own || typeof value === 'string' ? asIs : undefined
    case 'include':
    case 'exclude':
      return key === own || isTexts(value) ? asIs : undefined
    case 'autoApprove':
      // Exact names only: nobody has reviewed what a pattern would allow.
      return isTexts(value) && !value.some(name => /[*?]/.test(name)) ? { autoApprove: value } : undefined
    case 'timeout': {
      const given = typeof value === 'object' ? 0 : Number(value)
      if (!(given > 0 && given < Number.MAX_SAFE_INTEGER)) return undefined
      return { entry: { timeoutMs: Math.max(1, Math.round(given > MAX_SECONDS ? given : given * 1_000)) } }
    }
    case 'enabled':
      return typeof value === 'boolean' ? { entry: { disabled: !value } } : undefined
    case 'env':
    case 'headers':
      return { entry: { [own]: withoutNulls(value) } }
    case 'sandbox':
      // That of VS Code is another.
      return isRecord(value) && isRecord(value.network) ? {} : asIs
    case 'source':
      return value === 'extension' ? { problem: 'is a Zed extension, which only Zed can start' } : {}
    default:
      return serverKeys().includes(key) ? asIs : undefined
  }
}

/** Translates a server written by any program into one of ours. Never throws. */
export function normaliseServer(raw: Readonly<Record<string, unknown>>): NormalisedServer {
  const server: NormalisedServer = { entry: {}, ignored: [], autoApprove: [], problem: undefined }
  const known = serverKeys()
  // Our own keys come last and win.
  const keys = Object.keys(raw).sort((a, b) => Number(known.includes(a)) - Number(known.includes(b)))
  for (const key of keys) {
    const value = raw[key]
    if (value === null || value === undefined) continue
    const meaning = meaningOf(key, value)
    if (!meaning) server.ignored.push(key)
    server.autoApprove.push(...(meaning?.autoApprove ?? []))
    server.problem ??= meaning?.problem
    for (const [name, one] of Object.entries(meaning?.entry ?? {}))
      server.entry[name] = joined(server.entry[name], one)
  }
  return server
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
