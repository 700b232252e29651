import type { ToolResult } from '../call/tool-result.ts'
import { isRecord } from '../runtime/guards.ts'
import { describeThrown } from '../runtime/quietly.ts'
import type { CallContext } from './context.ts'

/**
 * Wraps every call. It may answer without `next()`, wait before it, or look at the result; `next()` resolves to the
 * result, whatever happens, and can be called once. Calls that cannot run have a `failure`; in a dry run (`dryRun`)
 * nothing may be changed or counted.
 */
export type Interceptor = (context: CallContext, next: Next) => Promise<ToolResult>

export type Next = () => Promise<ToolResult>

/** Runs the interceptors around `invoke`. */
export type Chain = (context: CallContext, invoke: Next) => Promise<ToolResult>

/** Composes interceptors; the first is outermost. Their mistakes become failures that name them. */
export function compose(interceptors: readonly Interceptor[]): Chain {
  return (context, invoke) => {
    const enter = (index: number): Promise<ToolResult> => {
      const interceptor = interceptors[index]
      return interceptor ? step(interceptor, context, () => enter(index + 1)) : invoke()
    }
    return enter(0)
  }
}

async function step(interceptor: Interceptor, context: CallContext, inner: Next): Promise<ToolResult> {
  let wasCalled = false
  let isAnswered = false
  let passed: ToolResult | undefined
  const next: Next = async () => {
    // Already answered: a tool that ran now would run unnoticed.
    if (isAnswered) return mistake(context, interceptor, 'next() was called after the answer')
    if (wasCalled) throw new Error('next() was called twice')
    wasCalled = true
    passed = await inner()
    return passed
  }
  try {
    const answer = await interceptor(context, next)
    if (!isRecord(answer) || typeof answer.success !== 'boolean')
      throw new Error('it did not return a ToolResult')
    // A copy: it may be the result of another call.
    return answer === passed ? answer : { ...answer }
  } catch (error) {
    return mistake(context, interceptor, describeThrown(error))
  } finally {
    isAnswered = true
  }
}

function mistake({ name }: CallContext, interceptor: Interceptor, problem: string): ToolResult {
  const subject = interceptor.name === '' ? 'An unnamed interceptor' : `The interceptor '${interceptor.name}'`
  return {
    success: false,
    code: 'tool_error',
    error: `${subject} failed: ${problem}`,
    tool_name: name,
    execution_time_ms: 0,
  }
}
