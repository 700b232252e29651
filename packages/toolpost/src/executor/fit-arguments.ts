import { ZWAVE_PARAMETER_NAMES } from '../known-servers/zwave.ts'
import type { Logger } from '../logging/logger.ts'
import { safeValue } from '../logging/safe-value.ts'
import { isThenable, ownValue } from '../runtime/guards.ts'
import { nextTurn } from '../runtime/turns.ts'
import { settling } from '../runtime/when-settled.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { isExpensiveToValidate, QUICK_WORK, trialsFor } from '../schema/validation-cost.ts'
import { describeRenaming, type FittedNames, fitArgumentNames } from '../tools/argument-names.ts'
import type { McpOrigin } from '../tools/name-conflicts.ts'
import type { Tool } from '../tools/tool.ts'
import { type Arguments, weighArguments, weighIfLight } from './check-arguments.ts'
import { classifyError } from './classify-error.ts'
import { Failure, invalidArguments } from './failure.ts'
import { fitSingleInput } from './fit-input.ts'
import { problemsIn, type StandardOutcome } from './parse-standard.ts'
import type { Plan } from './plan.ts'
import { unwrapArguments } from './unwrap-arguments.ts'
import { type Validated, validateArguments } from './validate-arguments.ts'
import { type AbortSource, validateInChild } from './validation-pool.ts'

/** What the tool receives. */
export interface Fitted {
  readonly args: Arguments
  readonly repairs?: string[] | undefined
}

/** Fitting that takes time. Starts when called, and is aborted with `call`. */
export type LateFitting = (call: AbortSource) => Promise<Fitted | Failure>

/**
 * Names, repairs and validates the arguments; the tool receives the outcome. Usually synchronous; work that would block
 * other calls, and asynchronous checks of a schema library, are done later.
 */
export function fitArguments(plan: Plan, given: unknown, repair: boolean): Fitted | Failure | LateFitting {
  const unwrapped = repair ? unwrapArguments(given, { name: plan.tool.name, schema: plan.schema }) : undefined
  const own = unwrapped ?? given
  const weight = weighIfLight(own)
  const fitted =
    weight === undefined ? fitHeavy(plan, own, repair) : fitWeighed(plan, own, { weight, repair })
  return unwrapped ? whenDone(fitted, withUnwrapping) : fitted
}

/** Each pass over heavy arguments gets a separate turn of the event loop. */
function fitHeavy(plan: Plan, given: unknown, repair: boolean): LateFitting {
  return async call => {
    await nextTurn()
    call.signal.throwIfAborted()
    const weight = weighArguments(given)
    await nextTurn()
    call.signal.throwIfAborted()
    const fitted = fitWeighed(plan, given, { weight, repair })
    return typeof fitted === 'function' ? fitted(call) : fitted
  }
}

function fitWeighed(
  plan: Plan,
  given: unknown,
  { weight, repair }: { weight: number | string; repair: boolean },
): Fitted | Failure | LateFitting {
  if (typeof weight === 'string') return refuse(plan, [weight])
  const named = plan.naming ? fitNames(given as Arguments, plan.naming) : (given as Arguments)
  const args = plan.singleInput ? fitSingleInput(plan, named) : named
  return validated(plan, args, { weight, repair })
}

interface Load {
  weight: number
  repair: boolean
}

function validated(plan: Plan, args: Arguments, load: Load): Fitted | Failure | LateFitting {
  const { schema, validate } = plan
  const isQuick = plan.costPerPart * load.weight <= QUICK_WORK
  if (!validate || (!isQuick && isExpensiveToValidate(plan, args, load))) {
    return async call => {
      const outcome = await validateInChild(plan, { args, repair: load.repair }, call)
      const fitted = outcome instanceof Failure ? outcome : parsed(plan, args, outcome, load.weight)
      return typeof fitted === 'function' ? fitted(call) : fitted
    }
  }
  const trials = load.repair ? trialsFor(plan, load.weight) : 0
  return parsed(plan, args, validateArguments({ schema, validate }, args, trials), load.weight)
}

/** Heavier arguments that the JSON Schema refuses are not passed to the schema library: it would explain every mistake. */
const MAX_ASKED_TWICE = 20_000

/** Asks the schema library, if there is one: it knows more than its JSON Schema can express, and may overrule it. */
function parsed(
  plan: Plan,
  given: Arguments,
  outcome: Validated,
  weight: number,
): Fitted | Failure | LateFitting {
  if (outcome.problems && (!plan.parse || weight > MAX_ASKED_TWICE)) return refuse(plan, outcome.problems)
  if (!plan.parse) return outcome as Fitted
  try {
    const answer = plan.parse(outcome.args ?? given)
    if (!isThenable(answer)) return judged(plan, outcome, answer as StandardOutcome)
    return async () => judged(plan, outcome, (await settling(answer)).value as StandardOutcome)
  } catch (error) {
    return classifyError(error, plan.tool)
  }
}

function judged(plan: Plan, { problems, repairs }: Validated, answer: StandardOutcome): Fitted | Failure {
  if (answer.issues) return refuse(plan, problems ?? problemsIn(answer.issues))
  return { args: answer.value as Arguments, repairs }
}

function refuse(plan: Plan, problems: readonly string[]): Failure {
  return invalidArguments(problems, plan.tool, plan.schema)
}

function whenDone(
  fitted: Fitted | Failure | LateFitting,
  then: (fitted: Fitted | Failure) => Fitted | Failure,
): Fitted | Failure | LateFitting {
  return typeof fitted === 'function' ? async call => then(await fitted(call)) : then(fitted)
}

function withUnwrapping(fitted: Fitted | Failure): Fitted | Failure {
  if (fitted instanceof Failure) return fitted
  return { args: fitted.args, repairs: ['arguments: wrapper removed', ...(fitted.repairs ?? [])] }
}

/** What the names of an MCP tool's arguments depend on. */
export interface Naming {
  tool: Tool
  schema: JsonSchema
  origin: McpOrigin
  logger: Logger
}

/** For MCP tools only: gives arguments the names that the tool's server expects, and logs the change. */
function fitNames(args: Arguments, { tool, schema, origin, logger }: Naming): Arguments {
  const fitted = fitArgumentNames(args, schema, {
    configured: origin.parameterNames && ownValue(origin.parameterNames, origin.name),
    wellKnown: ownValue(ZWAVE_PARAMETER_NAMES, origin.name),
  })
  if (!fitted) return args
  logRenaming(logger, tool.name, args, fitted)
  return fitted.args
}

function logRenaming(logger: Logger, tool: string, before: Arguments, { args, lost }: FittedNames): void {
  const shown = (values: Arguments) => safeValue(values) as Arguments
  logger.info({ tool }, `Argument names: ${describeRenaming(shown(before), shown(args))}`)
  for (const argument of lost) {
    logger.warn({ tool, argument }, 'Argument dropped: another one already has that name')
  }
}
