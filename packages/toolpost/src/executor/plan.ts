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
  withBranches,
} from '../schema/json-schema.ts'
import type { Tool } from '../tools/tool.ts'
import { isRecord } from '../util/guards.ts'
import { describeThrown } from '../util/quietly.ts'
import type { CallContext } from './context.ts'
import { type Failure, invalidSchema } from './failure.ts'

const MAX_WARNED = 10

/** What the executor worked out about a tool on its first call. */
export interface Plan {
  readonly tool: Tool
  readonly schema: JsonSchema
  /** The schema and its branches, all of which apply to the arguments. */
  readonly top: readonly JsonSchema[]
  readonly compiled: CompiledSchema
  readonly isLangChain: boolean
  /** The schema library's own check, whose output the tool receives: refinements, defaults, transforms. */
  readonly parse: ((args: object) => unknown) | undefined
  /** For a LangChain tool whose only argument is `input`: whether it is text or anything; otherwise `undefined`. */
  readonly singleInput: 'text' | 'any' | undefined
}

const plans = new WeakMap<Tool, Plan | Failure | Promise<Plan | Failure>>()

/** The plan of a tool, which is read on its first call. A promise meanwhile, which other calls wait for too. */
export function planOf(tool: Tool, logger: Logger): Plan | Failure | Promise<Plan | Failure> {
  const known = plans.get(tool)
  if (known) return known
  const making = makePlan(tool, logger).then(
    plan => {
      plans.set(tool, plan)
      return plan
    },
    error => {
      // Not for ever: another time the machine may be less busy.
      plans.delete(tool)
      return invalidSchema(tool.name, describeThrown(error))
    },
  )
  plans.set(tool, making)
  return making
}

async function makePlan(tool: Tool, logger: Logger): Promise<Plan> {
  const schema = jsonSchemaOf(tool)
  const compiled = await compileSchema(schema)
  for (const pattern of [...compiled.leftOut].slice(0, MAX_WARNED))
    logger.warn(
      { tool: tool.name, pattern: safeText(pattern) },
      'Pattern left to the tool: it cannot be checked in linear time',
    )
  const isLangChain = isLangChainTool(tool)
  // LangChain's tools parse their arguments themselves.
  const parse = isLangChain ? undefined : parserOf(tool)
  const singleInput = isLangChain ? singleInputOf(schema) : undefined
  return { tool, schema, top: withBranches([schema], schema), compiled, isLangChain, parse, singleInput }
}

/** LangChain copies its options and would lose a getter: it gets a real signal. */
export function invokeTool(context: CallContext): unknown {
  const { tool, plan } = context
  const args = context.toolArguments()
  const options = plan?.isLangChain ? { signal: context.signal } : context
  return tool?.invoke(tool.inputEnvelope ? { input: args } : args, options)
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
