import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { isRecord } from '../util/guards.ts'
import { packageRoot } from '../util/package-root.ts'
import { platform as currentPlatform } from '../util/platform.ts'

/** A program on this machine that keeps MCP servers in a file. */
export interface KnownProgram {
  name: string
  /** As written in `include`. */
  file: string
}

/** The programs whose file exists: in the home folder, or in that of a project. */
export function knownPrograms(
  folder: string,
  home = homedir(),
  platform: string = currentPlatform,
): KnownProgram[] {
  const text = readFileSync(join(packageRoot(), 'data', 'programs.json'), 'utf8')
  const programs = JSON.parse(text) as (Record<string, string> & KnownProgram)[]
  const pathOf = (file: string) => (file.startsWith('~') ? join(home, file.slice(1)) : join(folder, file))
  return programs
    .map(program => ({ name: program.name, file: program[platform] ?? program.file }))
    .filter(({ file }) => existsSync(pathOf(file)))
}

/** Another program's server, translated to our keys. */
export interface NormalisedServer {
  /** Only keys of ours; their values are not checked yet. */
  entry: Record<string, unknown>
  /** Keys that Toolpost does not know. */
  ignored: string[]
  /** Tools that need no approval, in Cline's notation. */
  autoApprove: string[]
  /** Why the server cannot be used; `undefined` if it can. */
  problem: string | undefined
}

/** What another program's key means in ours; `undefined` if it would not write such a value, which is then ignored. */
type Meaning = { entry?: Record<string, unknown>; autoApprove?: string[]; problem?: string } | undefined

/** Claude, Cursor and VS Code write `type`; Cline `transportType`. In lower case, without `-` and `_`. */
const TYPES = new Map([
  ['stdio', 'stdio'],
  ['local', 'stdio'],
  ['http', 'http'],
  ['streamablehttp', 'http'],
  ['sse', 'sse'],
])

/** Cline and its forks count seconds, up to an hour; Gemini CLI counts milliseconds. */
const MAX_SECONDS = 3_600

/** Keys that other programs have, or use differently: Windsurf, Zed, Cline, Roo, Gemini CLI, Copilot. */
function meaningOf(key: string, value: unknown): Meaning | 'own' {
  switch (key) {
    case 'command': {
      // A string, a list that includes the arguments, or an object in older files of Zed.
      if (Array.isArray(value)) return { entry: { command: value[0], args: value.slice(1) } }
      if (!isRecord(value)) return { entry: { command: value } }
      const { path, args, env } = value
      return {
        entry: { command: path, ...(args ? { args } : {}), ...(env ? { env: withoutNulls(env) } : {}) },
      }
    }
    case 'type':
    case 'transport':
    case 'transportType': {
      const name = typeof value === 'string' ? value : ''
      const type = TYPES.get(name.toLowerCase().replace(/[-_\s]/g, ''))
      if (type) return { entry: { type } }
      const shown = name === '' ? '' : ` '${name.slice(0, 50)}'`
      return { problem: `invalid '${key}'${shown}; expected one of stdio, http, streamable-http, sse` }
    }
    case 'serverUrl':
    case 'httpUrl':
      return typeof value === 'string' ? { entry: { url: value } } : undefined
    case 'timeout': {
      const given = Number(value)
      if (typeof value === 'object' || !(given > 0 && given < Number.MAX_SAFE_INTEGER)) return undefined
      return { entry: { timeoutMs: Math.max(1, Math.round(given > MAX_SECONDS ? given : given * 1_000)) } }
    }
    case 'enabled':
      return typeof value === 'boolean' ? { entry: { disabled: !value } } : undefined
    case 'env':
    case 'headers':
      return { entry: { [key]: withoutNulls(value) } }
    case 'tools':
    case 'includeTools':
      return isTexts(value) ? { entry: { include: value } } : undefined
    case 'disabledTools':
    case 'excludeTools':
      return isTexts(value) ? { entry: { exclude: value } } : undefined
    case 'autoApprove':
    case 'alwaysAllow':
      // Exact names only: nobody has reviewed what a pattern would allow.
      return isTexts(value) && !value.some(name => /[*?]/.test(name)) ? { autoApprove: value } : undefined
    case 'sandbox':
      // That of VS Code is another.
      return isRecord(value) && isRecord(value.network) ? {} : 'own'
    case 'source':
      return value === 'extension' ? { problem: 'is a Zed extension, which only Zed can start' } : {}
    default:
      return 'own'
  }
}

/** Translates a server written by any program into one of ours; `known` are our keys. Never throws. */
export function normaliseServer(
  raw: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
): NormalisedServer {
  const server: NormalisedServer = { entry: {}, ignored: [], autoApprove: [], problem: undefined }
  // Our own keys come last and win.
  const keys = Object.keys(raw).sort((a, b) => Number(known.has(a)) - Number(known.has(b)))
  for (const key of keys) {
    const value = raw[key]
    if (value === null || value === undefined) continue
    const read = meaningOf(key, value)
    const meaning = read !== 'own' ? read : known.has(key) ? { entry: { [key]: value } } : undefined
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
