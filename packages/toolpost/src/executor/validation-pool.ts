import { type IsolatedFunction, isolate } from '../isolation/isolated-function.ts'
import { compiledFile } from '../runtime/package-root.ts'
import { plainSize } from '../runtime/plain-size.ts'
import { schemaText } from '../schema/compile-schema.ts'
import type { Arguments } from './check-arguments.ts'
import type { Failure } from './failure.ts'
import { type Plan, unusableSchema } from './plan.ts'
import type { Validated } from './validate-arguments.ts'
import type { ChildAnswer } from './validation-child.ts'

/** What gives a validation up. */
export type AbortSource = NonNullable<Parameters<IsolatedFunction>[1]>

let isolated: IsolatedFunction | undefined

/** Validates in a child process, which is killed when the call ends: for what would hold up the calls beside it. */
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
  const request = { schema: schemaText(plan.schema), args: handedOver(args), repair }
  const { validated, leftOut, unusable } = (await isolated(request, call)) as ChildAnswer
  if (unusable !== undefined) return unusableSchema(plan.tool, unusable)
  plan.warnLeftOut(leftOut)
  return (typeof validated === 'string' ? JSON.parse(validated) : validated) ?? { args }
}

/** As JSON, if that says all of it. */
function handedOver(args: Arguments): Arguments | string {
  return plainSize(args, Number.POSITIVE_INFINITY) === undefined ? args : JSON.stringify(args)
}
