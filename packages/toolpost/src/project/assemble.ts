import { isDeepStrictEqual } from 'node:util'
import type { ToolpostConfig } from '../config/config.ts'
import { ConfigSource } from '../config/config-source.ts'
import { ToolExecutor } from '../executor/executor.ts'
import { DEFAULT_MAX_TEXT_BYTES } from '../executor/options.ts'
import { longResults } from '../interceptors/long-results.ts'
import { secretsIn } from '../logging/config-secrets.ts'
import type { Logger } from '../logging/logger.ts'
import { removeFromLogs, treatAsSecret } from '../logging/redact.ts'
import { checkedTool, ToolDefinitionError } from '../tools/check-tool.ts'
import { declareTools } from '../tools/declared-tools.ts'
import { localInternals, localTools } from '../tools/local-tools.ts'
import { BigResults } from '../tools/results/big-results.ts'
import type { Tool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { differs } from './changes.ts'
import type { Description } from './open-project.ts'
import type { Part } from './part.ts'

/** Registers the values in a configuration that must never be logged. */
export function noteSecrets(config: ToolpostConfig): void {
  treatAsSecret(config.log?.secrets ?? [])
  removeFromLogs(secretsIn(config))
}

/** The local and declared tools in `manager`; unchanged ones survive a reload. */
export function ownTools(manager: ToolManager): Part {
  return {
    check: after => void toolsOf(after),
    apply(after, before) {
      const isChanged = differs(before.config, after.config, ['tools', 'documents', 'search'])
      if (isChanged) replaceTools(manager, after, before)
    },
  }
}

function replaceTools(manager: ToolManager, after: Description, before: Description): void {
  const tools = toolsOf(after)
  const declared = ({ config }: Description) => new Map((config.tools ?? []).map(each => [each.name, each]))
  const [old, now] = [declared(before), declared(after)]
  const isMoved = differs(before.config, after.config, ['documents', 'search'])
  const isSame = (name: string) => !isMoved && isDeepStrictEqual(old.get(name), now.get(name))
  const kept = new Set(tools.map(({ name }) => name))
  const names = toolsOf(before).map(({ name }) => name)
  manager.removeAll(names.filter(name => !kept.has(name)))
  for (const tool of tools) if (!isSame(tool.name)) manager.addCustomTool(tool)
}

/** The tools of a configuration and their executor. Starts nothing. */
export function assemble(
  description: Description,
  logger: Logger,
): { tools: ToolManager; executor: ToolExecutor; bigResults: BigResults | undefined } {
  const { config } = description
  const tools = new ToolManager({ logger })
  for (const tool of toolsOf(description)) tools.addCustomTool(tool)
  const { maxTextBytes = DEFAULT_MAX_TEXT_BYTES } = config.executor ?? {}
  const bigResults = config.bigResults === 'cut' ? undefined : new BigResults({ maxTextBytes })
  const executor = new ToolExecutor(tools, { ...config.executor, logger })
  // Outermost, so that it sees what the caller gets.
  if (bigResults) executor.use(longResults(bigResults))
  return { tools, executor, bigResults }
}

/** The local and declared tools. Throws a ConfigError on an unusable declaration. */
function toolsOf({ config, file = '', source = new ConfigSource(file, '{}') }: Description): Tool[] {
  const options = { documents: config.documents, searxng: config.search?.searxng }
  const internals = localInternals(options)
  const declared = (config.tools ?? []).flatMap((declaration, index) => {
    try {
      return declareTools([declaration], { internals }).map(tool => checkedTool(tool))
    } catch (cause) {
      if (!(cause instanceof ToolDefinitionError)) throw cause
      throw source.error(['tools', index], cause.message, { cause })
    }
  })
  return [...localTools(options, internals), ...declared]
}
