import { safeValue } from '../logging/safe-value.ts'
import { isObjectLike, isRecord, ownValue } from '../runtime/guards.ts'
import { ENDLESS_REFERENCES } from '../schema/compile.ts'
import { joinPlace } from '../schema/explain.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { TimeLimitError } from '../schema/limits.ts'
import type { CallContext } from './context.ts'
import { Failure, invalidArguments, timedOut } from './failure.ts'
import { parseJsonText } from './json-text.ts'
import { describeRenaming, fitArgumentNames, foldedName, namingOf } from './names.ts'
import { type Plan, unusableSchema } from './plan.ts'
import type { Arguments } from './repair.ts'
import { timeBox, timeLimit } from './time-box.ts'
import { argumentsFromText, measureArguments, type Validated, validateArguments } from './validate.ts'

/** Arguments that need repairs are validated repeatedly. */
const REPAIR_FACTOR = 10
/** More values that the JSON Schema refuses are not passed to the schema library: it would explain every mistake. */
const MAX_ASKED_TWICE = 2_000

type Unfit = Failure | undefined

/**
 * Fit: names, repairs and validates the arguments, and puts them into the context, or why they do not fit. Usually
 * synchronous; text, slow schemas and asynchronous checks of a schema library take longer.
 */
export function fit(context: CallContext, plan: Plan | Failure): Promise<void> | undefined {
  if (plan instanceof Failure) return context.fail(plan)
  context.plan = plan
  const unfit = fitArguments(context, plan)
  const end = (failure: Unfit) => {
    context.fail(failure)
    context.mark('fit')
  }
  if (unfit instanceof Promise) return unfit.then(end)
  end(unfit)
  return undefined
}

function fitArguments(context: CallContext, plan: Plan): Unfit | Promise<Unfit> {
  const { given, options, services } = context
  const limitMs = timeLimit(options, plan.tool, services)
  // Its time ran out while its request was being read.
  if (context.beforeMs >= limitMs) return timedOut(context.name, limitMs)
  if (typeof given !== 'string' || options.repair !== true)
    return fitObject(given ?? {}, context, plan, limitMs)
  // Some models send their arguments as text.
  return argumentsFromText(given).then(read => {
    if (read) addRepairs(context, ['arguments: text → object'])
    return fitObject(read ?? given, context, plan, limitMs)
  })
}

function fitObject(
  given: unknown,
  context: CallContext,
  plan: Plan,
  limitMs: number,
): Unfit | Promise<Unfit> {
  const { compiled } = plan
  const repair = context.options.repair === true
  const unwrapped = repair ? unwrapArguments(given, plan) : undefined
  if (unwrapped) addRepairs(context, ['arguments: wrapper removed'])
  const values = measureArguments(unwrapped ?? given)
  if (typeof values === 'string') return refuse(plan, [values])
  const named = withNames((unwrapped ?? given) as Arguments, context, plan)
  const args = plan.singleInput ? singleInput(named, plan.singleInput) : named
  const checked = repair ? values * REPAIR_FACTOR : values
  const validate = () => validateArguments(compiled, args, repair)
  if (plan.parse || compiled.couldBeSlow(checked))
    return fitSlowly(context, plan, {
      args,
      values,
      limitMs,
      validate: () => compiled.run(checked, validate),
    })
  try {
    return take(validate(), context, plan)
  } catch (error) {
    return notValidated(plan, error)
  }
}

function take({ problems, args, repairs }: Validated, context: CallContext, plan: Plan): Unfit {
  if (problems) return refuse(plan, problems)
  if (repairs) addRepairs(context, repairs)
  context.args = args
  return undefined
}

interface Slowly {
  args: Arguments
  values: number
  limitMs: number
  validate(): Validated | Promise<Validated>
}

/**
 * Validates under a time limit; then asks the schema library, if there is one: it knows more than its JSON Schema can
 * express, and may overrule it. A check that takes time has the deadline of the call.
 */
async function fitSlowly(context: CallContext, plan: Plan, slowly: Slowly): Promise<Unfit> {
  const { args, values, limitMs, validate } = slowly
  const { parse } = plan
  let validated: Validated
  try {
    validated = await validate()
  } catch (error) {
    return notValidated(plan, error)
  }
  if (!parse || (validated.problems && values > MAX_ASKED_TWICE)) return take(validated, context, plan)
  const startedAt = context.startedAt + context.beforeMs
  const work = () => parse(validated.args ?? args)
  const outcome = await timeBox(context, limitMs, startedAt, work, identity)
  if (outcome instanceof Failure) return outcome
  const { issues, value } = outcome.value as { issues?: readonly Issue[]; value?: unknown }
  if (issues) return refuse(plan, validated.problems ?? problemsIn(issues))
  if (validated.repairs) addRepairs(context, validated.repairs)
  context.args = value
  return undefined
}

const identity = <T>(value: T): T => value

function notValidated(plan: Plan, error: unknown): Failure {
  if (error instanceof TimeLimitError) return refuse(plan, [`arguments take ${error.message} to validate`])
  if (error instanceof RangeError) return unusableSchema(plan.tool, ENDLESS_REFERENCES)
  throw error
}

function refuse(plan: Plan, problems: readonly string[]): Failure {
  return invalidArguments(problems, plan.tool, plan.schema)
}

function addRepairs(context: CallContext, repairs: readonly string[]): void {
  context.repairs = [...(context.repairs ?? []), ...repairs]
}

/** What a schema library objects to: https://standardschema.dev */
interface Issue {
  readonly message: string
  readonly path?: readonly unknown[] | undefined
}

const MAX_ISSUES = 10

/** One phrase per issue: `'a.b[0]': too short`. A path consists of keys, or of objects with one. */
function problemsIn(issues: readonly Issue[]): string[] {
  if (issues.length === 0) return ['the schema rejected the arguments']
  return issues.slice(0, MAX_ISSUES).map(({ path = [], message }) => {
    const keys = path.map(part => String(isObjectLike(part) ? (part as { key?: unknown }).key : part))
    const place = keys.reduce(joinPlace, '')
    return place === ''
      ? message || 'the schema rejected the arguments'
      : `'${place}': ${message || 'not accepted by the schema'}`
  })
}

/** For MCP tools only: gives arguments the names that the tool's server expects, and logs the change. */
function withNames(args: Arguments, { logger }: CallContext, { tool, schema, origin }: Plan): Arguments {
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

/** Names that models wrap around the arguments, folded. */
const WRAPPERS = new Set(
  `arguments argument args arg kwargs parameters parameter params param input inputs toolinput toolargs toolarguments
  functionarguments`.split(/\s+/),
)

/**
 * Unwraps arguments: `{"arguments": {…}}`, with or without the tool's name next to them. Only if the schema knows all
 * names inside and none outside; otherwise `undefined`.
 */
function unwrapArguments(
  given: unknown,
  { tool, schema }: { tool: { name: string }; schema: JsonSchema },
): Arguments | undefined {
  if (!isRecord(given)) return undefined
  const [outer, ...others] = Object.keys(given).filter(key => !(key === 'name' && given.name === tool.name))
  if (outer === undefined || others.length > 0 || !WRAPPERS.has(foldedName(outer))) return undefined
  const value = given[outer]
  const inner = typeof value === 'string' ? parseJsonText(value) : value
  if (!isRecord(inner)) return undefined
  const { byFold, isNameMap } = namingOf(schema)
  const isKnown = (name: string) => byFold.has(foldedName(name))
  const names = Object.keys(inner)
  const isWrapper = names.length > 0 && names.every(isKnown) && !Object.keys(given).some(isKnown)
  return isWrapper && !isNameMap ? inner : undefined
}
