import { hostname } from 'node:os'
import { missingDurable } from '../project/durable/durable-runs.ts'
import type { DurableWorker, Run } from '../project/durable.ts'
import type { Project } from '../project/project.ts'
import type { Context } from './context.ts'
import {
  EXIT,
  numberOf,
  print,
  printFields,
  printJson,
  printList,
  say,
  timeText,
  UsageError,
} from './terminal.ts'

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
  const { project } = await open({ durable: { role: 'gateway' }, startsNothing: true })
  return (await openDurable(project)).durable
}

/** `toolpost runs [ID]`: lists durable runs, shows one, or cancels it. */
export async function showRuns(context: Context<[string?]>): Promise<number> {
  const { cancel, json } = context.flags
  const limit = numberOf(context.flags, 'limit', 1, 500) ?? 20
  const [id] = context.words
  if (cancel && id === undefined) throw new UsageError('Which run? `toolpost runs` lists them')
  const durable = await readDurable(context)
  if (id === undefined)
    return printList(await durable.list({ limit }), { json, rowOf: runRow, none: 'No runs.' })
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
  return printList(workers, { json: context.flags.json, rowOf, none })
}
