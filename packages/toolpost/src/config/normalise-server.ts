import { isRecord } from '../runtime/guards.ts'

/** A server as some program writes it, in our own words. */
export interface NormalisedServer {
  /** Keys of ours only; their values are still to be checked. */
  entry: Record<string, unknown>
  /** Keys that mean nothing here. */
  ignored: string[]
  /** Tools that are not asked about, as Cline writes it. */
  autoApprove: string[]
  /** Why the server cannot be used, if it cannot. */
  problem: string | undefined
}

/** What a foreign key says in our words. */
interface Part {
  entry?: Record<string, unknown>
  autoApprove?: string[]
  problem?: string
}

/** `undefined` if the value is not what that program writes: then the key is ignored. */
type Reader = (value: unknown) => Part | undefined

/** Without case, `-` and `_`. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['stdio', 'stdio'],
  ['local', 'stdio'],
  ['http', 'http'],
  ['streamablehttp', 'http'],
  ['sse', 'sse'],
])
const EXPECTED_TYPES = 'stdio, http, streamable-http, sse'

/** Cline and its kin offer an hour at most; Gemini CLI counts milliseconds. */
const MAX_SECONDS = 3_600

/**
 * The table: keys that other programs have, or mean differently. Claude, Cursor and VS Code write `type`, Windsurf
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

/** Turns a server, as any program writes it, into one of ours; `known` are the keys of ours. Never throws. */
export function normaliseServer(
  raw: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
): NormalisedServer {
  const ignored: string[] = []
  const parts: Part[] = []
  // Ours come last, and win.
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

/** Lists and maps of two keys are put together; of anything else, the later counts. */
function joined(before: Record<string, unknown>, after: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(after).map(([key, value]) => {
    const old = before[key]
    if (Array.isArray(old) && Array.isArray(value)) return [key, [...old, ...value]]
    if (isRecord(old) && isRecord(value)) return [key, { ...old, ...value }]
    return [key, value]
  })
  return { ...before, ...Object.fromEntries(entries) }
}

/** A text; a list with the arguments behind it; or, in older files of Zed, its parts. */
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

/** Exact names only: what a pattern would allow, nobody has seen. */
function approvedOf(value: unknown): Part | undefined {
  if (!isTexts(value) || value.some(name => /[*?]/.test(name))) return undefined
  return { autoApprove: value }
}

function sourceOf(value: unknown): Part {
  if (value !== 'extension') return {}
  return { problem: 'is an extension of Zed, which only Zed can start' }
}

/** Some programs write `null` for a variable that should not be set. */
function withoutNulls(value: unknown): unknown {
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null))
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(each => typeof each === 'string')
}
