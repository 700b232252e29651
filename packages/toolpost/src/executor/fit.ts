import { safeValue } from '../logging/safe-value.ts'
import { ENDLESS_REFERENCES } from '../schema/compile.ts'
import { joinPlace } from '../schema/explain.ts'
import { TimeLimitError } from '../schema/limits.ts'
import { isObjectLike, isRecord } from '../util/guards.ts'
import type { CallContext } from './context.ts'
import { Failure, invalidArguments, invalidSchema } from './failure.ts'
import { parseJsonText } from './json-text.ts'
import { describeRenaming, fitArgumentNames, foldedName, namingOf } from './names.ts'
import { type Plan, planOf } from './plan.ts'
import type { Arguments } from './repair.ts'
import { argumentsFromText, measureArguments, type Validated, validateArguments } from './validate.ts'

/** Arguments that need repairs are validated repeatedly. */
const REPAIR_FACTOR = 10

type Unfit = Failure | undefined

/**
 * Fit: names, repairs and validates the arguments, and puts them into the context; otherwise says why they do not fit.
 * Usually synchronous: a tool's first call, text, slow schemas and the checks of a schema library take longer.
 */
export function fit(context: CallContext): Unfit | Promise<Unfit> {
  const { tool, services } = context
  const plan = tool && planOf(tool, services.logger)
  return plan instanceof Promise ? plan.then(made => fitTo(context, made)) : fitTo(context, plan)
}

function fitTo(context: CallContext, plan: Plan | Failure | undefined): Unfit | Promise<Unfit> {
  if (!plan || plan instanceof Failure) return plan
  context.plan = plan
  const { given, options } = context
  if (typeof given !== 'string' || !options.repair) return fitObject(given ?? {}, context, plan)
  // Some models send their arguments as text.
  return argumentsFromText(given).then(read => {
    if (read) context.addRepairs(['arguments: text → object'])
    return fitObject(read ?? given, context, plan)
  })
}

function fitObject(given: unknown, context: CallContext, plan: Plan): Unfit | Promise<Unfit> {
  const { compiled } = plan
  const repair = context.options.repair === true
  const unwrapped = repair ? unwrapArguments(given, plan) : undefined
  if (unwrapped) context.addRepairs(['arguments: wrapper removed'])
  const values = measureArguments(unwrapped ?? given)
  if (typeof values === 'string') return refuse(plan, [values])
  let args = (unwrapped ?? given) as Arguments
  const work = () => {
    const named = withNames(args, context, plan)
    args = plan.singleInput ? singleInput(named, plan.singleInput) : named
    return validateArguments(compiled, args, repair)
  }
  try {
    const validated = compiled.run(repair ? values * REPAIR_FACTOR : values, work)
    if (!(validated instanceof Promise)) return take(validated, context, plan, args)
    return validated.then(
      made => take(made, context, plan, args),
      error => notValidated(plan, error),
    )
  } catch (error) {
    return notValidated(plan, error)
  }
}

function take(
  { problems, args, repairs }: Validated,
  context: CallContext,
  plan: Plan,
  given: Arguments,
): Unfit | Promise<Unfit> {
  if (!problems) context.addRepairs(repairs)
  if (plan.parse) return parse(args ?? given, context, plan, problems)
  if (problems) return refuse(plan, problems)
  context.args = args
  return undefined
}

/** What a schema library objects to: https://standardschema.dev */
interface Issue {
  readonly message: string
  readonly path?: readonly unknown[] | undefined
}

/** Asks the schema library, which knows more than its JSON Schema can express, and may overrule it. */
function parse(args: Arguments, context: CallContext, plan: Plan, problems?: string[]): Promise<Unfit> {
  const work = () => plan.parse?.(args)
  return context.runInTime(work, (_, failure, parsed) => {
    if (failure) return failure
    const { issues, value } = parsed as { issues?: readonly Issue[]; value?: unknown }
    if (issues) return refuse(plan, problems ?? problemsIn(issues))
    context.args = value
    return undefined
  })
}

const MAX_ISSUES = 10

/** One phrase per issue: `'a.b[0]': too short`. A path consists of keys, or of objects with one. */
function problemsIn(issues: readonly Issue[]): string[] {
  if (issues.length === 0) return ['the schema rejected the arguments']
  return issues.slice(0, MAX_ISSUES).map(({ path = [], message }) => {
    const keys = path.map(part => String(isObjectLike(part) ? (part as { key?: unknown }).key : part))
    const said = message || 'not accepted by the schema'
    return keys.length === 0 ? said : `'${keys.reduce(joinPlace, '')}': ${said}`
  })
}

function notValidated(plan: Plan, error: unknown): Failure {
  if (error instanceof TimeLimitError) return refuse(plan, [`arguments take ${error.message} to validate`])
  if (error instanceof RangeError) return invalidSchema(plan.tool.name, ENDLESS_REFERENCES)
  throw error
}

function refuse(plan: Plan, problems: readonly string[]): Failure {
  return invalidArguments(problems, plan.tool, plan.schema)
}

/** For MCP tools only: gives arguments the names that the tool's server expects, and logs the change. */
function withNames(args: Arguments, { mcp, services }: CallContext, { tool, schema }: Plan): Arguments {
  const fitted = mcp && fitArgumentNames(args, schema, mcp)
  if (!fitted) return args
  const { logger } = services
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
const WRAPPER = /^(?:tool|function)?(?:arguments?|args?|kwargs|parameters?|params?|inputs?)$/

/** `{"arguments": {…}}` unwrapped, if the schema knows all names inside and not the one outside; else `undefined`. */
function unwrapArguments(given: unknown, { tool, schema }: Plan): Arguments | undefined {
  if (!isRecord(given)) return undefined
  const [outer, ...others] = Object.keys(given).filter(key => !(key === 'name' && given.name === tool.name))
  if (outer === undefined || others.length > 0 || !WRAPPER.test(foldedName(outer))) return undefined
  const value = given[outer]
  const inner = typeof value === 'string' ? parseJsonText(value) : value
  const { byFold, isNameMap } = namingOf(schema)
  const isKnown = (name: string) => byFold.has(foldedName(name))
  if (!isRecord(inner) || isNameMap || Object.keys(given).some(isKnown)) return undefined
  const names = Object.keys(inner)
  return names.length > 0 && names.every(isKnown) ? inner : undefined
}
