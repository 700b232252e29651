import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ToolExecutor } from '../executor/executor.ts'
import { hasDatabase } from '../history/database.ts'
import { History } from '../history/history.ts'
import type { Logger } from '../logging/logger.ts'
import { differs } from './changes.ts'
import type { Configuration } from './configuration.ts'
import type { Part } from './project-options.ts'
import type { ResolvedConfig } from './resolve.ts'

interface ProjectHistoryOptions {
  configuration: Configuration
  executor: ToolExecutor
  logger: Logger
  /** Receives notices for a person. */
  say(text: string): void
}

const DEFAULT_FILE = join('.toolpost', 'history.db')

/** The file of a project's history, next to its configuration; `undefined` if the history is off. */
export function historyFile({ config, file }: Pick<ResolvedConfig, 'config' | 'file'>): string | undefined {
  if (config.history === false) return undefined
  return config.history?.file ?? join(file === undefined ? process.cwd() : dirname(file), DEFAULT_FILE)
}

export interface KeepHistoryOptions {
  /** For a command that makes few calls and must not wait for a database: opens the file when they are written. */
  lazy?: boolean
  /** Opens the file only after this settles, so that it delays nothing else; earlier calls are recorded too. */
  after?: Promise<unknown> | undefined
  onNotice?: ((text: string) => void) | undefined
  /** Whether to start a history that is not configured and does not exist yet. */
  unasked?: boolean
}

/** The recorded calls of a project. */
export class ProjectHistory implements Part {
  readonly #project: ProjectHistoryOptions
  #history: History | undefined
  #options: KeepHistoryOptions | undefined

  constructor(project: ProjectHistoryOptions) {
    this.#project = project
  }

  get current(): History | undefined {
    return this.#history
  }

  /** Resolves when the file is open or cannot be opened; never rejects. */
  async keep(options: KeepHistoryOptions = {}): Promise<void> {
    const { configuration, executor, logger, say } = this.#project
    const { lazy = false, unasked = true, after, onNotice = say } = options
    const { config } = configuration
    const file = historyFile(configuration.current)
    this.#options = options
    if (this.#history || file === undefined || !(unasked || isWanted(configuration.current, file))) return
    const history = new History({ ...config.history, file, onNotice, logger })
    this.#history = history
    history.observe(executor)
    await after?.catch(() => {})
    if (!lazy && history === this.#history) history.open()
  }

  /** Records calls according to the new configuration from now on. */
  async apply(after: ResolvedConfig, before: ResolvedConfig): Promise<void> {
    if (!this.#options || !differs(before.config, after.config, ['history'])) return
    await this.close()
    await this.keep({ ...this.#options, after: undefined })
  }

  async close(): Promise<void> {
    const history = this.#history
    this.#history = undefined
    await history?.close()
  }
}

function isWanted({ config }: ResolvedConfig, file: string): boolean {
  return config.history !== undefined || (existsSync(dirname(file)) && hasDatabase())
}
