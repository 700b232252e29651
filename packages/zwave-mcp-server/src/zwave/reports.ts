import type { Primitive } from './messages.ts'

export interface ReportWait {
  readonly accepts: (value: Primitive) => boolean
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

/** How a wait ended; `reported` is the device's last report, accepted or not. */
export interface ReportOutcome {
  readonly kind: 'confirmed' | 'timeout' | 'lost' | 'cancelled'
  readonly reported?: Primitive
}

interface Waiter {
  readonly place: string
  hear(value: Primitive): void
  end(kind: ReportOutcome['kind']): void
}

/** Lets tools wait for a device to report. Only reports that arrive during the wait count. */
export class Reports {
  readonly #waiters = new Set<Waiter>()

  /** A device just reported a value at this place. */
  hear(place: string, value: Primitive): void {
    for (const waiter of this.#waiters) if (waiter.place === place) waiter.hear(value)
  }

  /** The connection was lost: no more reports will come. */
  onLost(): void {
    for (const waiter of this.#waiters) waiter.end('lost')
  }

  wait(place: string, { accepts, timeoutMs, signal }: ReportWait): Promise<ReportOutcome> {
    return new Promise(resolve => {
      let reported: Primitive | undefined
      const end = (kind: ReportOutcome['kind']) => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        this.#waiters.delete(waiter)
        resolve({ kind, ...(reported !== undefined && { reported }) })
      }
      const hear = (value: Primitive) => {
        reported = value
        if (accepts(value)) end('confirmed')
      }
      const onAbort = () => end('cancelled')
      const timer = setTimeout(end, timeoutMs, 'timeout')
      const waiter: Waiter = { place, hear, end }
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#waiters.add(waiter)
    })
  }
}
