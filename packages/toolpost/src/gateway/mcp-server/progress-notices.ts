import { setTimeout as delay } from 'node:timers/promises'
import type { Progress } from '../../tools/tool.ts'
import { PROGRESS_GAP_MS } from '../limits.ts'
import type { McpRequest } from './client-peer.ts'

/** Sends the progress of a call to a client that asked for it. */
export class ProgressNotices {
  readonly listener: ((progress: Progress) => void) | undefined
  #lastAt = Number.NEGATIVE_INFINITY

  constructor(current: () => McpRequest | undefined) {
    if (current()?._meta?.progressToken === undefined) return
    this.listener = progress => {
      const { _meta, notify } = current() ?? {}
      const progressToken = _meta?.progressToken
      if (progressToken === undefined) return
      this.#lastAt = performance.now()
      // The client may be gone.
      notify?.({ method: 'notifications/progress', params: { progressToken, ...progress } }).catch(() => {})
    }
  }

  /** Resolves when the result may follow. */
  async settled(): Promise<void> {
    if (performance.now() - this.#lastAt < PROGRESS_GAP_MS) await delay(PROGRESS_GAP_MS)
  }
}
