import type { Logger } from '../logging/logger.ts'
import { safeText } from '../logging/safe-value.ts'
import { type CompiledSchema, compileSchema, ENDLESS_REFERENCES } from '../schema/compile.ts'
import { foldedName, joinPlace } from '../schema/explain.ts'
import {
  isLangChainTool,
  isStandardSchema,
  type JsonSchema,
  jsonSchemaOf,
  propertiesOf,
  resolveRef,
  withBranches,
} from '../schema/json-schema.ts'
import { TimeLimitError } from '../schema/limits.ts'
import type { Tool } from '../tools/tool.ts'
import { isObjectLike, isRecord } from '../util/guards.ts'
import { describeThrown } from '../util/quietly.ts'
import type { CallContext } from './context.ts'
import { type Failure, invalidArguments, invalidSchema } from './failure.ts'
import { parseJsonText } from './json-text.ts'
import { namingOf, withServerNames } from './names.ts'
import type { Arguments } from './repair.ts'
import { argumentsFromText, measureArguments, validateArguments } from './validate.ts'

/** Arguments that need repairs are validated repeatedly. */
const REPAIR_FACTOR = 10
const MAX_REPORTED = 10

/** What the executor works out about a tool on its first call. */
function makePlan(tool: Tool, schema: JsonSchema, compiled: CompiledSchema, logger: Logger) {
  const message = 'Pattern left to the tool: it cannot be checked in linear time'
  for (const pattern of [...compiled.leftOut].slice(0, MAX_REPORTED))
    logger.warn({ tool: tool.name, pattern: safeText(pattern) }, message)
  const isLangChain = isLangChainTool(tool)
  return {
    tool,
    schema,
    /** The schema and its branches, all of which apply to the arguments. */
    top: withBranches([schema], schema) as readonly JsonSchema[],
    compiled,
    isLangChain,
    /** The schema library's own check, whose output the tool receives. LangChain's tools parse their arguments themselves. */
    parse: isLangChain ? undefined : parserOf(tool),
    singleInput: isLangChain ? singleInputOf(schema) : undefined,
  }
}

export type Plan = ReturnType<typeof makePlan>

/** What a schema library objects to: https://standardschema.dev. The path consists of keys, or of objects with one. */
type Issue = { message: string; path?: readonly unknown[] | undefined }
type ZodOutcome = { data?: unknown; error?: { issues: readonly Issue[] } }

/** How a tool's schema library checks arguments. */
function parserOf({ schema }: Tool): ((args: object) => unknown) | undefined {
  const standard = isStandardSchema(schema) ? schema['~standard'] : undefined
  if (!standard?.validate) return undefined
  const { safeParseAsync } = schema as { safeParseAsync?: (args: object) => Promise<ZodOutcome> }
  // zod's own `validate` first tries synchronously and leaves behind an asynchronous refinement that nobody awaits:
  // if it rejects, it would crash the process.
  if (typeof safeParseAsync !== 'function') return args => standard.validate?.(args)
  return async args => {
    const { data, error } = await safeParseAsync.call(schema, args)
    return error ? error : { value: data }
  }
}

/** For LangChain tools whose only argument is `input`, which models name as they like: its only text, or all arguments. */
function singleInputOf(schema: JsonSchema): ((args: Arguments) => Arguments) | undefined {
  const properties = propertiesOf(schema)
  if (Object.keys(properties).join() !== 'input') return undefined
  const input = resolveRef(properties.input, schema)
  const isText = isRecord(input) && input.type === 'string'
  return args => {
    if (Object.hasOwn(args, 'input') || Object.keys(args).length === 0) return args
    const texts = Object.values(args).filter(value => typeof value === 'string')
    return { input: !isText ? args : texts.length === 1 ? texts[0] : JSON.stringify(args) }
  }
}

type Unfit = Failure | undefined

const plans = new WeakMap<Tool, Plan>()

/** Fit: names, repairs and validates the arguments; otherwise says why they do not fit. Usually synchronous. */
export function fit(context: CallContext): Unfit | Promise<Unfit> {
  const plan = plans.get(context.tool as Tool)
  return plan ? fitTo(context, plan) : planAndFit(context, context.tool as Tool)
}

/** Not planned for ever if that fails: another time the machine may be less busy. */
async function planAndFit(context: CallContext, tool: Tool): Promise<Unfit> {
  try {
    const schema = jsonSchemaOf(tool)
    const compiled = await compileSchema(schema)
    // Another call may have waited for it too.
    if (!plans.has(tool)) plans.set(tool, makePlan(tool, schema, compiled, context.services.logger))
  } catch (error) {
    return invalidSchema(tool.name, describeThrown(error))
  }
  return fit(context)
}

function fitTo(context: CallContext, plan: Plan): Unfit | Promise<Unfit> {
  context.plan = plan
  const { compiled, tool } = plan
  const repair = context.options.repair === true
  const given = repair ? opened(context, plan) : (context.given ?? {})
  const values = measureArguments(given)
  if (typeof values === 'string') return invalidArguments([values], tool)
  const work = () => {
    const named = context.mcp ? withServerNames(given as Arguments, context, plan) : (given as Arguments)
    return validateArguments(plan, plan.singleInput ? plan.singleInput(named) : named, repair)
  }
  if (compiled.isQuick(repair ? values * REPAIR_FACTOR : values)) return take(work(), context, plan)
  return compiled.runLimited(work).then(
    made => take(made, context, plan),
    error => stopped(error, plan),
  )
}

type Validated = ReturnType<typeof validateArguments>

function take({ args, repairs, problems }: Validated, context: CallContext, plan: Plan) {
  if (repairs && repairs.length > 0) context.repairs = [...(context.repairs ?? []), ...repairs]
  if (plan.parse) return parse(args, context, plan, problems)
  if (problems) return invalidArguments(problems, plan.tool)
  context.toolArgs = args
  return undefined
}

function stopped(error: unknown, plan: Plan): Failure {
  if (error instanceof TimeLimitError)
    return invalidArguments([`arguments take ${error.message} to validate`], plan.tool)
  if (error instanceof RangeError) return invalidSchema(plan.tool.name, ENDLESS_REFERENCES)
  throw error
}

/** Asks the schema library, which knows more than its JSON Schema can express, and may overrule it. */
function parse(args: Arguments, context: CallContext, plan: Plan, problems?: string[]): Promise<Unfit> {
  const work = () => plan.parse?.(args)
  return context.runInTime(work, (_, failure, parsed) => {
    if (failure) return failure
    const { issues, value } = parsed as { issues?: readonly Issue[]; value?: unknown }
    if (issues) return invalidArguments(problems ?? issues.slice(0, MAX_REPORTED).map(phraseFor), plan.tool)
    context.toolArgs = value
    return undefined
  })
}

/** `'a.b[0]': too short` */
function phraseFor({ path = [], message }: Issue): string {
  const keys = path.map(part => String(isObjectLike(part) ? (part as { key?: unknown }).key : part))
  const said = message || 'not accepted by the schema'
  return keys.length === 0 ? said : `'${keys.reduce(joinPlace, '')}': ${said}`
}

/** Names that models wrap around the arguments, folded. */
const WRAPPER = /^(?:tool|function)?(?:arguments?|args?|kwargs|parameters?|params?|inputs?)$/

/** The arguments as an object: read from text, and `{"arguments": {…}}` unwrapped. */
function opened(context: CallContext, { tool, top }: Plan): unknown {
  const whole = context.given ?? {}
  const read = typeof whole === 'string' ? argumentsFromText(whole) : undefined
  if (read) context.repairs = ['arguments: text → object']
  const given = read ?? whole
  if (!isRecord(given)) return given
  const [outer = '', ...others] = Object.keys(given).filter(key => key !== 'name' || given.name !== tool.name)
  const value = given[outer]
  const inner = typeof value === 'string' ? parseJsonText(value) : value
  if (others.length > 0 || !WRAPPER.test(foldedName(outer)) || !isRecord(inner)) return given
  // Only if the schema knows all names inside and not the one outside.
  const { byFold, isNameMap } = namingOf(top)
  const isKnown = (name: string) => byFold.has(foldedName(name))
  const names = Object.keys(inner)
  if (isNameMap || Object.keys(given).some(isKnown) || names.length === 0 || !names.every(isKnown))
    return given
  context.repairs = [...(context.repairs ?? []), 'arguments: wrapper removed']
  return inner
}
