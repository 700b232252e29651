import { existsSync } from 'node:fs'
import { HistoryError } from '../history/database.ts'
import { History } from '../history/history.ts'
import { FilterError, parseQuery } from '../history/query.ts'
import { jsonLines, type StoredCall } from '../history/stored-call.ts'
import type { Approval } from '../interceptors/index.ts'
import { changeText, type PinChange } from '../interceptors/pins.ts'
import { escapeControls } from '../logging/safe-value.ts'
import { makeToken, readToken, stateFolder } from '../project/local-state.ts'
import { historyFile } from '../project/project-history.ts'
import { cassetteHeader, cassetteLine } from '../tools/cassette-file.ts'
import type { CommandContext } from './context.ts'
import { EXIT, UsageError } from './exit.ts'
import { chosenToken, GatewayClient } from './gateway-client.ts'
import { printJson, printResult, printTable, say, type Terminal, timeText } from './terminal.ts'

/** Where a call is looked for by its id; also the most that are exported. */
const MAX_SEARCHED = '1000'
/** How much of an id is shown: up to the millisecond of the call. */
const SHOWN_ID = 13
const COLUMNS = ['TIME', 'ID', 'TOOL', 'SOURCE', 'FROM', 'OUTCOME', 'TOOK', 'ARGUMENTS']

/** `toolpost calls [show <id>|export [id]]`: past calls, straight from the history file; no gateway has to run. */
export async function listCalls({ project, terminal, words, flags }: CommandContext<[string?, string?]>) {
  const [action = 'list', id] = words
  const { json, cassette = false, failed, search, ...given } = flags
  const isExport = action === 'export'
  const file = historyFile(project)
  const wrong = [
    !['list', 'show', 'export'].includes(action) && `invalid action '${action}'; expected show or export`,
    cassette && !isExport && '--cassette is for an export: toolpost calls export',
    action === 'show' && !id && 'Which call? `toolpost calls` lists them with their ids',
    failed && given.outcome !== undefined && '--failed and --outcome cannot be combined',
    file === undefined && "Calls are not kept: 'history' is false in the configuration",
  ].find(problem => problem)
  if (wrong || file === undefined) throw new UsageError(wrong || '')
  const limit = isExport || id !== undefined ? MAX_SEARCHED : '20'
  const filter = { limit, ...given, ...(failed && { outcome: 'failed' }), ...(search && { q: search }) }
  let history: History | undefined
  try {
    const query = parseQuery(id === undefined ? (filter as object as Record<string, string>) : { limit })
    if (existsSync(file)) history = new History({ file, onNotice: text => say(terminal, text) })
    const found = history ? (await history.list(query)).calls : []
    const calls = id === undefined ? found : [byPrefix(found, id, 'call', call => [call.serial, call.id])]
    const [only] = calls
    if (isExport) terminal.out.write(exported(calls.toReversed(), cassette))
    else if (json) return printJson(terminal, id === undefined ? calls : only)
    else if (only && id !== undefined) printFields({ ...only, startedAt: timeText(only.startedAt) }, terminal)
    else if (only) printTable(COLUMNS, calls.map(rowOf), terminal)
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

/** Calls as JSON lines, or as a cassette. */
function exported(calls: readonly StoredCall[], isCassette: boolean): string {
  if (!isCassette) return jsonLines(calls)
  const lines = calls.map(({ tool, args, result }) => cassetteLine({ type: 'call', tool, args, result }))
  return `${cassetteHeader()}${lines.join('')}`
}

/** One line per field that has a value. */
export function printFields(fields: object, terminal: Terminal): void {
  for (const [name, value] of Object.entries(fields))
    if (value !== undefined)
      printResult(terminal, `${name.padEnd(12)} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
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

/** `toolpost approvals [approve|deny <id>]`: lists what is waiting at the running gateway, or decides one. */
export async function decideApprovals(context: CommandContext<[string?, string?]>): Promise<number> {
  const { project, terminal } = context
  const [decision, id] = context.words
  const { json, remember, scope, ...where } = context.flags
  const gateway = GatewayClient.open(project, where)
  if (decision !== undefined && decision !== 'approve' && decision !== 'deny')
    throw new UsageError(`invalid decision '${decision}'; expected one of approve, deny`)
  if (decision !== undefined && !id) throw new UsageError('Which approval? `toolpost approvals` lists them')
  const { approvals } = await gateway.ask<{ approvals: Approval[] }>('/api/approvals')
  if (decision !== undefined && id) {
    const waiting = byPrefix(approvals, id, 'pending approval', approval => [approval.id])
    await gateway.ask(`/api/approvals/${encodeURIComponent(waiting.id)}`, { decision, remember, scope })
    say(terminal, decision === 'approve' ? 'Approved.' : 'Denied.')
  } else if (json) printResult(terminal, JSON.stringify(approvals))
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

/** `toolpost pins [accept [server]]`: what servers changed about their tools, of the running gateway if there is one. */
export async function showPins({
  project,
  terminal,
  ...given
}: CommandContext<[string?, string?]>): Promise<number> {
  const { options } = given
  const [action, server] = given.words
  const { json } = given.flags
  if (action !== undefined && action !== 'accept')
    throw new UsageError(`invalid action '${action}'; expected accept`)
  const gateway = GatewayClient.running(options.config)
  if (!gateway) await project.ready()
  type Answer = { changes: PinChange[] }
  const seen = (await gateway?.ask<Answer>('/api/pins'))?.changes ?? project.pins.changes()
  const changed = [...new Set(seen.map(change => change.server))]
  const known = [...changed, ...Object.keys(project.config.mcpServers ?? {})]
  if (server !== undefined && !known.includes(server)) {
    const names = changed.length > 0 ? changed.join(', ') : 'none'
    throw new UsageError(`No server '${server}'; servers with changes: ${names}`)
  }
  const accept = async () =>
    (await gateway?.ask<Answer>('/api/pins/accept', { server }))?.changes ?? project.pins.accept(server)
  const changes = action ? await accept() : seen
  if (json) return printJson(terminal, changes)
  for (const change of changes) printResult(terminal, changeText(change))
  if (action) say(terminal, `Accepted ${changes.length} ${changes.length === 1 ? 'change' : 'changes'}.`)
  else if (changes.length === 0) say(terminal, 'All tools are defined as they were accepted.')
  else say(terminal, 'To accept: toolpost pins accept [server]')
  return EXIT.ok
}

/** `toolpost token [--new]`: prints the owner's token of this folder's gateway, or makes a new one. */
export function printToken({ project, terminal, flags }: CommandContext): number {
  const { new: isNew } = flags
  const chosen = chosenToken(project.config)
  if (chosen === false) throw new UsageError('Authentication is off: "gateway": { "token": false }')
  if (chosen !== undefined && isNew)
    throw new UsageError('The token is set by TOOLPOST_TOKEN or the configuration: change it there')
  const folder = stateFolder(project.file)
  try {
    const kept = isNew ? undefined : readToken(folder)
    printResult(terminal, chosen ?? kept ?? makeToken(folder))
  } catch (error) {
    throw new UsageError(`Cannot save a token in ${folder}: ${(error as Error).message}`, { cause: error })
  }
  if (isNew) say(terminal, 'The old token is no longer valid.')
  return EXIT.ok
}
