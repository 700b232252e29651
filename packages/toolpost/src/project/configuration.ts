import { existsSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { secretsIn } from '../logging/config-secrets.ts'
import { removeFromLogs, treatAsSecret } from '../logging/redact.ts'
import { describeThrown } from '../util/quietly.ts'
import type { ToolpostConfig } from './config.ts'
import type { Part, ProjectOptions } from './project-options.ts'
import type { ResolvedConfig } from './resolve.ts'

interface ConfigurationOptions extends Pick<ProjectOptions, 'read'> {
  say(text: string): void
  closing: AbortSignal
}

/** What a reload did to the servers, by name. */
export interface ReloadChanges {
  added: string[]
  removed: string[]
  changed: string[]
  unchanged: string[]
}

export interface Following {
  /** Reloads now; a mistake is reported. */
  reload(): Promise<void>
  stop(): void
}

/** Keys that are read only at the start. */
const READ_ONCE = ['executor', 'gateway', 'voice', 'log'] as const
/** Editors write in several steps: everything within this time is one change. */
const QUIET_MS = 150

/** The current configuration of a project, and how it is reloaded. */
export class Configuration implements Part {
  readonly #options: ConfigurationOptions
  #current: ResolvedConfig
  #reloading: Promise<unknown> = Promise.resolve()

  constructor(resolved: ResolvedConfig, options: ConfigurationOptions) {
    this.#current = resolved
    this.#options = options
    noteSecrets(resolved.config)
  }

  get current(): ResolvedConfig {
    return this.#current
  }

  get config(): ToolpostConfig {
    return this.#current.config
  }

  /** Reads the files again and applies them to `parts`, in order. If any part objects, nothing changes. One at a time. */
  reload(parts: Iterable<Part>, { quietly = false } = {}): Promise<ReloadChanges> {
    const reloaded = this.#reloading.then(() => this.#reload([...parts], quietly))
    this.#reloading = reloaded.catch(() => {})
    return reloaded
  }

  async #reload(parts: readonly Part[], quietly: boolean): Promise<ReloadChanges> {
    const { read, say, closing } = this.#options
    const after = await read()
    const before = this.#current
    const replacements = parts.map(part => part.prepare?.(after, before))
    if (closing.aborted) return changesBetween(before, before)
    this.#current = after
    noteSecrets(after.config)
    for (const replace of replacements) replace?.()
    const changes = changesBetween(before, after)
    for (const notice of after.notices) if (!before.notices.includes(notice)) say(notice)
    const isSame = ({ config, brokenServers }: ResolvedConfig) =>
      isDeepStrictEqual([config, brokenServers], [after.config, after.brokenServers])
    if (!quietly || !isSame(before)) say(changesText(changes, before.config, after.config))
    for (const part of parts) {
      try {
        await part.apply?.(after, before)
      } catch (error) {
        say(`⚠️ The new configuration is only partly applied: ${describeThrown(error)}`)
      }
    }
    return changes
  }

  /** Calls `reload` when one of the files is written, replaced, created or deleted. */
  follow(reload: (options: { quietly: boolean }) => Promise<unknown>): Following {
    const { say } = this.#options
    let watcher: import('chokidar').FSWatcher | undefined
    let timer: NodeJS.Timeout | undefined
    /** The last mistake that was reported: a file may change several times and keep it. */
    let mistake: string | undefined
    let isStopped = false
    const reloadOnce = async (quietly: boolean) => {
      if (isStopped) return
      try {
        await reload({ quietly })
        mistake = undefined
      } catch (error) {
        const { message } = error as Error
        if (message !== mistake || !quietly) say(`❌ ${message}; the configuration stays as it was`)
        mistake = message
      }
      watcher?.add(this.#current.files.map(nearestFolder))
    }
    void import('chokidar').then(({ watch }) => {
      if (isStopped) return
      // Of the folders, only the way to the files is watched.
      const ignored = (path: string) =>
        !this.#current.files.some(file => file === path || file.startsWith(join(path, sep)))
      watcher = watch(this.#current.files.map(nearestFolder), { persistent: false, ignored })
      // The first events are those of the files as they are, which may have changed since they were read.
      watcher.on('all', () => {
        clearTimeout(timer)
        if (!isStopped) timer = setTimeout(() => void reloadOnce(true), QUIET_MS).unref()
      })
      // The system has reached its limit of watches: a person can still reload.
      const onError = ({ message }: Error) =>
        say(`⚠️ Changes of the configuration are not noticed: ${message}`)
      watcher.on('error', error => onError(error as Error))
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

  async close(): Promise<void> {
    await this.#reloading
  }
}

export function differs(
  before: ToolpostConfig,
  after: ToolpostConfig,
  keys: readonly (keyof ToolpostConfig)[],
): boolean {
  return keys.some(key => !isDeepStrictEqual(before[key], after[key]))
}

function changesBetween(before: ResolvedConfig, after: ResolvedConfig): ReloadChanges {
  const [old, now] = [before, after].map(({ config }) => Object.keys(config.mcpServers ?? {}))
  const serverIn = ({ config, brokenServers }: ResolvedConfig, name: string) => [
    config.mcpServers?.[name],
    brokenServers[name],
  ]
  const isSame = (name: string) => isDeepStrictEqual(serverIn(before, name), serverIn(after, name))
  const kept = now?.filter(name => old?.includes(name)) ?? []
  return {
    added: now?.filter(name => !kept.includes(name)) ?? [],
    removed: old?.filter(name => !kept.includes(name)) ?? [],
    changed: kept.filter(name => !isSame(name)),
    unchanged: kept.filter(isSame),
  }
}

/** In one line, naming what takes effect only after a restart. */
function changesText(
  { added, removed, changed }: ReloadChanges,
  before: ToolpostConfig,
  after: ToolpostConfig,
): string {
  const late = READ_ONCE.filter(key => differs(before, after, [key]))
  const lists = { added, restarted: changed, removed, 'restart Toolpost to apply': late }
  const parts = Object.entries(lists).filter(([, names]) => names.length > 0)
  const shown = parts.map(([what, names]) => `${what} ${names.join(', ')}`).join('; ')
  return `Configuration reloaded${shown ? `: ${shown}` : ''}`
}

/** The folder of a file, or the nearest one above it that exists: a file may come later, and its folder with it. */
function nearestFolder(file: string): string {
  const folder = dirname(file)
  return existsSync(folder) || folder === file ? folder : nearestFolder(folder)
}

/** Registers the values in a configuration that must never be logged. */
function noteSecrets(config: ToolpostConfig): void {
  treatAsSecret(config.log?.secrets ?? [])
  removeFromLogs(secretsIn(config))
}
