import type { Approval } from 'toolpost/interceptors'
import type { RunVerdict } from 'toolpost/project'
import type { Connection } from '../connection.ts'
import { poolQueue } from '../workers/queues.ts'
import { holdRun } from './held-runs.ts'

/**
 * Asks about a run in progress and waits: first in place, then in the database, from where it starts over once somebody
 * has decided. Never rejects.
 */
export async function waitForVerdict(
  connection: Connection,
  { id, stop }: { id: string; stop: AbortController },
  asked: Approval,
): Promise<RunVerdict> {
  const { approvals } = connection
  try {
    const decided = approvals.decided(id)
    const known = await approvals.ask(id, asked)
    if (known) return known
    connection.notices.send({ approvals: true })
    connection.notices.send({ changed: id })
    const timer = setTimeout(() => void hold(connection, id).catch(() => {}), connection.times.inPlaceMs)
    timer.unref()
    const givenUp = new Promise<RunVerdict>(resolve =>
      stop.signal.addEventListener(
        'abort',
        () => resolve({ approved: false, reason: 'the caller gave up' }),
        {
          once: true,
        },
      ),
    )
    return await Promise.race([decided, givenUp]).finally(() => clearTimeout(timer))
  } catch (error) {
    return { approved: false, reason: `nobody could be asked: ${String(error)}` }
  } finally {
    approvals.stopWaiting(id)
  }
}

async function hold(connection: Connection, id: string): Promise<void> {
  const { self, carrier, approvals, database } = connection
  if (!(await holdRun(database, { id, process: self.process, queue: poolQueue(self.pool) }))) return
  carrier.handOn(id)
  // Somebody may have decided in the meantime.
  if (await approvals.verdictOn(id)) await connection.release([id])
}
