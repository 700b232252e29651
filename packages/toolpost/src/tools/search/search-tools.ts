import { signatureOf } from '../../schema/signature.ts'
import { grouped, isRecord } from '../../util/guards.ts'
import { packageJson } from '../../util/package-root.ts'
import { shortText } from '../../util/text.ts'
import { defineTool, type Tool, type ToolDefinition } from '../tool.ts'
import type { ToolManager } from '../tool-manager.ts'
import { searchOf } from './tool-search.ts'

export interface SearchToolsOptions {
  tools: ToolManager
  /** The tools that may be found. */
  among(): readonly Tool[]
  /** Called with what was found. */
  onFound?(tools: readonly Tool[]): void
}

/** Unless the call says so. */
const FOUND = 5
const MAX_FOUND = 20
const MAX_DESCRIPTION = 300

export const FIND_TOOLS = 'find_tools'
export const CALL_TOOL = 'call_tool'

let definitions: Record<string, Omit<ToolDefinition<object>, 'handler'>> | undefined

/** One of the tools that models get besides those of the program and its servers: `data/model-tools.json`. */
export function modelTool<Args extends object>(name: string, handler: (args: Args) => Promise<string>): Tool {
  definitions ??= packageJson('data/model-tools.json')
  return defineTool<Args>({ ...(definitions?.[name] as ToolDefinition<Args>), handler })
}

/** `find_tools` and `call_tool`, which replace thousands of tools: one finds them, the other calls what was found. */
export function searchTools({ tools, among, onFound }: SearchToolsOptions): Tool[] {
  type Wanted = { query: string; steps?: string[]; limit?: number }
  const find = async ({ query, steps = [], limit = FOUND }: Wanted) => {
    const all = among()
    const search = searchOf(tools)
    const lists: Tool[][] = []
    for (const each of [query, ...steps]) lists.push(await search.search(each, { limit, among: all }))
    const found = inTurn(lists).slice(0, MAX_FOUND)
    onFound?.(found)
    if (found.length > 0)
      return `${found.length} of ${all.length} tools. Call one by its name, or with ${CALL_TOOL}:\n${linesOf(found)}`
    const nearest = await search.nearest(query, { limit, among: all })
    const rest = nearest.length > 0 ? `Closest matches:\n${linesOf(nearest)}` : available(all, tools)
    return `No tool matches "${shortText(query, 100)}". ${rest}`
  }
  // Never invoked with a name: `innerCall` replaces such a call with the one inside it.
  const call = () => Promise.reject(new Error('call_tool needs the name of a tool'))
  return [modelTool(FIND_TOOLS, find), modelTool(CALL_TOOL, call)]
}

/** The first of each list, then the second of each, without repetitions. */
function inTurn(lists: readonly Tool[][]): Tool[] {
  const longest = Math.max(...lists.map(({ length }) => length))
  const ranks = Array.from({ length: longest }, (_, rank) => lists.flatMap(list => list[rank] ?? []))
  return [...new Set(ranks.flat())]
}

/** The actual call: unwraps `call_tool`, so that everything else sees only the call of the inner tool. */
export function innerCall<Call extends { name: string; args?: unknown }>(call: Call): Call {
  const { name, arguments: args = {} } = call.name === CALL_TOOL && isRecord(call.args) ? call.args : {}
  return typeof name === 'string' && name !== '' ? innerCall({ ...call, name, args }) : call
}

function linesOf(tools: readonly Tool[]): string {
  return tools
    .map(tool => {
      const description = shortText((tool.description ?? '').replace(/\s+/g, ' ').trim(), MAX_DESCRIPTION)
      return `- ${signatureOf(tool)}${description && `: ${description}`}`
    })
    .join('\n')
}

/** The tools there are, by source. */
function available(all: readonly Tool[], tools: ToolManager): string {
  const sources = grouped(all, tool => tools.originOf(tool)?.server ?? 'local')
  const lines = [...sources].slice(0, MAX_FOUND).map(([source, own]) => {
    const names = own.map(({ name }) => name)
    return `- ${source}: ${names.slice(0, FOUND).join(', ')}${names.length > FOUND ? ' …' : ''}`
  })
  return `Available:\n${lines.join('\n')}`
}
