import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { isRecord, ownValue } from '../util/guards.ts'
import { packageRoot } from '../util/package-root.ts'
import { platform } from '../util/platform.ts'
import { serverKeys } from './check.ts'

/** A program that keeps MCP servers in a file, which is named as in `include`. */
export type KnownProgram = Record<'name' | 'file', string>

type Texts = Record<string, string>
const DATA: { programs: (KnownProgram & Texts)[]; keys: Texts; types: Texts } = JSON.parse(
  readFileSync(join(packageRoot(), 'data', 'programs.json'), 'utf8'),
)

/** The programs whose file exists: in the home folder, or in that of a project. */
export function knownPrograms(folder: string): KnownProgram[] {
  const named = DATA.programs.map(({ name, ...files }) => ({ name, file: files[platform] ?? files.file }))
  return named.filter(({ file }) => existsSync(resolve(folder, file.replace(/^~/, homedir()))))
}

/** Cline and its forks count seconds, up to an hour; others count milliseconds. */
const MAX_SECONDS = 3_600

/** What a value says in our keys; `undefined` if the other program would not write it under its name, which is then ignored. */
type Meaning = (value: unknown, isRenamed: boolean) => Record<string, unknown> | undefined

const MEANINGS: Readonly<Record<string, Meaning>> = {
  command(value) {
    // A string, a list that includes the arguments, or an object in older files of Zed.
    if (Array.isArray(value)) return { command: value[0], args: value.slice(1) }
    if (!isRecord(value)) return { command: value }
    return { command: value.path, args: value.args ?? [], env: withoutNulls(value.env ?? {}) }
  },
  type(value) {
    const word = String(value).toLowerCase()
    return { type: ownValue(DATA.types, word.replace(/[-_\s]/g, '')) }
  },
  url: (value, isRenamed) => (isRenamed && typeof value !== 'string' ? undefined : { url: value }),
  include: (value, isRenamed) => (isRenamed && !isTexts(value) ? undefined : { include: value }),
  exclude: (value, isRenamed) => (isRenamed && !isTexts(value) ? undefined : { exclude: value }),
  // Exact names only: nobody has reviewed what a pattern would allow.
  autoApprove: value =>
    isTexts(value) && !value.some(name => /[*?]/.test(name)) ? { autoApprove: value } : undefined,
  timeout(value) {
    const given = typeof value === 'object' ? 0 : Number(value)
    if (!(given > 0 && given < Number.MAX_SAFE_INTEGER)) return undefined
    return { timeoutMs: Math.max(1, Math.round(given > MAX_SECONDS ? given : given * 1_000)) }
  },
  enabled: value => (typeof value === 'boolean' ? { disabled: !value } : undefined),
  env: value => ({ env: withoutNulls(value) }),
  headers: value => ({ headers: withoutNulls(value) }),
  sandbox: value => (isRecord(value) && isRecord(value.network) ? {} : { sandbox: value }),
  source: () => ({}),
}

/** Another program's server, translated to our keys; their values are not checked yet. Never throws. */
export function normaliseServer(raw: unknown) {
  const ignored: string[] = []
  let problem: string | undefined
  if (!isRecord(raw)) return { entry: raw, ignored, autoApprove: [], problem }
  const known = serverKeys()
  const entry: Record<string, unknown> = {}
  // Our own keys come last and win.
  const keys = Object.keys(raw).sort((a, b) => Number(known.includes(a)) - Number(known.includes(b)))
  for (const key of keys.filter(each => raw[each] !== null && raw[each] !== undefined)) {
    const own = ownValue(DATA.keys, key) ?? key
    const asIs: Meaning = value => (known.includes(own) ? { [own]: value } : undefined)
    const meaning = (ownValue(MEANINGS, own) ?? asIs)(raw[key], own !== key)
    if (!meaning) ignored.push(key)
    else if (own === 'type' && meaning.type === undefined)
      problem = `invalid '${key}' '${String(raw[key]).slice(0, 50)}'; expected one of stdio, http, streamable-http, sse`
    for (const [name, one] of Object.entries(meaning ?? {})) entry[name] = joined(entry[name], one)
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

/** Some programs write `null` for an unset variable. */
function withoutNulls(value: unknown): unknown {
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null))
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(each => typeof each === 'string')
}
