import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ToolpostConfig } from '../config/config.ts'
import type { ToolExecutor } from '../executor/tool-executor.ts'
import type { History } from '../history/history.ts'
import type { HistoryOptions } from '../history/history-options.ts'
import { spoolCalls } from '../history/spool.ts'
import type { Logger } from '../logging/logger.ts'

/** What is known of the project whose calls are kept. */
interface Kept {
  config: ToolpostConfig
  file: string | undefined
  executor: ToolExecutor
  logger: Logger
}

const DEFAULT_FILE = join('.toolpost', 'history.db')

/** The file of a project's history, beside its configuration; `undefined` if there is to be none. */
export function historyFile({ config, file }: Pick<Kept, 'config' | 'file'>): string | undefined {
  if (config.history === false) return undefined
  return config.history?.file ?? join(file === undefined ? process.cwd() : dirname(file), DEFAULT_FILE)
}

export interface KeepOptions {
  /** For a command that makes few calls, and must not wait for a database: leaves them for whoever opens it next. */
  briefly?: boolean
  /** The file is opened only then, so that it holds up nothing else; calls before it are kept all the same. */
  after?: Promise<unknown> | undefined
  onNotice?: ((text: string) => void) | undefined
  /** Whether to begin a history that nobody configured, and that was not kept before. */
  unasked?: boolean
}

/** What a project remembers of its calls. */
export class ProjectHistory {
  #opening: Promise<History> | undefined
  #history: History | undefined
  #options: KeepOptions | undefined

  get current(): History | undefined {
    return this.#history
  }

  /** Resolves when the file is open, or cannot be opened; never rejects. */
  async keep(project: Kept, options: KeepOptions = {}): Promise<void> {
    const { briefly = false, unasked = true, after, onNotice } = options
    const file = historyFile(project)
    if (!briefly) this.#options = options
    if (file === undefined || !(unasked || isWanted(project, file))) return
    if (briefly) return void spoolCalls(project.executor, file)
    this.#opening ??= this.#open(project, { file, after, onNotice })
    await this.#opening
  }

  /** Keeps the calls as another configuration says, from now on. */
  async apply(project: Kept): Promise<void> {
    if (!this.#options) return
    await this.close()
    await this.keep(project, { ...this.#options, after: undefined })
  }

  async close(): Promise<void> {
    const history = await this.#opening
    this.#opening = this.#history = undefined
    await history?.close()
  }

  async #open({ config, executor, logger }: Kept, options: HistoryOptions): Promise<History> {
    const { History } = await import('../history/history.ts')
    const history = new History({ ...config.history, ...options, logger })
    this.#history = history
    history.observe(executor)
    await history.opened
    return history
  }
}

function isWanted({ config }: Kept, file: string): boolean {
  return config.history !== undefined || existsSync(dirname(file))
}
