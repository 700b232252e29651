import { existsSync } from 'node:fs'
import { HistoryError } from '../history/database.ts'
import { History } from '../history/history.ts'
import { FilterError, parseQuery } from '../history/query.ts'
import { jsonLines, type StoredCall } from '../history/stored-call.ts'
import type { Approval } from '../interceptors/index.ts'
import { escapeControls } from '../logging/safe-value.ts'
import { makeToken, readToken, stateFolder } from '../project/local-state.ts'
import { historyFile } from '../project/project-history.ts'
import { cassetteHeader, cassetteLine } from '../tools/cassette-file.ts'
import type { CommandContext } from './context.ts'
import { EXIT, UsageError } from './exit-codes.ts'
import { chosenToken, GatewayClient } from './gateway-client.ts'
import { printJson, printResult, printTable, say, timeText } from './terminal.ts'

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
  cassette?: boolean
}

/** Where a call is looked for by its id; also the most that are exported. */
const MAX_SEARCHED = 1_000
/** How much of an id is shown: up to the millisecond of the call. */
const SHOWN_ID = 13
const COLUMNS = ['TIME', 'ID', 'TOOL', 'SOURCE', 'FROM', 'OUTCOME', 'TOOK', 'ARGUMENTS']

/** `toolpost calls [show <id>|export [id]]`: past calls, straight from the history file; no gateway has to run. */
export async function listCalls(
  { project, terminal }: Pick<CommandContext, 'project' | 'terminal'>,
  { action, id, flags }: { action?: string | undefined; id?: string | undefined; flags: CallsFlags },
): Promise<number> {
  const isExport = action === 'export'
  const { json = false, cassette = false, failed, search, ...given } = flags
  const { limit = isExport ? String(MAX_SEARCHED) : '20' } = flags
  if (action !== undefined && action !== 'show' && !isExport)
    throw new UsageError(`invalid action '${action}'; expected show or export`)
  if (cassette && !isExport) throw new UsageError('--cassette is for an export: toolpost calls export')
  if (action === 'show' && !id)
    throw new UsageError('Which call? `toolpost calls --json` lists them with their ids')
  if (failed && given.outcome !== undefined) throw new UsageError('--failed and --outcome cannot be combined')
  const filter = { ...given, limit, ...(failed && { outcome: 'failed' }), ...(search && { q: search }) }
  const file = historyFile(project)
  if (file === undefined) throw new UsageError("Calls are not kept: 'history' is false in the configuration")
  let history: History | undefined
  try {
    const query = parseQuery(id === undefined ? filter : { limit: String(MAX_SEARCHED) })
    if (existsSync(file)) history = new History({ file, onNotice: text => say(terminal, text) })
    const calls = history ? (await history.list(query)).calls : []
    if (isExport) {
      const chosen = id === undefined ? calls : [byPrefix(calls, id, 'call', idsOf)]
      terminal.out.write(exported(chosen.toReversed(), cassette))
    } else if (id !== undefined) {
      const call = byPrefix(calls, id, 'call', idsOf)
      if (json) return printJson(terminal, call)
      for (const [name, value] of Object.entries({ ...call, startedAt: timeText(call.startedAt) }))
        if (value !== undefined)
          printResult(
            terminal,
            `${name.padEnd(12)} ${typeof value === 'string' ? value : JSON.stringify(value)}`,
          )
    } else if (json) return printJson(terminal, calls)
    else if (calls.length > 0) printTable(COLUMNS, calls.map(rowOf), terminal)
    else say(terminal, 'No calls. `toolpost up` records them; see toolpost calls --help')
    return EXIT.ok
  } catch (error) {
    if (error instanceof FilterError) throw new UsageError(error.message, { cause: error })
    if (!(error instanceof HistoryError)) throw error
    say(terminal, `Error: ${error.message}`)
    return EXIT.failed
  } finally {
    await history?.close()
  }
}

const idsOf = (call: StoredCall) => [call.serial, call.id]

/** Calls as JSON lines, or as a cassette. */
function exported(calls: readonly StoredCall[], isCassette: boolean): string {
  if (!isCassette) return jsonLines(calls)
  const lines = calls.map(({ tool, args, result }) => cassetteLine({ type: 'call', tool, args, result }))
  return `${cassetteHeader()}${lines.join('')}`
}

/** The one whose id starts like this. Throws a UsageError if there is none, or more than one. */
function byPrefix<T>(
  all: readonly T[],
  prefix: string,
  what: string,
  idsOf: (one: T) => readonly (string | undefined)[],
): T {
  const exact = all.filter(one => idsOf(one).includes(prefix))
  const found = exact.length > 0 ? exact : all.filter(one => idsOf(one).some(id => id?.startsWith(prefix)))
  const [one, more] = found
  if (one === undefined) throw new UsageError(`No ${what} with this id`)
  if (more !== undefined)
    throw new UsageError(`${found.length} ids of ${what}s start with '${prefix}'; give more of it`)
  return one
}

function rowOf(call: StoredCall): string[] {
  const { serial, startedAt, tool, source, origin, caller, result, durationMs, args } = call
  const from = caller === undefined ? origin : `${origin} ${caller}`
  const took = durationMs < 1_000 ? `${Math.round(durationMs)} ms` : `${(durationMs / 1_000).toFixed(1)} s`
  const details = `${JSON.stringify(args) ?? ''}${result.success ? '' : `  → ${result.error}`}`
  const outcome = result.success ? 'ok' : result.code
  return [timeText(startedAt), serial.slice(0, SHOWN_ID), tool, source, from, outcome, took, details]
}

export interface ApprovalFlags {
  url?: string
  token?: string
  json?: boolean
  remember?: string
  scope?: string
}

/** `toolpost approvals [approve|deny <id>]`: lists what is waiting at the running gateway, or decides one. */
export async function decideApprovals(
  { project, terminal }: CommandContext,
  { decision, id, flags }: { decision?: string; id?: string; flags: ApprovalFlags },
): Promise<number> {
  const gateway = GatewayClient.open(project, flags)
  if (decision !== undefined && decision !== 'approve' && decision !== 'deny')
    throw new UsageError(`invalid decision '${decision}'; expected one of approve, deny`)
  if (decision !== undefined && !id) throw new UsageError('Which approval? `toolpost approvals` lists them')
  const { approvals } = (await gateway.get('/api/approvals')) as { approvals: Approval[] }
  if (decision !== undefined && id) {
    const waiting = byPrefix(approvals, id, 'pending approval', approval => [approval.id])
    const path = `/api/approvals/${encodeURIComponent(waiting.id)}`
    await gateway.post(path, { decision, remember: flags.remember, scope: flags.scope })
    say(terminal, decision === 'approve' ? 'Approved.' : 'Denied.')
  } else if (flags.json) printResult(terminal, JSON.stringify(approvals))
  else if (approvals.length === 0) say(terminal, 'Nothing is waiting for approval.')
  else for (const approval of approvals) printResult(terminal, approvalText(approval))
  return EXIT.ok
}

/** Everything that a person decides about: whole, on lines that no argument can forge. */
function approvalText({ id, tool, server, args, caller, origin, because }: Approval): string {
  const who = [caller, origin].filter(part => part !== undefined).join(', ')
  const of = server === undefined ? '' : ` of ${server}`
  return `${id}  ${escapeControls(`${tool}${of} ${JSON.stringify(args)}`)}
  asked by ${who || 'code'}${because === undefined ? '' : `: ${because}`}`
}

/** `toolpost token [--new]`: prints the owner's token of this folder's gateway, or makes a new one. */
export function printToken({ project, terminal }: CommandContext, flags: { new?: boolean }): number {
  const chosen = chosenToken(project.config, {})
  if (chosen === false) throw new UsageError('Authentication is off: "gateway": { "token": false }')
  if (chosen !== undefined && flags.new)
    throw new UsageError('The token is set by TOOLPOST_TOKEN or the configuration: change it there')
  const folder = stateFolder(project.file)
  try {
    const kept = flags.new ? undefined : readToken(folder)
    printResult(terminal, chosen ?? kept ?? makeToken(folder))
  } catch (error) {
    throw new UsageError(`Cannot save a token in ${folder}: ${(error as Error).message}`, { cause: error })
  }
  if (flags.new) say(terminal, 'The old token is no longer valid.')
  return EXIT.ok
}
