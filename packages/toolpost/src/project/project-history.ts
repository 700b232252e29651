import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { hasDatabase } from '../history/database.ts'
import { History } from '../history/history.ts'
import { differs, type ProjectContext } from './configuration.ts'
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

export function projectHistory({ configuration, executor, logger, say }: ProjectContext) {
  let kept: KeepHistoryOptions | undefined
  let current: History | undefined
  const keep = async (options: KeepHistoryOptions = {}) => {
    const { history: wanted } = configuration.config
    const file = historyFile(configuration.current)
    kept = options
    if (current || file === undefined) return
    const isThere = wanted !== undefined || (existsSync(dirname(file)) && hasDatabase())
    if (options.unasked === false && !isThere) return
    const history = new History({ ...wanted, file, onNotice: say, logger })
    current = history
    history.observe(executor)
    await options.after?.catch(() => {})
    if (!options.lazy && history === current) history.open()
  }
  const close = async () => {
    const history = current
    current = undefined
    await history?.close()
  }
  return {
    /** Of the project. `keepHistory` records from now on; it resolves when the file is open or cannot be opened. */
    api: { history: () => current, keepHistory: keep },
    close,
    async apply(after: ResolvedConfig, before: ResolvedConfig): Promise<void> {
      if (!kept || !differs(before, after, 'history')) return
      await close()
      await keep({ ...kept, after: undefined })
    },
  }
}
