import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { isRecord, ownValue } from '../util/guards.ts'
import { packageJson } from '../util/package-root.ts'
import { platform } from '../util/platform.ts'
import { problemIn, SERVER_KEYS } from './check.ts'

/** A program that keeps MCP servers in a file, which is named as in `include`. */
export type KnownProgram = Record<'name' | 'file', string>

type Texts = Record<string, string>
const DATA: { programs: (KnownProgram & Texts)[]; keys: Texts; types: Texts } =
  packageJson('data/programs.json')

/** The programs whose file exists: in the home folder, or in that of a project. */
export function knownPrograms(folder: string): KnownProgram[] {
  const named = DATA.programs.map(({ name, ...files }) => ({ name, file: files[platform] ?? files.file }))
  return named.filter(({ file }) => existsSync(resolve(folder, file.replace(/^~/, homedir()))))
}

/** Cline and its forks count seconds, up to an hour; others count milliseconds. */
const MAX_SECONDS = 3_600

/** What a value says in our keys; `undefined` if it is ignored. */
type Meaning = (value: unknown) => Record<string, unknown> | undefined

const MEANINGS: Readonly<Record<string, Meaning>> = {
  command(value) {
    // A string, a list that includes the arguments, or an object in older files of Zed.
    if (Array.isArray(value)) return { command: value[0], args: value.slice(1) }
    if (!isRecord(value)) return { command: value }
    return { command: value.path, args: value.args ?? [], env: value.env ?? {} }
  },
  type(value) {
    const word = String(value).toLowerCase()
    return { type: ownValue(DATA.types, word.replace(/[-_\s]/g, '')) }
  },
  // Exact names only: nobody has reviewed what a pattern would allow.
  autoApprove: value =>
    Array.isArray(value) && value.every(name => typeof name === 'string' && !/[*?]/.test(name))
      ? { autoApprove: value }
      : undefined,
  timeout(value) {
    const given = typeof value === 'object' ? 0 : Number(value)
    if (!(given > 0 && given < Number.MAX_SAFE_INTEGER)) return undefined
    return { timeoutMs: Math.max(1, Math.round(given > MAX_SECONDS ? given : given * 1_000)) }
  },
  enabled: value => (typeof value === 'boolean' ? { disabled: !value } : undefined),
  // That of VS Code is another.
  sandbox: value => (isRecord(value) && isRecord(value.network) ? {} : { sandbox: value }),
  source: () => ({}),
}

/** Another program's server, translated to our keys; their values are not checked yet. Never throws. */
export function normaliseServer(given: unknown) {
  const ignored: string[] = []
  let problem: string | undefined
  if (!isRecord(given)) return { entry: given, ignored, autoApprove: [], problem }
  // Some programs write `null` for what is not set.
  const raw = JSON.parse(JSON.stringify(given), function (_, value) {
    return value === null && !Array.isArray(this) ? undefined : value
  })
  const entry: Record<string, unknown> = {}
  // Our own keys come last and win.
  const keys = Object.keys(raw).sort(
    (a, b) => Number(SERVER_KEYS.includes(a)) - Number(SERVER_KEYS.includes(b)),
  )
  for (const key of keys) {
    const own = ownValue(DATA.keys, key) ?? key
    // Another program's name for a key may mean something else there.
    const isMeant =
      SERVER_KEYS.includes(own) && (own === key || !problemIn({ mcpServers: { _: { [own]: raw[key] } } }))
    const meaning = Object.hasOwn(MEANINGS, own) ? MEANINGS[own]?.(raw[key]) : isMeant && { [own]: raw[key] }
    if (!meaning) ignored.push(key)
    else if (own === 'type' && meaning.type === undefined)
      problem = `invalid '${key}' '${String(raw[key]).slice(0, 50)}'; expected one of stdio, http, streamable-http, sse`
    for (const [name, one] of Object.entries(meaning || {})) entry[name] = joined(entry[name], one)
  }
  if (raw.source === 'extension') problem = 'is a Zed extension, which only Zed can start'
  const { autoApprove = [], ...rest } = entry
  return { entry: rest, ignored, autoApprove: autoApprove as string[], problem }
}

/** Lists and objects are merged; of anything else, the later value wins. */
function joined(before: unknown, after: unknown): unknown {
  if (Array.isArray(before) && Array.isArray(after)) return [...before, ...after]
  return isRecord(before) && isRecord(after) ? { ...before, ...after } : after
}
