import { existsSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { ToolExecutor } from '../executor/executor.ts'
import type { BigResults } from '../interceptors/long-results.ts'
import { secretsIn } from '../logging/config-secrets.ts'
import type { Logger } from '../logging/logger.ts'
import { removeFromLogs, treatAsSecret } from '../logging/redact.ts'
import { describeThrown, type Listeners } from '../util/quietly.ts'
import type { ToolpostConfig } from './config.ts'
import type { ProjectEvents, ProjectOptions } from './project.ts'
import type { ResolvedConfig } from './resolve.ts'

/** What the parts of a project work with. */
export interface ProjectContext {
  configuration: { readonly current: ResolvedConfig; readonly config: ToolpostConfig }
  options: ProjectOptions
  executor: ToolExecutor
  bigResults: BigResults | undefined
  logger: Logger
  /** Tells a person. Never throws. */
  say(text: string): void
  /** The same, unless the caller looks at every status itself. */
  report(text: string): void
  tell: Listeners<ProjectEvents>['tell']
  /** Aborted when the project is closed: nothing starts afterwards. */
  closing: AbortSignal
}

/** A running part of a project: it follows the configuration, and closes with the project. */
export interface Part {
  /** Builds what it needs, or throws: then nothing changes anywhere. Returns a function that puts it in place, and cannot fail. */
  prepare?(after: ResolvedConfig, before: ResolvedConfig): (() => void) | undefined
  /** Brings what was started in line with the new configuration, once that holds. Leaves alone what has not changed. */
  apply?(after: ResolvedConfig, before: ResolvedConfig): void | Promise<void>
  close?(options?: CloseOptions): void | Promise<void>
}

export interface CloseOptions {
  drainMs?: number
}

/** What a reload did to the servers, by name. */
export type ReloadChanges = Record<'added' | 'removed' | 'changed' | 'unchanged', string[]>

const READ_ONCE = ['durable', 'executor', 'gateway', 'voice', 'log'] as const
/** Editors write in several steps: everything within this time is one change. */
const QUIET_MS = 150

type ConfigurationOptions = Pick<ProjectContext, 'say' | 'closing'> & Pick<ProjectOptions, 'read'>

export class Configuration implements Part {
  readonly #options: ConfigurationOptions
  current: ResolvedConfig
  #reloading: Promise<unknown> = Promise.resolve()

  constructor(resolved: ResolvedConfig, options: ConfigurationOptions) {
    this.#options = options
    this.current = resolved
    for (const notice of resolved.notices) options.say(notice)
    noteSecrets(resolved.config)
  }

  get config(): ToolpostConfig {
    return this.current.config
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
    const before = this.current
    const replacements = parts.map(part => part.prepare?.(after, before))
    if (closing.aborted) return changesBetween(before, before)
    this.current = after
    noteSecrets(after.config)
    for (const replace of replacements) replace?.()
    for (const notice of after.notices) if (!before.notices.includes(notice)) say(notice)
    const changes = changesBetween(before, after)
    const said = ({ config, brokenServers }: ResolvedConfig) => [config, brokenServers]
    if (!quietly || !isDeepStrictEqual(said(before), said(after))) say(changesText(changes, before, after))
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
  follow(reload: (options: { quietly: boolean }) => Promise<unknown>) {
    const { say } = this.#options
    let watcher: import('chokidar').FSWatcher | undefined
    let timer: NodeJS.Timeout | undefined
    let isStopped = false
    const reloadOnce = async (quietly: boolean) => {
      if (isStopped) return
      await reload({ quietly }).catch(error => say(`❌ ${error.message}; the configuration stays as it was`))
      watcher?.add(this.current.files.map(nearestFolder))
    }
    void import('chokidar').then(({ watch }) => {
      if (isStopped) return
      // Of the folders, only the way to the files is watched.
      const ignored = (path: string) =>
        !this.current.files.some(file => file === path || file.startsWith(join(path, sep)))
      watcher = watch(this.current.files.map(nearestFolder), { persistent: false, ignored })
      // The first events are those of the files as they are, which may have changed since they were read.
      watcher.on('all', () => {
        clearTimeout(timer)
        if (!isStopped) timer = setTimeout(() => void reloadOnce(true), QUIET_MS).unref()
      })
      // The system has reached its limit of watches: a person can still reload.
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

  async close(): Promise<void> {
    await this.#reloading
  }
}

export function differs(before: ResolvedConfig, after: ResolvedConfig, ...keys: (keyof ToolpostConfig)[]) {
  return keys.some(key => !isDeepStrictEqual(before.config[key], after.config[key]))
}

function changesBetween(before: ResolvedConfig, after: ResolvedConfig): ReloadChanges {
  const namesIn = ({ config }: ResolvedConfig) => Object.keys(config.mcpServers ?? {})
  const [old, now] = [namesIn(before), namesIn(after)]
  const entryIn = (resolved: ResolvedConfig, name: string) => [
    resolved.config.mcpServers?.[name],
    resolved.brokenServers[name],
  ]
  const isSame = (name: string) => isDeepStrictEqual(entryIn(before, name), entryIn(after, name))
  const kept = now.filter(name => old.includes(name))
  return {
    added: now.filter(name => !old.includes(name)),
    removed: old.filter(name => !now.includes(name)),
    changed: kept.filter(name => !isSame(name)),
    unchanged: kept.filter(isSame),
  }
}

/** In one line, naming what takes effect only after a restart. */
function changesText(changes: ReloadChanges, before: ResolvedConfig, after: ResolvedConfig): string {
  const { added, removed, changed } = changes
  const late = READ_ONCE.filter(key => differs(before, after, key))
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

function noteSecrets(config: ToolpostConfig): void {
  treatAsSecret(config.log?.secrets ?? [])
  removeFromLogs(secretsIn(config))
}
