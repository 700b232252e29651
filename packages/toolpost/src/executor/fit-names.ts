import { ZWAVE_PARAMETER_NAMES } from '../known-servers/zwave.ts'
import type { Logger } from '../logging/logger.ts'
import { safeValue } from '../logging/safe-value.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { describeRenaming, type FittedNames, fitArgumentNames } from '../tools/argument-names.ts'
import type { McpOrigin } from '../tools/name-conflicts.ts'
import type { Tool } from '../tools/tool.ts'
import type { Arguments } from './check-arguments.ts'

/** What the names of an MCP tool's arguments depend on. */
export interface Naming {
  tool: Tool
  schema: JsonSchema
  origin: McpOrigin
  logger: Logger
}

/** For MCP tools only: names the arguments as the tool's server takes them, and logs the change. */
export function fitNames(args: Arguments, { tool, schema, origin, logger }: Naming): Arguments {
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
