import { createRequire } from 'node:module'
import { compiledFile, isMissingPackage, MissingPackageError } from '../../util/package-root.ts'
import { type IsolatedFunction, isolate } from '../isolated.ts'
import type { InvokeOptions } from '../tool.ts'

/** The handlers that are always available to declarations with `implementation.type` `builtin`. */
export const defaultBuiltins = { math_eval: mathEval, echo }

/** Returns its arguments: for trying out a model, a client or a connection. */
export function echo(args: unknown): { echo: unknown } {
  return { echo: args }
}

let isolated: IsolatedFunction | undefined

/**
 * Evaluates `{ expression }` with mathjs and returns `{ result }`. Runs in a child process, which is killed when
 * the call is aborted; mathjs is loaded there and nowhere else.
 */
async function mathEval(args: unknown, options: InvokeOptions): Promise<unknown> {
  isolated ??= startMath()
  return isolated(args, options)
}

function startMath(): IsolatedFunction {
  try {
    // mathjs is optional. Checked here, because the child process could only report that it failed.
    createRequire(import.meta.url).resolve('mathjs/lib/browser/math.js')
  } catch (error) {
    throw isMissingPackage(error) ? new MissingPackageError('math_eval', ['mathjs'], { cause: error }) : error
  }
  const module = compiledFile('tools/builtins/math-eval-child.js')
  return isolate({ name: 'math_eval', module, export: 'evaluate' })
}
