import { createRequire } from 'node:module'
import { isMissingPackage, MissingPackageError } from '../../runtime/missing-package.ts'
import { compiledFile } from '../../runtime/package-root.ts'
import { type IsolatedFunction, isolate } from '../isolated.ts'
import type { InvokeOptions } from '../tool.ts'

let isolated: IsolatedFunction | undefined

/**
 * Evaluates `{ expression }` with mathjs and returns `{ result }`. Runs in a child process, which is killed when
 * the call is aborted; mathjs is loaded there and nowhere else.
 */
export async function mathEval(args: unknown, options: InvokeOptions): Promise<unknown> {
  checkMathjs()
  isolated ??= isolate({
    name: 'math_eval',
    module: compiledFile('tools/builtins/math-eval-child.js'),
    export: 'evaluate',
    heapMb: 64,
  })
  return isolated(args, options)
}

/** mathjs is optional. Checked here, because the child process could only report that it failed. */
function checkMathjs(): void {
  try {
    if (!isolated) createRequire(import.meta.url).resolve('mathjs/lib/browser/math.js')
  } catch (error) {
    throw isMissingPackage(error) ? new MissingPackageError('math_eval', ['mathjs'], { cause: error }) : error
  }
}
