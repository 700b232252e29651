import { readFile, realpath, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, resolve } from 'node:path'
import { isRecord } from '../runtime/guards.ts'
import { ConfigSource } from './config-source.ts'
import type { ServerFile } from './found-servers.ts'

/** `~/.claude.json` also contains chat history, and grows. */
const MAX_BYTES = 16_000_000
const MAX_FILES = 100
/** Keys that have no effect in an included file, which should not go unnoticed. */
const OWN_ONLY = ['policy', 'clients', 'limits', 'gateway', 'approvals']

export interface Included {
  /** In the order they are included, each once. */
  files: ServerFile[]
  /** Every file named, including those that do not exist. */
  paths: string[]
  notices: string[]
}

/** Reads the files that `main` includes, recursively. Throws a ConfigError on a cycle. */
export async function readIncludes(main: ServerFile): Promise<Included> {
  const included: Included = { files: [], paths: [], notices: [] }
  const { path, shown } = main
  await includeAll(main, [{ shown, path: await realpath(path).catch(() => path) }], included)
  return included
}

interface Link {
  shown: string
  path: string
}

async function includeAll(from: ServerFile, chain: readonly Link[], included: Included): Promise<void> {
  for (const [index, shown] of includesOf(from).entries()) {
    const path = pathFrom(dirname(from.path), shown)
    const real = await realpath(path).catch(() => path)
    const names = [...chain, { shown, path: real }].map(link => link.shown)
    if (chain.some(link => link.path === real))
      throw from.source.error(['include', index], `includes itself: ${names.join(' → ')}`)
    if (included.paths.includes(path)) continue
    included.paths.push(path)
    const text = await readIncluded(path, included)
    if ('problem' in text) {
      included.notices.push(`⚠️ ${from.shown}: the included file ${shown} ${text.problem}`)
      continue
    }
    const file = { source: new ConfigSource(shown, text.text), path, shown, isIncluded: true }
    if (!isRecord(file.source.value)) throw file.source.error([], 'must be an object')
    noteOwnKeys(file, included)
    included.files.push(file)
    await includeAll(file, [...chain, { shown, path: real }], included)
  }
}

/** In other programs' files, `include` may mean something else. */
function includesOf({ source: { value } }: ServerFile): string[] {
  const list = isRecord(value) ? value.include : undefined
  return Array.isArray(list) && list.every(each => typeof each === 'string') ? list : []
}

async function readIncluded(
  path: string,
  { paths }: Included,
): Promise<{ text: string } | { problem: string }> {
  if (paths.length > MAX_FILES) return { problem: `is skipped: more than ${MAX_FILES} files are included` }
  try {
    if ((await stat(path)).size > MAX_BYTES) return { problem: `is larger than ${MAX_BYTES} bytes` }
    return { text: await readFile(path, 'utf8') }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return { problem: code === 'ENOENT' ? 'does not exist yet' : `cannot be read: ${message}` }
  }
}

function noteOwnKeys({ shown, source }: ServerFile, { notices }: Included): void {
  const keys = Object.keys(source.value as object).filter(key => OWN_ONLY.includes(key))
  if (keys.length > 0) notices.push(`⚠️ ${shown}: only servers are included; ignoring ${keys.join(', ')}`)
}

/** Resolves a path relative to `folder`; `~` is the home folder. */
export function pathFrom(folder: string, path: string): string {
  const home = path.replace(/^(?:~|\$\{userHome\}|\$\{env:HOME\}|\$\{HOME\})(?=[\\/]|$)/, () => homedir())
  return resolve(folder, home)
}
