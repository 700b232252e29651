import { existsSync } from 'node:fs'
import { HistoryError } from '../../history/database.ts'
import { History } from '../../history/history.ts'
import { type CallQuery, FilterError, parseQuery } from '../../history/query.ts'
import type { StoredCall } from '../../history/stored-call.ts'
import { historyFile } from '../../project/project-history.ts'
import type { CommandContext } from '../context.ts'
import { EXIT, UsageError } from '../exit-codes.ts'
import { printTable, timeText } from '../table.ts'
import { printResult, say, styled, type Terminal } from '../terminal.ts'

export interface CallsFlags {
  tool?: string
  server?: string
  caller?: string
  failed?: boolean
  outcome?: string
  search?: string
  since?: string
  until?: string
  limit?: string
  json?: boolean
}

interface CallsContext {
  project: Pick<CommandContext['project'], 'config' | 'file'>
  terminal: Terminal
}

const DEFAULT_SHOWN = '20'

/** `toolpost calls`: lists past calls, straight from the history file; no gateway has to run. */
export async function listCalls({ project, terminal }: CallsContext, flags: CallsFlags): Promise<number> {
  const { json = false, failed, search, limit = DEFAULT_SHOWN, ...given } = flags
  if (failed && given.outcome !== undefined) throw new UsageError('--failed and --outcome cannot be combined')
  const filter = { ...given, limit, ...(failed && { outcome: 'failed' }), ...(search && { q: search }) }
  const file = historyFile(project)
  if (file === undefined) throw new UsageError("Calls are not kept: 'history' is false in the configuration")
  try {
    const calls = await read(file, parseQuery(filter), text => say(terminal, text))
    if (json) printResult(terminal, JSON.stringify(calls, null, 2))
    else printCalls(calls, terminal)
    return EXIT.ok
  } catch (error) {
    if (error instanceof FilterError) throw new UsageError(error.message, { cause: error })
    if (!(error instanceof HistoryError)) throw error
    say(terminal, `Error: ${error.message}`)
    return EXIT.failed
  }
}

async function read(file: string, query: CallQuery, onNotice: (text: string) => void): Promise<StoredCall[]> {
  if (!existsSync(file)) return []
  const history = new History({ file, onNotice })
  try {
    return (await history.list(query)).calls
  } finally {
    await history.close()
  }
}

const COLUMNS = ['TIME', 'TOOL', 'SOURCE', 'FROM', 'OUTCOME', 'TOOK', 'ARGUMENTS']

function printCalls(calls: readonly StoredCall[], terminal: Terminal): void {
  if (calls.length === 0)
    return say(terminal, 'No calls. `toolpost up` records them; see toolpost calls --help')
  const style = (text: string, column: number) => {
    if (column !== OUTCOME) return text
    return styled(terminal.out, text.trim() === 'ok' ? 'green' : 'red', text)
  }
  printTable(COLUMNS, calls.map(rowOf), terminal, style)
}

const OUTCOME = COLUMNS.indexOf('OUTCOME')

function rowOf({ startedAt, tool, source, origin, caller, result, durationMs, args }: StoredCall): string[] {
  const from = caller === undefined ? origin : `${origin} ${caller}`
  const outcome = result.success ? 'ok' : result.code
  const said = result.success ? '' : `  → ${result.error}`
  const details = `${JSON.stringify(args) ?? ''}${said}`
  return [timeText(startedAt), tool, source, from, outcome, tookText(durationMs), details]
}

function tookText(durationMs: number): string {
  return durationMs < 1_000 ? `${Math.round(durationMs)} ms` : `${(durationMs / 1_000).toFixed(1)} s`
}
