import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ToolExecutor } from '../executor/tool-executor.ts'
import type { History } from '../history/history.ts'
import type { HistoryOptions } from '../history/history-options.ts'
import { spoolCalls } from '../history/spool.ts'
import type { Logger } from '../logging/logger.ts'
import { differs } from './changes.ts'
import type { Configuration } from './configuration.ts'
import type { Description } from './open-project.ts'
import type { Part } from './part.ts'

interface ProjectHistoryOptions {
  configuration: Configuration
  executor: ToolExecutor
  logger: Logger
  /** Receives notices for a person. */
  say(text: string): void
}

const DEFAULT_FILE = join('.toolpost', 'history.db')

/** The file of a project's history, next to its configuration; `undefined` if the history is off. */
export function historyFile({ config, file }: Pick<Description, 'config' | 'file'>): string | undefined {
  if (config.history === false) return undefined
  return config.history?.file ?? join(file === undefined ? process.cwd() : dirname(file), DEFAULT_FILE)
}

export interface KeepHistoryOptions {
  /** For a command that makes few calls and must not wait for a database: leaves them for the next process that opens it. */
  briefly?: boolean
  /** Opens the file only after this settles, so that it delays nothing else; earlier calls are recorded too. */
  after?: Promise<unknown> | undefined
  onNotice?: ((text: string) => void) | undefined
  /** Whether to start a history that is not configured and does not exist yet. */
  unasked?: boolean
}

/** The recorded calls of a project. */
export class ProjectHistory implements Part {
  readonly #project: ProjectHistoryOptions
  #opening: Promise<History> | undefined
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
    const { configuration, executor, say } = this.#project
    const { briefly = false, unasked = true, after, onNotice = say } = options
    const file = historyFile(configuration.current)
    if (!briefly) this.#options = options
    if (file === undefined || !(unasked || isWanted(configuration.current, file))) return
    if (briefly) return void spoolCalls(executor, file)
    this.#opening ??= this.#open({ file, after, onNotice })
    await this.#opening
  }

  /** Records calls according to the new configuration from now on. */
  async apply(after: Description, before: Description): Promise<void> {
    if (!this.#options || !differs(before.config, after.config, ['history'])) return
    await this.close()
    await this.keep({ ...this.#options, after: undefined })
  }

  async close(): Promise<void> {
    const history = await this.#opening
    this.#opening = this.#history = undefined
    await history?.close()
  }

  async #open(options: HistoryOptions): Promise<History> {
    const { configuration, executor, logger } = this.#project
    const { History } = await import('../history/history.ts')
    const history = new History({ ...configuration.config.history, ...options, logger })
    this.#history = history
    history.observe(executor)
    await history.opened
    return history
  }
}

function isWanted({ config }: Description, file: string): boolean {
  return config.history !== undefined || existsSync(dirname(file))
}
