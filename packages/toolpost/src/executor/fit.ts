import type { Logger } from '../logging/logger.ts'
import { safeValue } from '../logging/safe-value.ts'
import { ownValue } from '../runtime/guards.ts'
import { ENDLESS_REFERENCES } from '../schema/compile.ts'
import { TimeLimitError } from '../schema/limits.ts'
import { classifyError } from './classify-error.ts'
import type { CallContext } from './context.ts'
import { type Failure, invalidArguments } from './failure.ts'
import { describeRenaming, fitArgumentNames } from './names.ts'
import { problemsIn, type StandardOutcome } from './parse-standard.ts'
import { type Plan, unusableSchema } from './plan.ts'
import type { Arguments } from './repair.ts'
import { failureOf } from './result.ts'
import { timeBox } from './time-box.ts'
import { unwrapArguments } from './unwrap-arguments.ts'
import { argumentsFromText, measureArguments, type Validated, validateArguments } from './validate.ts'

/** Arguments that need repairs are validated repeatedly. */
const REPAIR_FACTOR = 10
/** More values that the JSON Schema refuses are not passed to the schema library: it would explain every mistake. */
const MAX_ASKED_TWICE = 2_000

/**
 * Fit: names, repairs and validates the arguments, and puts them into the context. Returns why they do not fit. Usually
 * synchronous; text, slow schemas and asynchronous checks of a schema library take longer.
 */
export function fit(
  context: CallContext,
  plan: Plan,
  timeoutMs: number,
): Failure | undefined | Promise<Failure | undefined> {
  const { given } = context
  if (typeof given === 'string' && context.options.repair === true)
    return fitText(given, context, plan, timeoutMs)
  return fitObject(given ?? {}, context, plan, timeoutMs)
}

/** Some models send their arguments as text. */
async function fitText(
  text: string,
  context: CallContext,
  plan: Plan,
  timeoutMs: number,
): Promise<Failure | undefined> {
  const read = await argumentsFromText(text)
  if (read) context.repairs = ['arguments: text → object']
  return fitObject(read ?? text, context, plan, timeoutMs)
}

function fitObject(
  given: unknown,
  context: CallContext,
  plan: Plan,
  timeoutMs: number,
): Failure | undefined | Promise<Failure | undefined> {
  const repair = context.options.repair === true
  const unwrapped = repair ? unwrapArguments(given, { name: plan.tool.name, schema: plan.schema }) : undefined
  if (unwrapped) addRepairs(context, ['arguments: wrapper removed'])
  const values = measureArguments(unwrapped ?? given)
  if (typeof values === 'string') return refuse(plan, [values])
  const named = withNames((unwrapped ?? given) as Arguments, plan, context.logger)
  const args = plan.singleInput ? singleInput(named, plan.singleInput) : named
  const take = (outcome: Validated) => takeOutcome(outcome, { context, plan, args, values, timeoutMs })
  try {
    const outcome = plan.compiled.run(repair ? values * REPAIR_FACTOR : values, () =>
      validateArguments(plan.compiled, args, repair),
    )
    if (!(outcome instanceof Promise)) return take(outcome)
    return outcome.then(take, error => notValidated(plan, error))
  } catch (error) {
    return notValidated(plan, error)
  }
}

function notValidated(plan: Plan, error: unknown): Failure {
  if (error instanceof TimeLimitError) return refuse(plan, [`arguments take ${error.message} to validate`])
  if (error instanceof RangeError) return unusableSchema(plan.tool, ENDLESS_REFERENCES)
  throw error
}

interface Fitting {
  context: CallContext
  plan: Plan
  args: Arguments
  values: number
  timeoutMs: number
}

/** Asks the schema library, if there is one: it knows more than its JSON Schema can express, and may overrule it. */
function takeOutcome(
  outcome: Validated,
  { context, plan, args, values, timeoutMs }: Fitting,
): Failure | undefined | Promise<Failure | undefined> {
  const { problems, repairs } = outcome
  if (problems && (!plan.parse || values > MAX_ASKED_TWICE)) return refuse(plan, problems)
  const { parse } = plan
  if (repairs) addRepairs(context, repairs)
  if (!parse) {
    context.args = outcome.args
    return undefined
  }
  return parseWith(() => parse(outcome.args ?? args), {
    context,
    plan,
    problems,
    timeoutMs,
  })
}

/** A check that takes time has the deadline of the call. */
async function parseWith(
  parse: () => unknown,
  {
    context,
    plan,
    problems,
    timeoutMs,
  }: { context: CallContext; plan: Plan; problems: string[] | undefined; timeoutMs: number },
): Promise<Failure | undefined> {
  const ending = await timeBox(context, timeoutMs, parse)
  if (ending.kind === 'error') return classifyError(ending.error, plan.tool)
  if (ending.kind !== 'value') return failureOf(ending, plan, context)
  const answer = ending.value as StandardOutcome
  if (answer.issues) return refuse(plan, problems ?? problemsIn(answer.issues))
  context.args = answer.value
  return undefined
}

function refuse(plan: Plan, problems: readonly string[]): Failure {
  return invalidArguments(problems, plan.tool, plan.schema)
}

function addRepairs(context: CallContext, repairs: readonly string[]): void {
  context.repairs = [...(context.repairs ?? []), ...repairs]
}

/** For MCP tools only: gives arguments the names that the tool's server expects, and logs the change. */
function withNames(args: Arguments, { tool, schema, origin }: Plan, logger: Logger): Arguments {
  if (!origin) return args
  const fitted = fitArgumentNames(args, schema, {
    configured: origin.parameterNames && ownValue(origin.parameterNames, origin.name),
    tool: origin.name,
  })
  if (!fitted) return args
  const shown = (values: Arguments) => safeValue(values) as Arguments
  logger.info({ tool: tool.name }, `Argument names: ${describeRenaming(shown(args), shown(fitted.args))}`)
  for (const argument of fitted.lost)
    logger.warn({ tool: tool.name, argument }, 'Argument dropped: another one already has that name')
  return fitted.args
}

/**
 * LangChain's single-input tools have one argument, `input`; models give it whatever name they like. Such a call gets an
 * `input`: its only text, otherwise all of its arguments.
 */
function singleInput(args: Arguments, kind: 'text' | 'any'): Arguments {
  if (Object.hasOwn(args, 'input') || Object.keys(args).length === 0) return args
  if (kind === 'any') return { input: args }
  const texts = Object.values(args).filter(value => typeof value === 'string')
  return { input: texts.length === 1 ? texts[0] : JSON.stringify(args) }
}
