import type { ToolpostConfig } from '../config/config.ts'
import { ToolExecutor } from '../executor/tool-executor.ts'
import type { Logger } from '../logging/logger.ts'
import { declareTools } from '../tools/declared-tools.ts'
import { type LocalToolsOptions, localInternals, localTools } from '../tools/local-tools.ts'
import { ToolManager } from '../tools/tool-manager.ts'

export interface Assembled {
  tools: ToolManager
  executor: ToolExecutor
}

/** The tools and the executor that a configuration describes. Starts nothing. */
export function assemble(config: ToolpostConfig, logger: Logger): Assembled {
  const tools = new ToolManager({ logger })
  const options: LocalToolsOptions = { documents: config.documents, searxng: config.search?.searxng }
  const internals = localInternals(options)
  for (const tool of localTools(options, internals)) tools.addCustomTool(tool)
  for (const tool of declareTools(config.tools ?? [], { internals })) tools.addCustomTool(tool)
  return { tools, executor: new ToolExecutor(tools, { ...config.executor, logger }) }
}
