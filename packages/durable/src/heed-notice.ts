import type { Progress } from 'toolpost'
import type { Connection } from './connection.ts'
import type { Notice } from './database/notices.ts'

export interface ConnectionEvents {
  onOpen(): void
  onLost(reason: string): void
  /** The workers, or what they offer, have changed. */
  onWorkers(): void
  onApprovals(): void
  onRun(id: string): void
  onProgress(id: string, progress: Progress): void
}

/** Acts on a notice from another process. */
export function heed(notice: Notice, connection: Connection, events: ConnectionEvents): void {
  const { taking, ends, carrier, approvals } = connection
  if ('queue' in notice) taking.announce(notice.queue)
  else if ('ended' in notice) {
    ends.announce(notice.ended)
    events.onRun(notice.ended)
  } else if ('changed' in notice) events.onRun(notice.changed)
  else if ('cancel' in notice) carrier.cancel(notice.cancel)
  else if ('progress' in notice) events.onProgress(notice.progress, notice.value)
  else if ('workers' in notice) void connection.refresh().catch(() => {})
  else if ('approvals' in notice) {
    void approvals.look().catch(() => {})
    events.onApprovals()
  }
}
