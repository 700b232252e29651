import { textOf } from '../../executor/model-text.ts'
import { RUN_STATES, type Run, type RunState } from '../../project/durable.ts'
import type { CommandContext } from '../context.ts'
import { EXIT, UsageError } from '../exit-codes.ts'
import { openDurable } from '../require-durable.ts'
import { unlessStopped } from '../stop-signals.ts'
import { printTable, timeText } from '../table.ts'
import { printResult, say, type Terminal } from '../terminal.ts'

export interface RunsFlags {
  cancel?: boolean
  state?: string
  tool?: string
  limit?: string
  json?: boolean
}

const DEFAULT_SHOWN = '20'
const MAX_SHOWN = 500

/** `toolpost runs [ID]`: lists durable runs, shows one, or cancels it, straight from the database. */
export async function showRuns(
  { project, stop, terminal }: CommandContext,
  { id, flags }: { id?: string | undefined; flags: RunsFlags },
): Promise<number> {
  if (flags.cancel && id === undefined) throw new UsageError('Which run? `toolpost runs` lists them')
  const filter = filterOf(flags)
  const { durable } = await unlessStopped(openDurable(project), stop.signal)
  if (id === undefined) return list(await durable.list(filter), flags, terminal)
  const run = await durable.get(id)
  if (!run) {
    say(terminal, `Error: there is no run '${id}', or it is no longer kept`)
    return EXIT.failed
  }
  if (!flags.cancel) return show(run, flags, terminal)
  if (!(await durable.cancel(id))) {
    say(terminal, `Error: the run has ended: ${(await durable.get(id))?.state ?? run.state}`)
    return EXIT.failed
  }
  say(terminal, 'Cancelled.')
  return EXIT.ok
}

function filterOf({ state, tool, limit = DEFAULT_SHOWN }: RunsFlags) {
  if (state !== undefined && !RUN_STATES.includes(state as RunState))
    throw new UsageError(`invalid state '${state}'; expected one of ${RUN_STATES.join(', ')}`)
  if (!/^\d{1,4}$/.test(limit) || Number(limit) < 1 || Number(limit) > MAX_SHOWN)
    throw new UsageError(`--limit expects a number from 1 to ${MAX_SHOWN}, got '${limit}'`)
  return { state: state as RunState | undefined, tool, limit: Number(limit) }
}

function list(runs: readonly Run[], { json }: RunsFlags, terminal: Terminal): number {
  if (json) printResult(terminal, JSON.stringify(runs, null, 2))
  else if (runs.length === 0) say(terminal, 'No runs.')
  else printTable(RUN_COLUMNS, runs.map(runRow), terminal)
  return EXIT.ok
}

const RUN_COLUMNS = ['ACCEPTED', 'ID', 'TOOL', 'STATE', 'ATTEMPTS', 'WORKER', 'ARGUMENTS']

function runRow({ created_at: at, id, tool, state, attempts, worker = '', args, result }: Run): string[] {
  const said = result && !result.success ? `  → ${result.error}` : ''
  const details = `${JSON.stringify(args) ?? ''}${said}`
  return [timeText(Date.parse(at)), id, tool, state, String(attempts), worker, details]
}

function show(run: Run, { json }: RunsFlags, terminal: Terminal): number {
  if (json) {
    printResult(terminal, JSON.stringify(run, null, 2))
    return EXIT.ok
  }
  const { steps, result, args, ...facts } = run
  for (const [name, value] of Object.entries(facts))
    if (value !== undefined) printResult(terminal, `${name.padEnd(12)} ${textOf(value)}`)
  printResult(terminal, `${'arguments'.padEnd(12)} ${textOf(args)}`)
  for (const { name, at, worker = '' } of steps)
    printResult(terminal, `${'step'.padEnd(12)} ${timeText(Date.parse(at))}  ${name}  ${worker}`)
  if (result) printResult(terminal, `${'result'.padEnd(12)} ${textOf(result)}`)
  return EXIT.ok
}
