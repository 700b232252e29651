import { hostname } from 'node:os'
import type { DurableWorker } from '../../project/durable.ts'
import type { CommandContext } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import { openDurable } from '../require-durable.ts'
import { unlessStopped } from '../stop-signals.ts'
import { printTable, timeText } from '../table.ts'
import { printResult, say } from '../terminal.ts'

/** `toolpost workers`: lists the processes that run or accept durable calls. */
export async function listWorkers(
  { project, stop, terminal }: CommandContext,
  { json }: { json?: boolean },
): Promise<number> {
  const { durable } = await unlessStopped(openDurable(project), stop.signal)
  const all = await durable.workers()
  // Short-lived commands such as this one count as gateways too.
  const isOver = ({ role, state }: DurableWorker) => role === 'gateway' && state === 'gone'
  const isThis = ({ pid, host }: DurableWorker) => pid === process.pid && host === hostname()
  const workers = all.filter(worker => !isOver(worker) && !isThis(worker))
  if (json) printResult(terminal, JSON.stringify(workers, null, 2))
  else if (workers.length === 0)
    say(terminal, 'No workers. Start one with `toolpost worker` or `toolpost up`.')
  else printTable(WORKER_COLUMNS, workers.map(workerRow), terminal)
  return EXIT.ok
}

const WORKER_COLUMNS = ['ID', 'POOL', 'ROLE', 'STATE', 'SEEN', 'HOST', 'PID', 'RUNNING', 'TOOLS']

function workerRow(worker: DurableWorker): string[] {
  const { id, pool, role, state, seen_at: seen, host, pid, running, tools } = worker
  return [
    id,
    pool,
    role,
    state,
    timeText(Date.parse(seen)),
    host,
    String(pid),
    String(running),
    tools.join(', '),
  ]
}
