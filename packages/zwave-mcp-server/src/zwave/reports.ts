import type { Primitive } from './payload.ts'

export interface ReportWait {
  readonly accepts: (value: Primitive) => boolean
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

/** How a wait ended; `reported` is the device's last report, accepted or not. */
export type ReportOutcome =
  | { readonly kind: 'confirmed'; readonly reported: Primitive }
  | { readonly kind: 'timeout' | 'lost' | 'cancelled'; readonly reported?: Primitive }

interface Waiter {
  readonly place: string
  hear(value: Primitive): void
  end(kind: 'lost'): void
}

/** Lets tools wait for a device to report. Only reports that arrive during the wait count. */
export class Reports {
  readonly #waiters = new Set<Waiter>()

  /** A device just reported a value at this place. */
  hear(place: string, value: Primitive): void {
    for (const waiter of this.#waiters) if (waiter.place === place) waiter.hear(value)
  }

  /** The connection was lost: no more reports will come. */
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
