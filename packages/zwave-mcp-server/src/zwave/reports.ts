import type { Primitive } from './payload.ts'

export interface ReportWait {
  readonly accepts: (value: Primitive) => boolean
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

/** How a wait ended; `reported` is the last thing that the device said, accepted or not. */
export type ReportOutcome =
  | { readonly kind: 'confirmed'; readonly reported: Primitive }
  | { readonly kind: 'timeout' | 'lost' | 'cancelled'; readonly reported?: Primitive }

interface Waiter {
  readonly place: string
  hear(value: Primitive): void
  end(kind: 'lost'): void
}

/** The tools that wait for a device to report. Only what comes in while they wait counts. */
export class Reports {
  readonly #waiters = new Set<Waiter>()

  /** A device reported a value at this place, just now. */
  hear(place: string, value: Primitive): void {
    for (const waiter of this.#waiters) if (waiter.place === place) waiter.hear(value)
  }

  /** The connection is gone: nothing more will be heard. */
  lose(): void {
    for (const waiter of this.#waiters) waiter.end('lost')
  }

  wait(place: string, { accepts, timeoutMs, signal }: ReportWait): Promise<ReportOutcome> {
    return new Promise(resolve => {
      let reported: Primitive | undefined
      const end = (kind: 'timeout' | 'lost' | 'cancelled') =>
        finish({ kind, ...(reported !== undefined && { reported }) })
      const finish = (outcome: ReportOutcome) => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        this.#waiters.delete(waiter)
        resolve(outcome)
      }
      const hear = (value: Primitive) => {
        reported = value
        if (accepts(value)) finish({ kind: 'confirmed', reported: value })
      }
      const onAbort = () => end('cancelled')
      const timer = setTimeout(end, timeoutMs, 'timeout')
      signal?.addEventListener('abort', onAbort, { once: true })
      const waiter: Waiter = { place, hear, end }
      this.#waiters.add(waiter)
    })
  }
}
