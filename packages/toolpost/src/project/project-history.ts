import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { hasDatabase } from '../history/database.ts'
import { History } from '../history/history.ts'
import { differs, type Part, type ProjectContext } from './configuration.ts'
import { stateFolder } from './local-state.ts'
import type { ResolvedConfig } from './resolve.ts'

/** The file of a project's history, next to its configuration; `undefined` if the history is off. */
export function historyFile({ config, file }: Pick<ResolvedConfig, 'config' | 'file'>): string | undefined {
  if (config.history === false) return undefined
  return config.history?.file ?? join(stateFolder(file), 'history.db')
}

export interface KeepHistoryOptions {
  /** For a command that makes few calls and must not wait for a database: opens the file when they are written. */
  lazy?: boolean
  /** Opens the file only after this settles, so that it delays nothing else; earlier calls are recorded too. */
  after?: Promise<unknown> | undefined
  /** Whether to start a history that is not configured and does not exist yet. */
  unasked?: boolean
}

export class ProjectHistory implements Part {
  readonly #context: ProjectContext
  #options: KeepHistoryOptions | undefined
  current: History | undefined

  constructor(context: ProjectContext) {
    this.#context = context
  }

  async keep(options: KeepHistoryOptions = {}): Promise<void> {
    const { configuration, executor, logger, say } = this.#context
    const { history: wanted } = configuration.config
    const file = historyFile(configuration.current)
    this.#options = options
    if (this.current || file === undefined) return
    const isThere = wanted !== undefined || (existsSync(dirname(file)) && hasDatabase())
    if (options.unasked === false && !isThere) return
    const history = new History({ ...wanted, file, onNotice: say, logger })
    this.current = history
    history.observe(executor)
    await options.after?.catch(() => {})
    if (!options.lazy && history === this.current) history.open()
  }

  async apply(after: ResolvedConfig, before: ResolvedConfig): Promise<void> {
    if (!this.#options || !differs(before, after, 'history')) return
    await this.close()
    await this.keep({ ...this.#options, after: undefined })
  }

  async close(): Promise<void> {
    const history = this.current
    this.current = undefined
    await history?.close()
  }
}
