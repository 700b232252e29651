import { isRecord } from '../runtime/guards.ts'

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

/** What another program's key means in ours. */
interface Part {
  entry?: Record<string, unknown>
  autoApprove?: string[]
  problem?: string
}

/** `undefined` if the value is not what that program would write: the key is then ignored. */
type Reader = (value: unknown) => Part | undefined

/** In lower case, without `-` and `_`. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['stdio', 'stdio'],
  ['local', 'stdio'],
  ['http', 'http'],
  ['streamablehttp', 'http'],
  ['sse', 'sse'],
])
const EXPECTED_TYPES = 'stdio, http, streamable-http, sse'

/** Cline and its forks count seconds, up to an hour; Gemini CLI counts milliseconds. */
const MAX_SECONDS = 3_600

/**
 * Keys that other programs have, or use differently. Claude, Cursor and VS Code write `type`, Windsurf
 * `serverUrl` and `disabledTools`, Zed `source` and a `command` of parts, Cline `autoApprove`, `timeout` and
 * `transportType`, Roo `alwaysAllow`, Gemini CLI `httpUrl`, `includeTools` and `excludeTools`, Copilot `tools`.
 */
const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['command', commandOf],
  ['type', typeOf('type')],
  ['transport', typeOf('transport')],
  ['transportType', typeOf('transportType')],
  ['serverUrl', value => (typeof value === 'string' ? { entry: { url: value } } : undefined)],
  ['httpUrl', value => (typeof value === 'string' ? { entry: { url: value } } : undefined)],
  ['timeout', timeoutOf],
  ['enabled', value => (typeof value === 'boolean' ? { entry: { disabled: !value } } : undefined)],
  ['env', value => ({ entry: { env: withoutNulls(value) } })],
  ['headers', value => ({ entry: { headers: withoutNulls(value) } })],
  ['tools', namesFor('include')],
  ['includeTools', namesFor('include')],
  ['disabledTools', namesFor('exclude')],
  ['excludeTools', namesFor('exclude')],
  ['autoApprove', approvedOf],
  ['alwaysAllow', approvedOf],
  ['source', sourceOf],
])

/** Translates a server written by any program into one of ours; `known` are our keys. Never throws. */
export function normaliseServer(
  raw: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
): NormalisedServer {
  const ignored: string[] = []
  const parts: Part[] = []
  // Our own keys come last and win.
  const keys = Object.keys(raw).sort((a, b) => Number(known.has(a)) - Number(known.has(b)))
  for (const key of keys) {
    const value = raw[key]
    if (value === null || value === undefined) continue
    const reader = READERS.get(key)
    const part = reader ? reader(value) : known.has(key) ? { entry: { [key]: value } } : undefined
    if (part) parts.push(part)
    else ignored.push(key)
  }
  return {
    entry: parts.reduce<Record<string, unknown>>((entry, part) => joined(entry, part.entry ?? {}), {}),
    ignored,
    autoApprove: parts.flatMap(part => part.autoApprove ?? []),
    problem: parts.find(part => part.problem !== undefined)?.problem,
  }
}

/** Lists and objects are merged; of anything else, the later value wins. */
function joined(before: Record<string, unknown>, after: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(after).map(([key, value]) => {
    const old = before[key]
    if (Array.isArray(old) && Array.isArray(value)) return [key, [...old, ...value]]
    if (isRecord(old) && isRecord(value)) return [key, { ...old, ...value }]
    return [key, value]
  })
  return { ...before, ...Object.fromEntries(entries) }
}

/** A string, a list that includes the arguments, or an object in older files of Zed. */
function commandOf(value: unknown): Part {
  if (Array.isArray(value)) {
    const [command, ...args] = value
    return { entry: { command, args } }
  }
  if (!isRecord(value)) return { entry: { command: value } }
  const { path, args, env } = value
  return { entry: { command: path, ...(args ? { args } : {}), ...(env ? { env: withoutNulls(env) } : {}) } }
}

function typeOf(key: string): Reader {
  return value => {
    const type = typeof value === 'string' ? TYPES.get(value.toLowerCase().replace(/[-_\s]/g, '')) : undefined
    if (type !== undefined) return { entry: { type } }
    const shown = typeof value === 'string' ? ` '${value.slice(0, 50)}'` : ''
    return { problem: `invalid '${key}'${shown}; expected one of ${EXPECTED_TYPES}` }
  }
}

function timeoutOf(value: unknown): Part | undefined {
  const given = typeof value === 'string' ? Number(value) : value
  if (typeof given !== 'number' || !(given > 0 && given < Number.MAX_SAFE_INTEGER)) return undefined
  return { entry: { timeoutMs: Math.max(1, Math.round(given > MAX_SECONDS ? given : given * 1_000)) } }
}

function namesFor(key: 'include' | 'exclude'): Reader {
  return value => (isTexts(value) ? { entry: { [key]: value } } : undefined)
}

/** Exact names only: nobody has reviewed what a pattern would allow. */
function approvedOf(value: unknown): Part | undefined {
  if (!isTexts(value) || value.some(name => /[*?]/.test(name))) return undefined
  return { autoApprove: value }
}

function sourceOf(value: unknown): Part {
  if (value !== 'extension') return {}
  return { problem: 'is a Zed extension, which only Zed can start' }
}

/** Some programs write `null` for an unset variable. */
function withoutNulls(value: unknown): unknown {
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null))
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(each => typeof each === 'string')
}
