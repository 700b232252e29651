import type { Tool } from '../tools/tool.ts'
import type { CallContext, Ending } from './context.ts'
import type { RunOptions } from './options.ts'

const { then } = Promise.prototype

/**
 * Runs `work` until it settles, its time is up or the call is cancelled, whichever comes first. At the deadline the
 * caller gets its answer, whatever the work does; the signal is aborted, and a late answer is dropped and logged.
 */
export function timeBox(context: CallContext, timeoutMs: number, work: () => unknown): Promise<Ending> {
  if (context.isCancelled) return Promise.resolve({ kind: 'cancelled' })
  return new Promise(resolve => {
    context.begin(timeoutMs, resolve)
    const onValue = (value: unknown) => {
      if (!context.end({ kind: 'value', value })) context.warn('Late answer dropped: the call had ended')
    }
    // Most tools reject once their signal is aborted: nothing to report.
    const onError = (error: unknown) => void context.end({ kind: 'error', error })
    try {
      // Not its own `then`, which a tool may have replaced.
      then.call(Promise.resolve(work()), onValue, onError)
    } catch (error) {
      onError(error)
    }
  })
}

/** A limit in milliseconds; anything else counts as not given. */
export function limitOf(ms: number | undefined): number | undefined {
  return typeof ms === 'number' && ms >= 0 ? ms : undefined
}

/** The caller's limit, else the tool's, else the executor's; never more than the tool's `maxTimeoutMs`. */
export function timeLimit(
  options: Pick<RunOptions, 'timeoutMs'>,
  tool: Pick<Tool, 'timeoutMs' | 'maxTimeoutMs'>,
  defaultMs: number,
): number {
  const limitMs = limitOf(options.timeoutMs) ?? limitOf(tool.timeoutMs) ?? defaultMs
  return Math.min(limitMs, limitOf(tool.maxTimeoutMs) ?? limitMs)
}
