import type { Progress } from 'toolpost'
import type { Notice } from './database/notices.ts'
import type { Session } from './session.ts'

/** What others want to know of a session. */
export interface SessionEvents {
  onOpen(): void
  onLost(reason: string): void
  /** The workers, or what they offer, have changed. */
  onWorkers(): void
  onApprovals(): void
  onRun(id: string): void
  onProgress(id: string, progress: Progress): void
}

/** Does what another process's notice asks for. */
export function heed(notice: Notice, session: Session, events: SessionEvents): void {
  const { taking, ends, carrier, approvals } = session
  if ('queue' in notice) taking.announce(notice.queue)
  else if ('ended' in notice) {
    ends.announce(notice.ended)
    events.onRun(notice.ended)
  } else if ('changed' in notice) events.onRun(notice.changed)
  else if ('cancel' in notice) carrier.cancel(notice.cancel)
  else if ('progress' in notice) events.onProgress(notice.progress, notice.value)
  else if ('workers' in notice) void session.refresh().catch(() => {})
  else if ('approvals' in notice) {
    void approvals.look().catch(() => {})
    events.onApprovals()
  }
}
