import { existsSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { secretsIn } from '../logging/config-secrets.ts'
import { removeFromLogs, treatAsSecret } from '../logging/redact.ts'
import { describeThrown } from '../util/quietly.ts'
import type { ToolpostConfig } from './config.ts'
import type { ProjectContext } from './project.ts'
import type { ResolvedConfig } from './resolve.ts'

export type { ProjectContext }

/** A running part of a project: it follows the configuration, and closes with the project. */
export interface Part {
  /** Builds what it needs, or throws: then nothing changes anywhere. Returns a function that puts it in place, and cannot fail. */
  prepare?(after: ResolvedConfig, before: ResolvedConfig): (() => void) | undefined
  /** Brings what was started in line with the new configuration, once that holds. Leaves alone what has not changed. */
  apply?(after: ResolvedConfig, before: ResolvedConfig): void | Promise<void>
  close?(options?: CloseOptions): void | Promise<void>
}

export type CloseOptions = { drainMs?: number }

/** One after the other; what fails is told, and the rest continues. */
export async function forEach(
  parts: Iterable<Part>,
  act: (part: Part) => unknown,
  tell: (why: string) => void,
) {
  for (const part of parts)
    try {
      await act(part)
    } catch (error) {
      tell(describeThrown(error))
    }
}

export type ReloadChanges = Record<'added' | 'removed' | 'changed' | 'unchanged', string[]>

const READ_ONCE = ['durable', 'executor', 'gateway', 'voice', 'log'] as const
/** Editors write in several steps: everything within this time is one change. */
const QUIET_MS = 150

export function createConfiguration(
  resolved: ResolvedConfig,
  read: () => Promise<ResolvedConfig>,
  say: (text: string) => void,
  closing: AbortSignal,
) {
  let current = resolved
  let reloading: Promise<unknown> = Promise.resolve()
  for (const notice of resolved.notices) say(notice)
  noteSecrets(resolved.config)
  const replace = async (parts: readonly Part[], quietly: boolean): Promise<ReloadChanges> => {
    const after = await read()
    const before = current
    const replacements = parts.map(part => part.prepare?.(after, before))
    if (closing.aborted) return changesBetween(before, before)
    current = after
    noteSecrets(after.config)
    for (const putInPlace of replacements) putInPlace?.()
    for (const notice of after.notices) if (!before.notices.includes(notice)) say(notice)
    const changes = changesBetween(before, after)
    const said = ({ config, brokenServers }: ResolvedConfig) => [config, brokenServers]
    if (!quietly || !isDeepStrictEqual(said(before), said(after))) say(changesText(changes, resolved, after))
    const partly = (why: string) => say(`⚠️ The new configuration is only partly applied: ${why}`)
    await forEach(parts, part => part.apply?.(after, before), partly)
    return changes
  }
  return {
    get current() {
      return current
    },
    get config() {
      return current.config
    },
    /** Reads the files again and applies them to `parts`, in order. If any part objects, nothing changes. One at a time. */
    reload(parts: Iterable<Part>, { quietly = false } = {}): Promise<ReloadChanges> {
      const reloaded = reloading.then(() => replace([...parts], quietly))
      reloading = reloaded.catch(() => {})
      return reloaded
    },
    close: async () => void (await reloading),
  }
}

/** Calls `reload` when one of the files is written, replaced, created or deleted. */
export function followFiles(
  { configuration, say }: ProjectContext,
  reload: (options: { quietly: boolean }) => Promise<unknown>,
) {
  let watcher: import('chokidar').FSWatcher | undefined
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  const folders = () => configuration.current.files.map(nearestFolder)
  const reloadOnce = async (quietly: boolean) => {
    if (isStopped) return
    await reload({ quietly }).catch(error => say(`❌ ${error.message}; the configuration stays as it was`))
    watcher?.add(folders())
  }
  void import('chokidar').then(({ watch }) => {
    if (isStopped) return
    const ignored = (path: string) =>
      !configuration.current.files.some(file => file === path || file.startsWith(join(path, sep)))
    watcher = watch(folders(), { persistent: false, ignored })
    // The first events are those of the files as they are, which may have changed since they were read.
    watcher.on('all', () => {
      clearTimeout(timer)
      if (!isStopped) timer = setTimeout(() => void reloadOnce(true), QUIET_MS).unref()
    })
    watcher.on('error', error =>
      say(`⚠️ Changes of the configuration are not noticed: ${describeThrown(error)}`),
    )
  })
  return {
    reload: () => reloadOnce(false),
    stop() {
      isStopped = true
      clearTimeout(timer)
      void watcher?.close()
    },
  }
}

export function differs(before: ResolvedConfig, after: ResolvedConfig, ...keys: (keyof ToolpostConfig)[]) {
  return keys.some(key => !isDeepStrictEqual(before.config[key], after.config[key]))
}

function changesBetween(before: ResolvedConfig, after: ResolvedConfig): ReloadChanges {
  const serversIn = ({ config: { mcpServers = {} }, brokenServers }: ResolvedConfig) =>
    new Map(Object.entries(mcpServers).map(([name, entry]) => [name, [entry, brokenServers[name]]]))
  const [old, now] = [serversIn(before), serversIn(after)]
  const isSame = (name: string) => isDeepStrictEqual(old.get(name), now.get(name))
  const names = [...now.keys()]
  const kept = names.filter(name => old.has(name))
  return {
    added: names.filter(name => !old.has(name)),
    removed: [...old.keys()].filter(name => !now.has(name)),
    changed: kept.filter(name => !isSame(name)),
    unchanged: kept.filter(isSame),
  }
}

/** In one line, naming what differs from what was read at the start, and takes effect only after a restart. */
function changesText(changes: ReloadChanges, started: ResolvedConfig, after: ResolvedConfig): string {
  const late = READ_ONCE.filter(key => differs(started, after, key))
  const { added, removed, changed: restarted } = changes
  const lists = { added, restarted, removed, 'restart Toolpost to apply': late }
  const parts = Object.entries(lists).filter(([, names]) => names.length > 0)
  const shown = parts.map(([what, names]) => `${what} ${names.join(', ')}`).join('; ')
  return `Configuration reloaded${shown ? `: ${shown}` : ''}`
}

/** The folder of a file, or the nearest one above it that exists: a file may come later, and its folder with it. */
function nearestFolder(file: string): string {
  const folder = dirname(file)
  return existsSync(folder) || folder === file ? folder : nearestFolder(folder)
}

function noteSecrets(config: ToolpostConfig): void {
  treatAsSecret(config.log?.secrets ?? [])
  removeFromLogs(secretsIn(config))
}
