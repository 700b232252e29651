import type { ToolResult } from '../call/tool-result.ts'
import { isRecord } from '../util/guards.ts'
import { describeThrown } from '../util/quietly.ts'
import type { CallContext } from './context.ts'
import { cancelled, toolError } from './failure.ts'
import { failureResult } from './result.ts'

/**
 * Wraps every call. It may answer without `next()`, wait before it, or look at the result; `next()` resolves to the
 * result, whatever happens, and can be called once. Calls that cannot run have a `failure`; in a dry run (`dryRun`)
 * nothing may be changed or counted.
 */
export type Interceptor = (context: CallContext, next: Next) => Promise<ToolResult>

export type Next = () => Promise<ToolResult>

/** Runs a call. */
export type Chain = (context: CallContext) => Promise<ToolResult>

/** Composes interceptors around `invoke`; the first is outermost. Their mistakes become failures that name them. */
export function compose(interceptors: readonly Interceptor[], invoke: Chain): Chain {
  if (interceptors.length === 0) return invoke
  const chain = interceptors.reduceRight<Chain>(
    (inner, interceptor) => context => step(interceptor, context, inner),
    invoke,
  )
  return context => {
    context.enteredAt = context.services.clock.now()
    const answer = chain(context)
    return context.options.signal || context.event ? unlessCancelled(context, answer) : answer
  }
}

/** A caller who gives up while interceptors wait is answered at once. */
function unlessCancelled(context: CallContext, answer: Promise<ToolResult>): Promise<ToolResult> {
  return new Promise(resolve => {
    context.onCancel = () => resolve(failureResult(cancelled(context.name), context))
    if (context.isCancelled && !context.isInvoked) context.onCancel()
    void answer.then(resolve)
  })
}

async function step(interceptor: Interceptor, context: CallContext, inner: Chain): Promise<ToolResult> {
  let state: 'before' | 'passed' | 'answered' = 'before'
  const next: Next = () => {
    // Already answered: a tool that ran now would run unnoticed.
    if (state === 'answered')
      return Promise.resolve(mistake(context, interceptor, 'next() was called after the answer'))
    if (state === 'passed') return Promise.reject(new Error('next() was called twice'))
    state = 'passed'
    context.mark(interceptor.name)
    return inner(context)
  }
  try {
    const answer = await interceptor(context, next)
    if (isRecord(answer) && typeof answer.success === 'boolean') return answer
    return mistake(context, interceptor, 'it did not return a ToolResult')
  } catch (error) {
    return mistake(context, interceptor, describeThrown(error))
  } finally {
    if (state === 'before') context.mark(interceptor.name)
    state = 'answered'
  }
}

function mistake(context: CallContext, { name }: Interceptor, problem: string): ToolResult {
  const subject = name === '' ? 'An unnamed interceptor' : `The interceptor '${name}'`
  return failureResult(toolError(`${subject} failed: ${problem}`), context)
}
