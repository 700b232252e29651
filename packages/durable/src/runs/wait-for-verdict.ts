import type { Approval } from 'toolpost/interceptors'
import type { RunVerdict } from 'toolpost/project'
import type { Session } from '../session.ts'
import { poolQueue } from '../workers/queues.ts'
import { holdRun } from './held-runs.ts'

/**
 * Asks about a run that is under way, and waits: first in place, then in the database, from where it begins anew once
 * somebody has decided. Never rejects.
 */
export async function waitForVerdict(
  session: Session,
  { id, stop }: { id: string; stop: AbortController },
  asked: Approval,
): Promise<RunVerdict> {
  const { approvals } = session
  try {
    const decided = approvals.decided(id)
    const known = await approvals.ask(id, asked)
    if (known) return known
    session.notices.send({ approvals: true })
    session.notices.send({ changed: id })
    const timer = setTimeout(() => void hold(session, id).catch(() => {}), session.times.inPlaceMs)
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

async function hold(session: Session, id: string): Promise<void> {
  const { self, carrier, approvals, database } = session
  if (!(await holdRun(database, { id, process: self.process, queue: poolQueue(self.pool) }))) return
  carrier.handOn(id)
  // Somebody may have decided just now.
  if (await approvals.verdictOn(id)) await session.release([id])
}
