import { isThenable } from '../runtime/quietly.ts'
import type { Arguments } from './check-arguments.ts'
import type { Plan } from './plan.ts'
import { CallOptions, type RunningCall } from './running-call.ts'

/** Stage 5: runs the tool as `call`, which ends when the tool does, at its deadline, or when the caller gives up. */
export function timeBox(plan: Plan, args: Arguments, call: RunningCall): void {
  try {
    if (call.limits.signal?.aborted) return call.cancel()
    const outcome = invoke(plan, args, call)
    // A promise stays itself; of any other thenable one is made, which settles once and never at once.
    if (isThenable(outcome)) call.waitFor(Promise.resolve(outcome))
    else call.finish({ kind: 'value', value: outcome })
  } catch (error) {
    call.finish({ kind: 'error', error })
  }
}

/** `tool.invoke(args, { signal })`, straight. docs/decisions says why not `{ input: args }`. */
function invoke({ tool, isLangChain }: Plan, args: Arguments, call: RunningCall): unknown {
  const options = isLangChain ? { signal: call.signal } : new CallOptions(call)
  return tool.invoke(tool.inputEnvelope ? { input: args } : args, options)
}
