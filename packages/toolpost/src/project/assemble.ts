import { ConfigError, type ToolpostConfig } from '../config/config.ts'
import { ToolExecutor } from '../executor/tool-executor.ts'
import { secretsIn } from '../logging/config-secrets.ts'
import type { Logger } from '../logging/logger.ts'
import { removeFromLogs, treatAsSecret } from '../logging/safe-value.ts'
import { checkedTool, ToolDefinitionError } from '../tools/check-tool.ts'
import { declareTools } from '../tools/declared-tools.ts'
import { type LocalToolsOptions, localInternals, localTools } from '../tools/local-tools.ts'
import type { Tool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'

/** The tools of a configuration and their executor. Starts nothing. */
export function assemble(
  ownTools: readonly Tool[],
  config: ToolpostConfig,
  logger: Logger,
): { tools: ToolManager; executor: ToolExecutor } {
  treatAsSecret(config.log?.secrets ?? [])
  removeFromLogs(secretsIn(config))
  const tools = new ToolManager({ logger })
  for (const tool of ownTools) tools.addCustomTool(tool)
  return { tools, executor: new ToolExecutor(tools, { ...config.executor, logger }) }
}

/** The local and the declared tools. Throws a ConfigError on a declaration that cannot be used. */
export function toolsOf(config: ToolpostConfig, file: string | undefined): Tool[] {
  const options: LocalToolsOptions = { documents: config.documents, searxng: config.search?.searxng }
  const internals = localInternals(options)
  try {
    return [...localTools(options, internals), ...declareTools(config.tools ?? [], { internals })].map(tool =>
      checkedTool(tool),
    )
  } catch (error) {
    if (!(error instanceof ToolDefinitionError)) throw error
    throw new ConfigError(file ?? 'configuration', 'tools', error.message, { cause: error })
  }
}
