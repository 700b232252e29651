import type { Logger } from '../logging/logger.ts'
import { safeText } from '../logging/safe-value.ts'
import { type CompiledSchema, compileSchema } from '../schema/compile.ts'
import {
  isLangChainTool,
  isStandardSchema,
  type JsonSchema,
  jsonSchemaOf,
  propertiesOf,
  resolveRef,
} from '../schema/json-schema.ts'
import { TimeLimitError } from '../schema/limits.ts'
import type { Tool } from '../tools/tool.ts'
import { isRecord } from '../util/guards.ts'
import { describeThrown } from '../util/quietly.ts'
import type { CallContext } from './context.ts'
import { Failure, invalidSchema } from './failure.ts'

const MAX_WARNED = 10

/** What the executor worked out about a tool on its first call. */
export interface Plan {
  readonly tool: Tool
  readonly schema: JsonSchema
  readonly compiled: CompiledSchema
  /** The schema library's own check, whose output the tool receives: refinements, defaults, transforms. */
  readonly parse: ((args: object) => unknown) | undefined
  /** For a LangChain tool whose only argument is `input`: whether it is text or anything; otherwise `undefined`. */
  readonly singleInput: 'text' | 'any' | undefined
  invoke(this: void, context: CallContext): unknown
}

const plans = new WeakMap<Tool, Plan | Failure | Promise<Plan | Failure>>()

/** The plan of a tool, which is read on its first call. A promise meanwhile, which other calls wait for too. */
export function planOf(tool: Tool, logger: Logger): Plan | Failure | Promise<Plan | Failure> {
  const known = plans.get(tool)
  if (known) return known
  const making = makePlan(tool, logger)
  plans.set(tool, making)
  return making
}

async function makePlan(tool: Tool, logger: Logger): Promise<Plan | Failure> {
  let isFinal = true
  const plan = await planFor(tool).catch(error => {
    isFinal = !(error.cause instanceof TimeLimitError)
    return invalidSchema(tool.name, describeThrown(error))
  })
  if (isFinal) plans.set(tool, plan)
  else plans.delete(tool)
  const unchecked = plan instanceof Failure ? [] : [...plan.compiled.leftOut].slice(0, MAX_WARNED)
  for (const pattern of unchecked)
    logger.warn(
      { tool: tool.name, pattern: safeText(pattern) },
      'Pattern left to the tool: it cannot be checked in linear time',
    )
  return plan
}

async function planFor(tool: Tool): Promise<Plan> {
  const schema = jsonSchemaOf(tool)
  const isLangChain = isLangChainTool(tool)
  return {
    tool,
    schema,
    compiled: await compileSchema(schema),
    // LangChain's tools parse their arguments themselves.
    parse: isLangChain ? undefined : parserOf(tool),
    singleInput: isLangChain ? singleInputOf(schema) : undefined,
    invoke(context) {
      const args = context.toolArguments()
      // LangChain copies its options and would lose a getter.
      const options = isLangChain ? { signal: context.signal } : context
      return tool.invoke(tool.inputEnvelope ? { input: args } : args, options)
    },
  }
}

/** Why a call that waited may no longer run: its tool is gone, or another one than it was. */
export function redefined({ name, tool, options, services }: CallContext): Failure | undefined {
  const now = options.also?.find(each => each.name === name) ?? services.tools.findTool(name)
  if (now === tool || (now && tool && definition(now) === definition(tool))) return undefined
  return new Failure('denied', `Tool '${name}' was denied: its definition changed while the call waited`)
}

function definition({ name, description, schema, readOnly, destructive, idempotent }: Tool): string {
  return JSON.stringify([name, description, schema, readOnly, destructive, idempotent])
}

interface ZodOutcome {
  success: boolean
  data?: unknown
  error?: { issues: readonly { message: string }[] }
}

/** How a tool's schema library checks arguments. */
function parserOf({ schema }: Tool): Plan['parse'] {
  const standard = isStandardSchema(schema) ? schema['~standard'] : undefined
  if (!standard?.validate) return undefined
  const { safeParseAsync } = schema as { safeParseAsync?: (args: object) => Promise<ZodOutcome> }
  // zod's own `validate` first tries synchronously and leaves behind an asynchronous refinement that nobody awaits:
  // if it rejects, it would crash the process.
  if (typeof safeParseAsync !== 'function') return args => standard.validate?.(args)
  return async args => {
    const { success, data, error } = await safeParseAsync.call(schema, args)
    return success ? { value: data } : { issues: error?.issues ?? [] }
  }
}

function singleInputOf(schema: JsonSchema): Plan['singleInput'] {
  const properties = propertiesOf(schema)
  if (Object.keys(properties).join() !== 'input') return undefined
  const input = resolveRef(properties.input, schema)
  return isRecord(input) && input.type === 'string' ? 'text' : 'any'
}
