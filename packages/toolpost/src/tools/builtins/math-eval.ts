import { type IsolatedFunction, isolate } from '../../isolation/isolated-function.ts'
import { compiledFile } from '../../runtime/package-root.ts'
import type { InvokeOptions } from '../tool.ts'

let isolated: IsolatedFunction | undefined

/**
 * Evaluates `{ expression }` with mathjs and returns `{ result }`. Runs in a child process, which is killed when
 * the call is aborted; mathjs is loaded there and nowhere else.
 */
export async function mathEval(args: unknown, options: InvokeOptions): Promise<unknown> {
  isolated ??= isolate({
    name: 'math_eval',
    module: compiledFile('tools/builtins/math-eval-child.js'),
    export: 'evaluate',
    heapMb: 64,
  })
  return isolated(args, options)
}

/** Ends the child processes; a later call starts new ones. */
export async function closeMathEval(): Promise<void> {
  await isolated?.close()
}
