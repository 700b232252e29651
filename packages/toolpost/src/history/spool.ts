import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { CallEvent } from '../executor/observers.ts'
import type { ToolExecutor } from '../executor/tool-executor.ts'
import { addCall, newBatch } from './call-batch.ts'
import { cleanRows } from './clean-rows.ts'
import { MAX_SPOOL_BYTES } from './limits.ts'
import { serverOf } from './server-of.ts'
import { type CallRow, COLUMNS } from './stored-call.ts'

/*
 * A command that makes one call must not wait for a database: it leaves a line in a spool file next to the history, and
 * the next process that opens the history imports it.
 */

function spoolOf(file: string): string {
  return `${file}.spool`
}

export function hasSpool(file: string): boolean {
  return existsSync(spoolOf(file))
}

/** Writes the calls of `executor` to the spool file. A line that cannot be written is lost. */
export function spoolCalls(executor: ToolExecutor, file: string): () => void {
  return executor.observe(event => {
    if (event.result) append(spoolOf(file), lineOf(event, executor))
  })
}

function append(spool: string, line: string): void {
  const size = statSync(spool, { throwIfNoEntry: false })?.size ?? 0
  if (size === 0) mkdirSync(dirname(spool), { recursive: true, mode: 0o700 })
  if (size < MAX_SPOOL_BYTES) appendFileSync(spool, line, { mode: 0o600 })
}

function lineOf(event: CallEvent, { tools }: ToolExecutor): string {
  const batch = newBatch()
  if (event.result) addCall(batch, event, event.result)
  batch.servers.set(event.call.name, serverOf(tools, event.call.name))
  return cleanRows(batch)
    .map(row => `${JSON.stringify(row)}\n`)
    .join('')
}

/** Passes the spooled calls to `insert`; if that throws, they are spooled again. The first process to rename it wins. */
export function takeSpool(file: string, insert: (rows: CallRow[]) => void): void {
  const spool = spoolOf(file)
  if (!hasSpool(file)) return
  const taken = `${spool}.${process.pid}-${Date.now()}`
  renameSync(spool, taken)
  const text = readFileSync(taken, 'utf8')
  try {
    const rows = text.split('\n').flatMap(rowIn)
    if (rows.length > 0) insert(rows)
  } catch (error) {
    appendFileSync(spool, text, { mode: 0o600 })
    throw error
  } finally {
    rmSync(taken, { force: true })
  }
}

/** A line may be truncated if the process that wrote it was killed. */
function rowIn(line: string): CallRow[] {
  try {
    const row = JSON.parse(line) as Record<string, unknown>
    const isRow = typeof row.time === 'number' && typeof row.tool === 'string'
    return isRow
      ? [Object.fromEntries(COLUMNS.map(column => [column, row[column] ?? null])) as unknown as CallRow]
      : []
  } catch {
    return []
  }
}
