import { type IsolatedFunction, isolate } from '../isolation/isolated-function.ts'
import { compiledFile } from '../runtime/package-root.ts'
import { plainSize } from '../runtime/plain-size.ts'
import { nextTurn } from '../runtime/turns.ts'
import { schemaText } from '../schema/compile-schema.ts'
import type { Arguments } from './check-arguments.ts'
import type { Failure } from './failure.ts'
import { type Plan, unusableSchema } from './plan.ts'
import type { Validated } from './validate-arguments.ts'
import type { ChildAnswer } from './validation-child.ts'

/** What aborts a validation. */
export type AbortSource = NonNullable<Parameters<IsolatedFunction>[1]>

let isolated: IsolatedFunction | undefined

/** Validates in a child process, which is killed when the call ends: for work that would block other calls. */
export async function validateInChild(
  plan: Plan,
  { args, repair }: { args: Arguments; repair: boolean },
  call: AbortSource,
): Promise<Validated | Failure> {
  isolated ??= isolate({
    name: 'Validating the arguments',
    module: compiledFile('executor/validation-child.js'),
    export: 'validate',
    heapMb: 256,
  })
  const request = { schema: schemaText(plan.schema), args: await handedOver(args, call), repair }
  const { validated, leftOut, unusable } = (await isolated(request, call)) as ChildAnswer
  if (unusable !== undefined) return unusableSchema(plan.tool, unusable)
  plan.warnLeftOut(leftOut)
  return (typeof validated === 'string' ? JSON.parse(validated) : validated) ?? { args }
}

/** Beyond this, checking, serializing and sending each get a separate turn. */
const MANY_VALUES = 1_000

/** As JSON, if nothing is lost. */
async function handedOver(args: Arguments, call: AbortSource): Promise<Arguments | string> {
  if (plainSize(args, MANY_VALUES) !== undefined) return JSON.stringify(args)
  await turnOf(call)
  const isPlain = plainSize(args, Number.POSITIVE_INFINITY) !== undefined
  await turnOf(call)
  const text = isPlain ? JSON.stringify(args) : undefined
  await turnOf(call)
  return text ?? args
}

/** Resolves in a later turn; rejects if the call has ended. */
async function turnOf({ signal }: AbortSource): Promise<void> {
  await nextTurn()
  signal.throwIfAborted()
}
