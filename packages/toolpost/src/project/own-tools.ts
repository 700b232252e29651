import { isDeepStrictEqual } from 'node:util'
import { checkedTool, ToolDefinitionError } from '../tools/check-tool.ts'
import { declareTools } from '../tools/declared-tools.ts'
import { localInternals, localTools } from '../tools/local-tools.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { differs } from './changes.ts'
import type { Part } from './project-options.ts'
import type { ResolvedConfig } from './resolve.ts'

/** The local and declared tools of a configuration. Throws a ConfigError on an unusable declaration. */
export function toolsOf({ config, source }: ResolvedConfig): Tool[] {
  const options = { documents: config.documents, searxng: config.search?.searxng }
  const internals = localInternals(options)
  const local = localTools(options, internals)
  const declared = (config.tools ?? []).flatMap((declaration, index) => {
    try {
      return declareTools([declaration], { internals }).map(tool => checkedTool(tool))
    } catch (cause) {
      if (!(cause instanceof ToolDefinitionError)) throw cause
      throw source.error(['tools', index], cause.message, { cause })
    }
  })
  const { local: wanted = local.map(({ name }) => name) } = config
  return [...local.filter(({ name }) => wanted !== false && wanted.includes(name)), ...declared]
}

/** The tools of the configuration in `manager`; unchanged ones survive a reload. */
export function ownTools(manager: ToolManager): Part {
  return {
    prepare(after, before) {
      const tools = toolsOf(after)
      if (!differs(before.config, after.config, ['tools', 'local', 'documents', 'search'])) return undefined
      const declaration = ({ config }: ResolvedConfig, name: string) =>
        config.tools?.findLast(each => each.name === name)
      const isMoved = differs(before.config, after.config, ['documents', 'search'])
      const old = toolsOf(before).map(({ name }) => name)
      const isSame = ({ name }: Tool) =>
        !isMoved &&
        old.includes(name) &&
        isDeepStrictEqual(declaration(before, name), declaration(after, name))
      return () => {
        manager.removeAll(old.filter(name => !tools.some(tool => tool.name === name)))
        for (const tool of tools) if (!isSame(tool)) manager.addCustomTool(tool)
      }
    },
  }
}
