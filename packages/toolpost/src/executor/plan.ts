import type { ValidateFunction } from 'ajv'
import type { Logger } from '../logging/logger.ts'
import { safeText } from '../logging/safe-value.ts'
import { isObjectLike } from '../runtime/guards.ts'
import { compileSchema } from '../schema/compile-schema.ts'
import {
  isLangChainTool,
  isStandardSchema,
  type JsonSchema,
  jsonSchemaOf,
  propertiesOf,
  resolveRef,
} from '../schema/json-schema.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { type Failure, invalidSchema } from './failure.ts'

/** What the executor worked out about a tool at its first call. */
export interface Plan {
  readonly tool: Tool
  readonly schema: JsonSchema
  readonly validate: ValidateFunction
  /** What the tool's own schema library finds beyond the JSON Schema; asked last, and only for what it refuses. */
  readonly refine: ((args: object) => string[]) | undefined
  readonly isMcp: boolean
  /** LangChain copies its options, so its tools need a real signal. */
  readonly isLangChain: boolean
  /** A LangChain tool with the one argument `input`: as text, as anything, or not such a tool. */
  readonly singleInput: 'text' | 'any' | undefined
  /** The tool answers with content blocks, and a model reads their text. */
  readonly hasContentBlocks: boolean
}

/** Reads and compiles what a tool says about itself; `invalid_schema` where that cannot be done. */
export async function planFor(tool: Tool, tools: ToolManager, logger: Logger): Promise<Plan | Failure> {
  try {
    const schema = jsonSchemaOf(tool)
    const { validate, leftOut } = await compileSchema(schema)
    for (const pattern of leftOut) {
      logger.warn(
        { tool: tool.name, pattern: safeText(pattern) },
        'Pattern left to the tool: it cannot be checked in linear time',
      )
    }
    const isMcp = tools.originOf(tool) !== undefined
    const isLangChain = isLangChainTool(tool)
    return {
      tool,
      schema,
      validate,
      refine: isLangChain ? undefined : refinementOf(tool),
      isMcp,
      isLangChain,
      singleInput: isLangChain ? singleInputOf(schema) : undefined,
      hasContentBlocks: isMcp || tool.responseFormat === 'content_and_artifact',
    }
  } catch (error) {
    return invalidSchema(tool.name, error instanceof Error ? error.message : String(error))
  }
}

/** Refinements of zod or valibot. The tool still receives the arguments as they were given, not what they become. */
function refinementOf({ schema }: Tool): Plan['refine'] {
  const validate = isStandardSchema(schema) ? schema['~standard'].validate : undefined
  if (!validate) return undefined
  return args => {
    const { issues = [] } = validate(args) as { issues?: readonly Issue[] }
    return issues.map(({ path = [], message }) => {
      const place = path.map(part => (isObjectLike(part) ? (part as { key?: unknown }).key : part)).join('.')
      return place === '' ? message : `'${place}': ${message}`
    })
  }
}

interface Issue {
  message: string
  path?: readonly unknown[]
}

function singleInputOf(schema: JsonSchema): Plan['singleInput'] {
  const properties = propertiesOf(schema)
  const names = Object.keys(properties)
  if (names.length !== 1 || names[0] !== 'input') return undefined
  const input = resolveRef(properties.input, schema)
  return isObjectLike(input) && (input as JsonSchema).type === 'string' ? 'text' : 'any'
}
