import type { CallEvent } from '../executor/observers.ts'
import { safeText } from '../logging/safe-value.ts'
import type { Clock } from '../runtime/clock.ts'
import { coalesced } from '../runtime/coalesced.ts'
import type { Progress } from '../tools/tool.ts'
import type { GatewayContext } from './gateway-context.ts'
import { MAX_PROGRESS_MESSAGE, PROGRESS_TOLD_MS } from './limits.ts'

/** Running calls by serial, so that they can be cancelled. */
export class CallsUnderWay {
  readonly #calls = new Map<string, CallEvent>()

  note(serial: string, event: CallEvent): void {
    if (event.result) this.#calls.delete(serial)
    else this.#calls.set(serial, event)
  }

  /** `false` if it is not running. */
  cancel(serial: string): boolean {
    const event = this.#calls.get(serial)
    event?.cancel?.()
    return event !== undefined
  }
}

type Parts = Pick<GatewayContext, 'executor' | 'journal' | 'events' | 'callers' | 'underWay'>

/** Records every call, whatever its origin, and publishes it as events. Returns functions that stop it. */
export function followCalls(context: Parts, clock: Clock | undefined): (() => void)[] {
  const { executor, journal, events, callers, underWay } = context
  /** The latest progress of each call, by serial. */
  const pending = new Map<string, Progress>()
  const tellAll = coalesced(
    () => {
      for (const [serial, progress] of pending) tell(serial, progress)
      pending.clear()
    },
    clock,
    PROGRESS_TOLD_MS,
  )
  const tell = (serial: string, progress: Progress) => {
    const record = journal.noteProgress(serial, progress)
    if (!record) return
    const { caller } = record
    events.publish('progress', {
      serial: record.serial,
      ...progress,
      ...(caller !== undefined && { caller }),
    })
  }
  const observer = (event: CallEvent) => {
    const { record, bytes } = journal.note(event)
    underWay.note(record.serial, event)
    events.publish('call', record, bytes)
    callers.note(event)
  }
  const onProgress = (serial: string, progress: Progress) => {
    pending.set(serial, shown(progress))
    tellAll.soon()
  }
  return [executor.observe(observer, { onProgress }), tellAll.stop]
}

/** A server's progress report: bounded, without secrets. */
function shown({ progress, total, message }: Progress): Progress {
  return {
    progress,
    ...(total !== undefined && { total }),
    ...(typeof message === 'string' && { message: safeText(message, MAX_PROGRESS_MESSAGE) }),
  }
}
