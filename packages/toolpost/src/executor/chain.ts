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
export type Chain = (context: CallContext) => Promise<ToolResult>

/** Composes interceptors around `invoke`; the first is outermost. Their mistakes become failures that name them. */
export function compose(interceptors: readonly Interceptor[], invoke: Chain): Chain {
  if (interceptors.length === 0) return invoke
  const chain = interceptors.reduceRight<Chain>((inner, interceptor) => around(interceptor, inner), invoke)
  return context => {
    context.enteredAt = context.stageEnd
    const answer = chain(context)
    return context.options.signal ? unlessCancelled(context, answer) : answer
  }
}

/** A caller who gives up while interceptors wait is answered at once. */
function unlessCancelled(context: CallContext, answer: Promise<ToolResult>): Promise<ToolResult> {
  return new Promise(resolve => {
    context.onAbort(() => {
      const { isCancelled, isInvoked, name } = context
      if (isCancelled && !isInvoked) resolve(failureResult(cancelled(name), context))
    })
    void answer.then(resolve)
  })
}

function around(interceptor: Interceptor, inner: Chain): Chain {
  const { name } = interceptor
  const mistake = (context: CallContext, problem: string) => {
    const subject = name === '' ? 'An unnamed interceptor' : `The interceptor '${name}'`
    return failureResult(toolError(`${subject} failed: ${problem}`), context)
  }
  return context => {
    let passed: Promise<ToolResult> | undefined
    let hasReturned = false
    let isAnswered = false
    let misuse: ToolResult | undefined
    const next: Next = () => {
      if (passed || isAnswered) {
        // A tool that ran now would run twice, or unnoticed.
        misuse = mistake(context, `next() was called ${isAnswered ? 'after the answer' : 'twice'}`)
        return Promise.resolve(misuse)
      }
      // One that passes the call on at once is no stage.
      if (hasReturned) context.mark(name)
      passed = inner(context)
      return passed
    }
    let answer: Promise<ToolResult>
    try {
      answer = interceptor(context, next)
    } catch (error) {
      answer = Promise.reject(error)
    }
    hasReturned = true
    // Many only pass most calls on.
    if (passed && answer === passed && !misuse) return answer
    const ended = (result: ToolResult) => {
      if (!passed) context.mark(name)
      isAnswered = true
      return misuse ?? result
    }
    return Promise.resolve(answer).then(
      result => ended(isResult(result) ? result : mistake(context, 'it did not return a ToolResult')),
      error => ended(mistake(context, describeThrown(error))),
    )
  }
}

const isResult = (value: unknown) => isRecord(value) && typeof value.success === 'boolean'
