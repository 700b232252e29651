import { hostname } from 'node:os'
import { missingDurable } from '../project/durable/durable-runs.ts'
import type { DurableWorker, Run } from '../project/durable.ts'
import type { Project } from '../project/project.ts'
import type { CommandContext } from './context.ts'
import { EXIT, UsageError } from './exit.ts'
import { print, printFields, printJson, printTable, say, timeText } from './terminal.ts'

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

const RUN_COLUMNS = ['ACCEPTED', 'ID', 'TOOL', 'STATE', 'ATTEMPTS', 'WORKER', 'ARGUMENTS']
const WORKER_COLUMNS = ['ID', 'POOL', 'ROLE', 'STATE', 'SEEN', 'HOST', 'PID', 'RUNNING', 'TOOLS']

/** `toolpost runs [ID]`: lists durable runs, shows one, or cancels it, straight from the database. */
export async function showRuns({ project, words: [id], flags }: CommandContext<[string?]>): Promise<number> {
  const { cancel, json, limit = '20' } = flags
  if (cancel && id === undefined) throw new UsageError('Which run? `toolpost runs` lists them')
  if (!(Number(limit) >= 1 && Number(limit) <= 500))
    throw new UsageError(`--limit expects a number from 1 to 500, got '${limit}'`)
  const { durable } = await openDurable(project)
  if (id === undefined) {
    const runs = await durable.list({ limit: Number(limit) })
    if (json) return printJson(runs)
    if (runs.length === 0) say('No runs.')
    else printTable(RUN_COLUMNS, runs.map(runRow))
    return EXIT.ok
  }
  const run = await durable.get(id)
  const isTooLate = run && cancel && !(await durable.cancel(id))
  if (!run || isTooLate) {
    const ended = `the run has ended: ${(await durable.get(id))?.state}`
    say(`Error: ${isTooLate ? ended : `there is no run '${id}', or it is no longer kept`}`)
    return EXIT.failed
  }
  if (json && !cancel) return printJson(run)
  const { steps, ...facts } = run
  if (cancel) say('Cancelled.')
  else printFields(facts)
  for (const { name, at, worker = '' } of cancel ? [] : steps)
    print(`step         ${timeText(at)}  ${name}  ${worker}`)
  return EXIT.ok
}

function runRow({ created_at: at, id, tool, state, attempts, worker = '', args, result }: Run): string[] {
  const details = `${JSON.stringify(args) ?? ''}${result && !result.success ? `  → ${result.error}` : ''}`
  return [timeText(at), id, tool, state, String(attempts), worker, details]
}

/** `toolpost workers`: lists the processes that run or accept durable calls. */
export async function listWorkers({ project, flags }: CommandContext): Promise<number> {
  const { durable } = await openDurable(project)
  // Short-lived commands such as this one count as gateways too.
  const isOver = ({ role, state }: DurableWorker) => role === 'gateway' && state === 'gone'
  const isThis = ({ pid, host }: DurableWorker) => pid === process.pid && host === hostname()
  const workers = (await durable.workers()).filter(worker => !isOver(worker) && !isThis(worker))
  if (flags.json) return printJson(workers)
  const rows = workers.map(({ id, pool, role, state, seen_at: seen, host, pid, running, tools }) => {
    return [id, pool, role, state, timeText(seen), host, String(pid), String(running), tools.join(', ')]
  })
  if (rows.length > 0) printTable(WORKER_COLUMNS, rows)
  else say('No workers. Start one with `toolpost worker` or `toolpost up`.')
  return EXIT.ok
}
