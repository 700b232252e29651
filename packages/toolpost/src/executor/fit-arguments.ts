import { ZWAVE_PARAMETER_NAMES } from '../known-servers/zwave.ts'
import type { Logger } from '../logging/logger.ts'
import { safeValue } from '../logging/safe-value.ts'
import { isThenable } from '../runtime/guards.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { isDearToValidate, QUICK_WORK, trialsFor } from '../schema/validation-cost.ts'
import { describeRenaming, type FittedNames, fitArgumentNames } from '../tools/argument-names.ts'
import type { McpOrigin } from '../tools/name-conflicts.ts'
import type { Tool } from '../tools/tool.ts'
import { type Arguments, weighArguments } from './check-arguments.ts'
import { classifyError } from './classify-error.ts'
import { Failure, invalidArguments } from './failure.ts'
import { fitSingleInput } from './fit-input.ts'
import { problemsIn, type StandardOutcome } from './parse-standard.ts'
import type { Plan } from './plan.ts'
import { unwrapArguments } from './unwrap-arguments.ts'
import { type Validated, validateArguments } from './validate-arguments.ts'
import { type AbortSource, validateInChild } from './validation-pool.ts'

/** What the tool gets. */
export interface Fitted {
  readonly args: Arguments
  readonly repairs?: string[] | undefined
}

/** Fitting that takes its time. It begins when it is called, and is given up with `call`. */
export type LateFitting = (call: AbortSource) => Promise<Fitted | Failure>

/**
 * Names, repairs and validates the arguments: what comes out is what the tool gets. Most are done at once; what would
 * hold up the calls beside it, and what a schema library checks asynchronously, is done later.
 */
export function fitArguments(plan: Plan, given: unknown, repair: boolean): Fitted | Failure | LateFitting {
  const unwrapped = repair ? unwrapArguments(given, { name: plan.tool.name, schema: plan.schema }) : undefined
  const weight = weighArguments(unwrapped ?? given)
  if (typeof weight === 'string') return invalidArguments([weight], plan.tool, plan.schema)
  const own = (unwrapped ?? given) as Arguments
  const named = plan.naming ? fitNames(own, plan.naming) : own
  const args = plan.singleInput ? fitSingleInput(plan, named) : named
  const fitted = validated(plan, args, { weight, repair })
  return unwrapped ? whenDone(fitted, withUnwrapping) : fitted
}

function validated(
  plan: Plan,
  args: Arguments,
  load: { weight: number; repair: boolean },
): Fitted | Failure | LateFitting {
  const { schema, validate } = plan
  const isQuick = plan.costPerPart * load.weight <= QUICK_WORK
  if (!validate || (!isQuick && isDearToValidate(plan, args, load))) {
    return async call => {
      const outcome = await validateInChild(plan, { args, repair: load.repair }, call)
      const fitted = outcome instanceof Failure ? outcome : parsed(plan, args, outcome, load.weight)
      return typeof fitted === 'function' ? fitted(call) : fitted
    }
  }
  const trials = load.repair ? trialsFor(plan, load.weight) : 0
  return parsed(plan, args, validateArguments({ schema, validate }, args, trials), load.weight)
}

/** Heavier arguments that its JSON Schema refuses are not given to a schema library: it would explain every mistake. */
const MAX_ASKED_TWICE = 20_000

/** Asks the schema library, if there is one: it knows more than its JSON Schema can say, and it may know better. */
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
    return async () => judged(plan, outcome, (await answer) as StandardOutcome)
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

/** For MCP tools only: names the arguments as the tool's server takes them, and logs the change. */
function fitNames(args: Arguments, { tool, schema, origin, logger }: Naming): Arguments {
  const fitted = fitArgumentNames(args, schema, mappingOf(origin))
  if (!fitted) return args
  logRenaming(logger, tool.name, args, fitted)
  return fitted.args
}

function mappingOf({ name, parameterNames = {} }: McpOrigin): Record<string, string> | undefined {
  const fixed = own(ZWAVE_PARAMETER_NAMES, name)
  const configured = own(parameterNames, name)
  return configured ? { ...fixed, ...configured } : fixed
}

function logRenaming(logger: Logger, tool: string, before: Arguments, { args, lost }: FittedNames): void {
  const shown = (values: Arguments) => safeValue(values) as Arguments
  logger.info({ tool }, `Argument names: ${describeRenaming(shown(before), shown(args))}`)
  for (const argument of lost) {
    logger.warn({ tool, argument }, 'Argument dropped: another one already has that name')
  }
}

function own<T>(values: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined
}
