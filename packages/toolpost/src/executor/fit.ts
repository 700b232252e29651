import { safeValue } from '../logging/safe-value.ts'
import { ENDLESS_REFERENCES } from '../schema/compile.ts'
import { foldedName, joinPlace } from '../schema/explain.ts'
import { TimeLimitError } from '../schema/limits.ts'
import { isObjectLike, isRecord } from '../util/guards.ts'
import type { CallContext } from './context.ts'
import { Failure, invalidArguments, invalidSchema } from './failure.ts'
import { parseJsonText } from './json-text.ts'
import { describeRenaming, fitArgumentNames, namingOf } from './names.ts'
import { type Plan, planOf } from './plan.ts'
import type { Arguments } from './repair.ts'
import { argumentsFromText, measureArguments, type Validated, validateArguments } from './validate.ts'

/** Arguments that need repairs are validated repeatedly. */
const REPAIR_FACTOR = 10
const MAX_ISSUES = 10

type Unfit = Failure | undefined

/**
 * Fit: names, repairs and validates the arguments, and puts them into the context; otherwise says why they do not fit.
 * Usually synchronous: a tool's first call, slow schemas and the checks of a schema library take longer.
 */
export function fit(context: CallContext): Unfit | Promise<Unfit> {
  const { tool, services } = context
  const plan = tool && planOf(tool, services.logger)
  return plan instanceof Promise ? plan.then(made => fitTo(context, made)) : fitTo(context, plan)
}

function fitTo(context: CallContext, plan: Plan | Failure | undefined): Unfit | Promise<Unfit> {
  if (!plan || plan instanceof Failure) return plan
  context.plan = plan
  const repair = context.options.repair === true
  const given = repair ? opened(context, plan) : (context.given ?? {})
  const values = measureArguments(given)
  if (typeof values === 'string') return refuse(plan, [values])
  let args = given as Arguments
  const work = () => {
    args = withNames(args, context, plan)
    if (plan.singleInput) args = singleInput(args, plan.singleInput)
    return validateArguments(plan, args, repair)
  }
  try {
    const made = plan.compiled.run(repair ? values * REPAIR_FACTOR : values, work)
    if (!(made instanceof Promise)) return take(made, context, plan)
    return made.then(
      each => take(each, context, plan),
      error => stopped(error, plan),
    )
  } catch (error) {
    return stopped(error, plan)
  }
}

function take(
  { args, repairs, problems }: Validated,
  context: CallContext,
  plan: Plan,
): Unfit | Promise<Unfit> {
  context.addRepairs(repairs)
  if (plan.parse) return parse(args, context, plan, problems)
  if (problems) return refuse(plan, problems)
  context.args = args
  return undefined
}

function stopped(error: unknown, plan: Plan): Failure {
  if (error instanceof TimeLimitError) return refuse(plan, [`arguments take ${error.message} to validate`])
  if (error instanceof RangeError) return invalidSchema(plan.tool.name, ENDLESS_REFERENCES)
  throw error
}

function refuse(plan: Plan, problems: readonly string[]): Failure {
  return invalidArguments(problems, plan.tool, plan.schema)
}

/** What a schema library objects to: https://standardschema.dev */
interface Issue {
  readonly message: string
  /** Consists of keys, or of objects with one. */
  readonly path?: readonly unknown[] | undefined
}

/** Asks the schema library, which knows more than its JSON Schema can express, and may overrule it. */
function parse(args: Arguments, context: CallContext, plan: Plan, problems?: string[]): Promise<Unfit> {
  const work = () => plan.parse?.(args)
  return context.runInTime(work, (_, failure, parsed) => {
    if (failure) return failure
    const { issues, value } = parsed as { issues?: readonly Issue[]; value?: unknown }
    if (!issues) context.args = value
    return issues && refuse(plan, problems ?? issues.slice(0, MAX_ISSUES).map(phraseFor))
  })
}

/** `'a.b[0]': too short` */
function phraseFor({ path = [], message }: Issue): string {
  const keys = path.map(part => String(isObjectLike(part) ? (part as { key?: unknown }).key : part))
  const said = message || 'not accepted by the schema'
  return keys.length === 0 ? said : `'${keys.reduce(joinPlace, '')}': ${said}`
}

/** For MCP tools only: gives arguments the names that the tool's server expects, and logs the change. */
function withNames(args: Arguments, { mcp, services }: CallContext, plan: Plan): Arguments {
  const fitted = mcp && fitArgumentNames(args, plan.top, plan.schema, mcp)
  if (!fitted) return args
  const shown = (values: Arguments) => safeValue(values) as Arguments
  const tool = plan.tool.name
  services.logger.info({ tool }, `Argument names: ${describeRenaming(shown(args), shown(fitted.args))}`)
  for (const argument of fitted.lost)
    services.logger.warn({ tool, argument }, 'Argument dropped: another one already has that name')
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

/** The arguments as an object: read from text, and `{"arguments": {…}}` unwrapped. */
function opened(context: CallContext, { tool, top }: Plan): unknown {
  const whole = context.given ?? {}
  const read = typeof whole === 'string' ? argumentsFromText(whole) : undefined
  if (read) context.addRepairs(['arguments: text → object'])
  const given = read ?? whole
  if (!isRecord(given)) return given
  const [outer = '', ...others] = Object.keys(given).filter(
    key => !(key === 'name' && given.name === tool.name),
  )
  const value = given[outer]
  const inner = typeof value === 'string' ? parseJsonText(value) : value
  if (others.length > 0 || !WRAPPER.test(foldedName(outer)) || !isRecord(inner)) return given
  // Only if the schema knows all names inside and not the one outside.
  const { byFold, isNameMap } = namingOf(top)
  const isKnown = (name: string) => byFold.has(foldedName(name))
  const names = Object.keys(inner)
  if (isNameMap || Object.keys(given).some(isKnown) || names.length === 0 || !names.every(isKnown))
    return given
  context.addRepairs(['arguments: wrapper removed'])
  return inner
}
