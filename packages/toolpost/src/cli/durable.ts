import { hostname } from 'node:os'
import { textOf } from '../executor/model-text.ts'
import { missingDurable } from '../project/durable/project-durable.ts'
import { type DurableWorker, RUN_STATES, type Run, type RunState } from '../project/durable.ts'
import type { Project } from '../project/project.ts'
import type { CommandContext } from './context.ts'
import { EXIT, UsageError } from './exit-codes.ts'
import { unlessStopped } from './stop-signals.ts'
import { printResult, printTable, say, timeText } from './terminal.ts'

/** Throws if durable calls are configured but their package is not installed. */
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

export interface RunsFlags {
  cancel?: boolean
  state?: string
  tool?: string
  limit?: string
  json?: boolean
}

const DEFAULT_SHOWN = '20'
const MAX_SHOWN = 500
const RUN_COLUMNS = ['ACCEPTED', 'ID', 'TOOL', 'STATE', 'ATTEMPTS', 'WORKER', 'ARGUMENTS']
const WORKER_COLUMNS = ['ID', 'POOL', 'ROLE', 'STATE', 'SEEN', 'HOST', 'PID', 'RUNNING', 'TOOLS']

/** `toolpost runs [ID]`: lists durable runs, shows one, or cancels it, straight from the database. */
export async function showRuns(
  { project, stop, terminal }: CommandContext,
  { id, flags }: { id?: string | undefined; flags: RunsFlags },
): Promise<number> {
  const { cancel, json } = flags
  if (cancel && id === undefined) throw new UsageError('Which run? `toolpost runs` lists them')
  const filter = filterOf(flags)
  const { durable } = await unlessStopped(openDurable(project), stop.signal)
  if (id === undefined) {
    const runs = await durable.list(filter)
    if (json) printResult(terminal, JSON.stringify(runs, null, 2))
    else if (runs.length === 0) say(terminal, 'No runs.')
    else printTable(RUN_COLUMNS, runs.map(runRow), terminal)
    return EXIT.ok
  }
  const run = await durable.get(id)
  const problem = !run
    ? `there is no run '${id}', or it is no longer kept`
    : cancel &&
      !(await durable.cancel(id)) &&
      `the run has ended: ${(await durable.get(id))?.state ?? run.state}`
  if (problem || !run) {
    say(terminal, `Error: ${problem}`)
    return EXIT.failed
  }
  if (cancel) say(terminal, 'Cancelled.')
  else if (json) printResult(terminal, JSON.stringify(run, null, 2))
  else for (const [name, text] of factsOf(run)) printResult(terminal, `${name.padEnd(12)} ${text}`)
  return EXIT.ok
}

function filterOf({ state, tool, limit = DEFAULT_SHOWN }: RunsFlags) {
  if (state !== undefined && !RUN_STATES.includes(state as RunState))
    throw new UsageError(`invalid state '${state}'; expected one of ${RUN_STATES.join(', ')}`)
  if (!/^\d{1,4}$/.test(limit) || Number(limit) < 1 || Number(limit) > MAX_SHOWN)
    throw new UsageError(`--limit expects a number from 1 to ${MAX_SHOWN}, got '${limit}'`)
  return { state: state as RunState | undefined, tool, limit: Number(limit) }
}

function runRow({ created_at: at, id, tool, state, attempts, worker = '', args, result }: Run): string[] {
  const details = `${JSON.stringify(args) ?? ''}${result && !result.success ? `  → ${result.error}` : ''}`
  return [timeText(Date.parse(at)), id, tool, state, String(attempts), worker, details]
}

function factsOf({ steps, result, args, ...facts }: Run): [string, string][] {
  return [
    ...Object.entries(facts).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, textOf(value)]],
    ),
    ['arguments', textOf(args)],
    ...steps.map(({ name, at, worker = '' }): [string, string] => [
      'step',
      `${timeText(Date.parse(at))}  ${name}  ${worker}`,
    ]),
    ...(result ? [['result', textOf(result)] satisfies [string, string]] : []),
  ]
}

/** `toolpost workers`: lists the processes that run or accept durable calls. */
export async function listWorkers(
  { project, stop, terminal }: CommandContext,
  { json }: { json?: boolean },
): Promise<number> {
  const { durable } = await unlessStopped(openDurable(project), stop.signal)
  // Short-lived commands such as this one count as gateways too.
  const isOver = ({ role, state }: DurableWorker) => role === 'gateway' && state === 'gone'
  const isThis = ({ pid, host }: DurableWorker) => pid === process.pid && host === hostname()
  const workers = (await durable.workers()).filter(worker => !isOver(worker) && !isThis(worker))
  const rows = workers.map(({ id, pool, role, state, seen_at: seen, host, pid, running, tools }) => {
    const figures = [timeText(Date.parse(seen)), host, String(pid), String(running)]
    return [id, pool, role, state, ...figures, tools.join(', ')]
  })
  if (json) printResult(terminal, JSON.stringify(workers, null, 2))
  else if (workers.length === 0)
    say(terminal, 'No workers. Start one with `toolpost worker` or `toolpost up`.')
  else printTable(WORKER_COLUMNS, rows, terminal)
  return EXIT.ok
}
