import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { History } from '../history/history.ts'
import { parseQuery } from '../history/query.ts'
import { jsonLines, type StoredCall } from '../history/stored-call.ts'
import { type Approval, approvalText } from '../interceptors/approval.ts'
import { cassetteText } from '../interceptors/cassette-file.ts'
import { changeText, type PinChange } from '../interceptors/pins.ts'
import type { ToolpostConfig } from '../project/config.ts'
import { missingDurable } from '../project/durable/durable-runs.ts'
import type { DurableWorker, Run } from '../project/durable.ts'
import { makeToken, readToken, stateFolder } from '../project/local-state.ts'
import type { Project } from '../project/project.ts'
import { historyFile } from '../project/project-history.ts'
import type { Context } from './context.ts'
import { EXIT, numberOf, UsageError } from './process.ts'
import { runningGateway } from './source.ts'
import { counted, print, printFields, printJson, printTable, say, timeText } from './terminal.ts'

/** Where a call is looked for by its id; also the most that are exported. */
const MAX_SEARCHED = '1000'
/** How much of an id is shown: the millisecond of the call, and what tells it from others. */
const SHOWN_ID = 18

/** `toolpost calls [show <id>|export [id]]`: past calls, straight from the history file; no gateway has to run. */
export async function listCalls({ open, words, flags }: Context<[string?, string?]>): Promise<number> {
  const [action, id] = words
  const { json, cassette, tool, since, limit, search: q } = flags
  const file = historyFile(await open({ startsNothing: true }))
  if (action === 'show' && !id) throw new UsageError('Which call? `toolpost calls` lists them with their ids')
  if (file === undefined) throw new UsageError("Calls are not kept: 'history' is false in the configuration")
  const usual = action === undefined ? '20' : MAX_SEARCHED
  const outcome = flags.failed ? 'failed' : undefined
  const query = parseQuery({ tool, since, outcome, q, limit: limit ?? usual })
  const history = existsSync(file) ? new History({ file, onNotice: say }) : undefined
  try {
    const found = history ? (await history.list(query)).calls : []
    const only = id === undefined ? undefined : byPrefix(found, id, 'call', call => [call.serial, call.id])
    const calls = only ? [only] : found
    if (action === 'export') process.stdout.write((cassette ? cassetteText : jsonLines)(calls.toReversed()))
    else if (json) printJson(only ?? calls)
    else if (only) printFields({ ...only, startedAt: timeText(only.startedAt) })
    else printTable(calls.map(rowOf), 'No calls. `toolpost up` records them; see toolpost calls --help')
    return EXIT.ok
  } finally {
    await history?.close()
  }
}

/** The one whose id starts like this. Throws a UsageError if there is none, or more than one. */
function byPrefix<T>(all: readonly T[], prefix: string, what: string, idsOf: (one: T) => unknown[]): T {
  const exact = all.find(one => idsOf(one).includes(prefix))
  const [like, more] = all.filter(one => idsOf(one).some(id => String(id).startsWith(prefix)))
  const one = exact ?? like
  if (one === undefined) throw new UsageError(`No ${what} with this id`)
  if (!exact && more) throw new UsageError(`Several ids of ${what}s start with '${prefix}'; give more of it`)
  return one
}

function rowOf(call: StoredCall): Record<string, string> {
  const { serial, startedAt, tool, source, origin, caller, result, durationMs, args } = call
  const took = durationMs < 1_000 ? `${Math.round(durationMs)} ms` : `${(durationMs / 1_000).toFixed(1)} s`
  return {
    time: timeText(startedAt),
    id: serial.slice(0, SHOWN_ID),
    tool,
    source,
    from: caller === undefined ? origin : `${origin} ${caller}`,
    outcome: result.success ? 'ok' : result.code,
    took,
    arguments: `${JSON.stringify(args) ?? ''}${result.success ? '' : `  → ${result.error}`}`,
  }
}

/** `toolpost approvals [approve|deny <id>]`: lists what is waiting at the running gateway, or decides one. */
export async function decideApprovals({ open, words, flags }: Context<[string?, string?]>): Promise<number> {
  const [decision, id] = words
  const { file, config } = await open({ startsNothing: true })
  const gateway = await runningGateway(file, chosenToken(config) || undefined)
  const missing = 'No gateway runs in this folder, or it has another token: start it with `toolpost up`'
  if (!gateway) throw new UsageError(missing)
  if (decision !== undefined && !id) throw new UsageError('Which approval? `toolpost approvals` lists them')
  const { approvals } = await gateway.ask<{ approvals: Approval[] }>('/api/approvals')
  if (decision !== undefined && id) {
    const waiting = byPrefix(approvals, id, 'pending approval', approval => [approval.id])
    const path = `/api/approvals/${encodeURIComponent(waiting.id)}`
    await gateway.ask(path, { decision, remember: flags.remember })
    say(decision === 'approve' ? 'Approved.' : 'Denied.')
  } else if (flags.json) print(JSON.stringify(approvals))
  else if (approvals.length === 0) say('Nothing is waiting for approval.')
  else for (const approval of approvals) print(approvalText(approval))
  return EXIT.ok
}

/** `toolpost pins [show|accept] [server]`: what servers changed about their tools, of the running gateway if there is one. */
export async function showPins({ open, words, flags }: Context<[string?, string?]>): Promise<number> {
  const [action = 'show', server] = words
  const project = await open()
  const gateway = await runningGateway(flags.config)
  if (!gateway) await project.ready()
  const fromGateway = async (path: string, body?: object) =>
    (await gateway?.ask<{ changes: PinChange[] }>(path, body))?.changes
  const seen = (await fromGateway('/api/pins')) ?? project.pins.changes()
  const changed = [...new Set(seen.map(change => change.server))]
  const known = [...changed, ...Object.keys(project.config.mcpServers ?? {})]
  if (server !== undefined && !known.includes(server))
    throw new UsageError(`No server '${server}'; servers with changes: ${changed.join(', ') || 'none'}`)
  const accept = async () =>
    (await fromGateway('/api/pins/accept', { server })) ?? project.pins.accept(server)
  const changes = action === 'accept' ? await accept() : seen
  if (flags.json) return printJson(changes)
  for (const change of changes) print(changeText(change))
  if (action === 'accept') say(`Accepted ${counted(changes.length, 'change')}.`)
  else if (changes.length === 0) say('All tools are defined as they were accepted.')
  else say('To accept: toolpost pins accept [server]')
  return EXIT.ok
}

/** The token that somebody chose, if anybody did; `false` if they chose to have none. */
export function chosenToken({ gateway }: ToolpostConfig, given?: string): string | false | undefined {
  return given ?? (process.env.TOOLPOST_TOKEN || undefined) ?? gateway?.token
}

/** `toolpost token [--new]`: prints the owner's token of this folder's gateway, or makes a new one. */
export async function printToken({ open, flags: { new: isNew } }: Context): Promise<number> {
  const project = await open({ startsNothing: true })
  const chosen = chosenToken(project.config)
  if (chosen === false) throw new UsageError('Authentication is off: "gateway": { "token": false }')
  if (chosen !== undefined && isNew)
    throw new UsageError('The token is set by TOOLPOST_TOKEN or the configuration: change it there')
  const folder = stateFolder(project.file)
  print(chosen ?? (isNew ? undefined : readToken(folder)) ?? makeToken(folder))
  if (isNew) say('The old token is no longer valid.')
  return EXIT.ok
}

export function requireDurable({ config }: Pick<Project, 'config'>): void {
  const install = config.durable ? missingDurable() : undefined
  if (install) throw new UsageError(`'durable' in the configuration needs another package; run: ${install}`)
}

/** Starts durable calls for a command that needs them. Throws if they are unavailable, and says what to do. */
export async function openDurable(project: Project) {
  if (!project.config.durable)
    throw new UsageError('Durable calls are off: set "durable" in toolpost.json, see docs/durable.md')
  requireDurable(project)
  await project.startDurable()
  const { state, text } = project.status().durable ?? { state: 'failed', text: 'not started' }
  const runs = project.durable()
  if (!runs || state !== 'ready') throw new UsageError(`Durable calls are unavailable: ${text}`)
  return runs
}

/** Straight from the database: no gateway has to run. */
async function readDurable({ open }: Context) {
  const project = await open({ durable: { role: 'gateway' }, startsNothing: true })
  return (await openDurable(project)).durable
}

/** `toolpost runs [ID]`: lists durable runs, shows one, or cancels it. */
export async function showRuns(context: Context<[string?]>): Promise<number> {
  const { cancel, json } = context.flags
  const limit = numberOf(context.flags, 'limit', 1, 500) ?? 20
  const [id] = context.words
  if (cancel && id === undefined) throw new UsageError('Which run? `toolpost runs` lists them')
  const durable = await readDurable(context)
  const runs = id === undefined ? await durable.list({ limit }) : []
  if (id === undefined) return json ? printJson(runs) : printTable(runs.map(runRow), 'No runs.')
  const run = await durable.get(id)
  if (!run) throw new UsageError(`there is no run '${id}', or it is no longer kept`)
  if (cancel) {
    const isCancelled = await durable.cancel(id)
    say(isCancelled ? 'Cancelled.' : `Error: the run has ended: ${(await durable.get(id))?.state}`)
    return isCancelled ? EXIT.ok : EXIT.failed
  }
  if (json) return printJson(run)
  const { steps, ...facts } = run
  printFields(facts)
  for (const { name, at, worker = '' } of steps) print(`step         ${timeText(at)}  ${name}  ${worker}`)
  return EXIT.ok
}

function runRow({ created_at: at, id, tool, state, attempts, worker = '', args, result }: Run) {
  const details = `${JSON.stringify(args) ?? ''}${result && !result.success ? `  → ${result.error}` : ''}`
  return { accepted: timeText(at), id, tool, state, attempts, worker, arguments: details }
}

/** `toolpost workers`: lists the processes that run or accept durable calls. */
export async function listWorkers(context: Context): Promise<number> {
  const durable = await readDurable(context)
  // Short-lived commands such as this one count as gateways too.
  const isOver = ({ role, state }: DurableWorker) => role === 'gateway' && state === 'gone'
  const isThis = ({ pid, host }: DurableWorker) => pid === process.pid && host === hostname()
  const workers = (await durable.workers()).filter(worker => !isOver(worker) && !isThis(worker))
  const rowOf = ({ id, pool, role, state, seen_at: seen, host, pid, running, tools }: DurableWorker) => {
    return { id, pool, role, state, seen: timeText(seen), host, pid, running, tools: tools.join(', ') }
  }
  const none = 'No workers. Start one with `toolpost worker` or `toolpost up`.'
  return context.flags.json ? printJson(workers) : printTable(workers.map(rowOf), none)
}
