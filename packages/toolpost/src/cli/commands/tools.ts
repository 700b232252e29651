import { escapeControls } from '../../logging/safe-value.ts'
import { jsonSchemaOf } from '../../schema/json-schema.ts'
import { signatureOf } from '../../schema/signature.ts'
import type { Tool } from '../../tools/tool.ts'
import type { ToolManager } from '../../tools/tool-manager.ts'
import type { CommandContext } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import { unlessStopped } from '../stop-signals.ts'
import { bold, printResult, type Terminal } from '../terminal.ts'

/** What the list needs of its context. */
interface ToolsContext {
  project: Pick<CommandContext['project'], 'tools' | 'ready'>
  stop: Pick<CommandContext['stop'], 'signal'>
  terminal: Terminal
}

/** `toolpost tools`: what there is, with signatures a person can read, or as JSON. */
export async function listTools(
  { project, stop, terminal }: ToolsContext,
  { json = false, search }: { json?: boolean; search?: string },
): Promise<number> {
  await unlessStopped(project.ready(), stop.signal)
  const { tools } = project
  const all = search === undefined ? tools.getTools() : await found(tools, search)
  if (all.length === 0 && search !== undefined) {
    terminal.err.write(`No tool fits '${escapeControls(search)}'\n`)
    return EXIT.failed
  }
  const described = () => all.map(tool => describe(tool, tools))
  if (json) printResult(terminal, JSON.stringify(described(), null, 2))
  else terminal.out.write(all.map(tool => paragraph(tool, tools, terminal)).join(''))
  return EXIT.ok
}

async function found(tools: ToolManager, query: string): Promise<readonly Tool[]> {
  const { searchOf } = await import('../../tools/search/tool-search.ts')
  return searchOf(tools).search(query)
}

function describe(tool: Tool, tools: ToolManager): object {
  const { name, description = '', readOnly, idempotent, destructive } = tool
  const source = tools.originOf(tool)?.server ?? 'local'
  return {
    name,
    description,
    source,
    signature: signatureOf(tool),
    parameters: jsonSchemaOf(tool),
    readOnly,
    idempotent,
    destructive,
  }
}

/** What a server says of itself is shown and not obeyed. */
function paragraph(tool: Tool, tools: ToolManager, terminal: Terminal): string {
  const server = tools.originOf(tool)?.server
  const description = escapeControls((tool.description ?? '').replace(/\s+/g, ' ').trim())
  const source = server ? ` (from ${escapeControls(server)})` : ''
  return `${bold(terminal, escapeControls(signatureOf(tool)))}${source}\n    ${description}\n`
}
