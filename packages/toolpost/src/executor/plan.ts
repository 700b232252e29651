import type { ValidateFunction } from 'ajv'
import type { Logger } from '../logging/logger.ts'
import { safeText } from '../logging/safe-value.ts'
import { isObjectLike } from '../runtime/guards.ts'
import { describeThrown } from '../runtime/quietly.ts'
import { shortText } from '../runtime/short-text.ts'
import { compileSchema } from '../schema/compile-schema.ts'
import {
  isLangChainTool,
  isStandardSchema,
  type JsonSchema,
  jsonSchemaOf,
  propertiesOf,
  resolveRef,
} from '../schema/json-schema.ts'
import { costPerPart, isExpensiveToCompile } from '../schema/validation-cost.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { type Failure, invalidSchema } from './failure.ts'
import type { Naming } from './fit-arguments.ts'
import type { Metrics, ToolFigures } from './metrics.ts'

/** What the executor worked out about a tool on its first call. */
export interface Plan {
  readonly tool: Tool
  readonly schema: JsonSchema
  /** `undefined` if the schema takes too long to compile: then arguments are validated in another process. */
  readonly validate: ValidateFunction | undefined
  /** The most that validating one part of the arguments can cost. */
  readonly costPerPart: number
  /** The schema library's own check, whose output the tool receives: refinements, defaults, transforms. */
  readonly parse: ((args: object) => unknown) | undefined
  /** How to give the arguments the server's names: MCP tools only. */
  readonly naming: Naming | undefined
  /** LangChain copies its options, so its tools need a real signal. */
  readonly isLangChain: boolean
  /** For a LangChain tool whose only argument is `input`: whether it is text or anything; otherwise `undefined`. */
  readonly singleInput: 'text' | 'any' | undefined
  /** The tool returns content blocks, and a model reads their text. */
  readonly hasContentBlocks: boolean
  /** Warns once about patterns that cannot be checked. */
  warnLeftOut(patterns: readonly string[]): void
}

/** A tool's plan, or why there is none, with its counters. */
export interface Prepared {
  readonly plan: Plan | Failure
  readonly figures: ToolFigures
}

/** The prepared tools: each is read once, on its first call. */
export class PreparedTools extends WeakMap<Tool, Prepared> {
  readonly tools: ToolManager
  readonly #metrics: Metrics
  readonly #logger: Logger
  readonly #preparing = new WeakMap<Tool, Promise<Prepared>>()

  constructor(tools: ToolManager, metrics: Metrics, logger: Logger) {
    super()
    this.tools = tools
    this.#metrics = metrics
    this.#logger = logger
  }

  /** Calls that arrive while a tool is being read wait for the same result. */
  prepare(tool: Tool): Promise<Prepared> {
    const preparing = this.#preparing.get(tool) ?? this.#read(tool)
    this.#preparing.set(tool, preparing)
    return preparing
  }

  async #read(tool: Tool): Promise<Prepared> {
    const plan = await planFor(tool, this.tools, this.#logger)
    const prepared = { plan, figures: this.#metrics.of(tool.name) }
    this.set(tool, prepared)
    return prepared
  }
}

/** Reads a tool and compiles its schema; `invalid_schema` if that fails. */
async function planFor(tool: Tool, tools: ToolManager, logger: Logger): Promise<Plan | Failure> {
  try {
    const schema = jsonSchemaOf(tool)
    const origin = tools.originOf(tool)
    const isLangChain = isLangChainTool(tool)
    const warnLeftOut = leftOutWarning(tool, logger)
    const cost = costPerPart(schema)
    const compiled = isExpensiveToCompile(schema) ? undefined : await compileSchema(schema)
    if (compiled) warnLeftOut(compiled.leftOut)
    return {
      tool,
      schema,
      validate: compiled?.validate,
      costPerPart: cost,
      // LangChain's tools parse their arguments themselves.
      parse: isLangChain ? undefined : parserOf(tool),
      naming: origin && { tool, schema, origin, logger },
      isLangChain,
      singleInput: isLangChain ? singleInputOf(schema) : undefined,
      hasContentBlocks: origin !== undefined || tool.responseFormat === 'content_and_artifact',
      warnLeftOut,
    }
  } catch (error) {
    return unusableSchema(tool, describeThrown(error))
  }
}

/** Shortened, because the reason may quote the schema. */
export function unusableSchema({ name }: Tool, reason: string): Failure {
  return invalidSchema(name, shortText(reason, MAX_REASON_CHARS))
}

/** Warns once about patterns that cannot be checked. */
function leftOutWarning(tool: Tool, logger: Logger): Plan['warnLeftOut'] {
  let isDone = false
  return patterns => {
    if (isDone) return
    isDone = true
    for (const pattern of patterns.slice(0, MAX_WARNED)) {
      logger.warn(
        { tool: tool.name, pattern: safeText(pattern) },
        'Pattern left to the tool: it cannot be checked in linear time',
      )
    }
  }
}

const MAX_WARNED = 10
const MAX_REASON_CHARS = 500

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

interface ZodOutcome {
  success: boolean
  data?: unknown
  error?: { issues: readonly { message: string }[] }
}

function singleInputOf(schema: JsonSchema): Plan['singleInput'] {
  const properties = propertiesOf(schema)
  const names = Object.keys(properties)
  if (names.length !== 1 || names[0] !== 'input') return undefined
  const input = resolveRef(properties.input, schema)
  return isObjectLike(input) && (input as JsonSchema).type === 'string' ? 'text' : 'any'
}
