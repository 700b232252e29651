import { escapeControls } from '../logging/safe-value.ts'
import { propertiesOf, requiredOf } from '../schema/json-schema.ts'
import { isRecord } from '../util/guards.ts'
import type { SourceContext } from './context.ts'
import { EXIT } from './exit-codes.ts'
import type { ShownTool } from './source.ts'
import { unlessStopped } from './stop-signals.ts'
import { printJson, say, styled, type Terminal, tableLines } from './terminal.ts'

export interface ToolsFlags {
  json?: boolean
  search?: string
}

/** `toolpost tools [NAME]`: lists the tools, those of a server, or one tool with an example. */
export async function listTools(
  { source, stop, terminal }: SourceContext,
  name: string | undefined,
  { json = false, search }: ToolsFlags,
): Promise<number> {
  const wanted = { name, search, isComplete: json }
  const { tools, nearest = [], starting } = await unlessStopped(source.tools(wanted), stop.signal)
  if (name === undefined)
    for (const server of starting)
      say(terminal, `Server '${server}' is still starting; to wait for it: toolpost tools ${server}`)
  const ofServer = tools.filter(tool => tool.source === name)
  const named = ofServer.length > 0 ? ofServer : tools.filter(tool => tool.name === name)
  const shown = name === undefined ? tools : named
  const [only] = shown
  if (!only && (search ?? name) !== undefined) {
    const closest = nearest.length > 0 ? `; closest: ${nearest.join(', ')}` : ''
    const isSearch = search !== undefined
    say(terminal, isSearch ? `No tool matches '${search}'${closest}` : `No server or tool named '${name}'`)
    return EXIT.failed
  }
  if (json) return printJson(terminal, shown)
  if (only && name === only.name) terminal.out.write(page(only, terminal))
  else if (terminal.out.isTTY) printGroups(shown, terminal)
  else terminal.out.write(shown.map(paragraph).join(''))
  return EXIT.ok
}

/** For a terminal: one line per tool, by server. */
function printGroups(tools: readonly ShownTool[], { out }: Terminal): void {
  for (const source of new Set(tools.map(tool => tool.source))) {
    const own = tools.filter(tool => tool.source === source)
    const mark = (tool: ShownTool) => (tool.destructive ? 'destructive' : tool.readOnly ? 'read-only' : '')
    const lines = tableLines(
      own.map(tool => [`  ${tool.name}`, mark(tool), tool.description.replace(/\s+/g, ' ').trim()]),
      out,
    )
    out.write(`${styled(out, 'cyan', escapeControls(`${source} (${own.length})`))}\n${lines.join('\n')}\n\n`)
  }
  out.write(
    `${styled(out, 'dim', 'toolpost tools NAME shows one with its signature and an example call.')}\n`,
  )
}

/** Control characters in what a server sends are shown, not interpreted. */
function paragraph({ source, signature, description }: ShownTool): string {
  const from = source === 'local' ? '' : ` (from ${escapeControls(source)})`
  return `${escapeControls(signature)}${from}\n    ${escapeControls(description.replace(/\s+/g, ' ').trim())}\n`
}

/** One tool in full, with an example call to copy. */
function page(tool: ShownTool, { out }: Terminal): string {
  const { source, readOnly, idempotent, destructive } = tool
  const marks = [readOnly && 'read-only', idempotent && 'idempotent', destructive && 'destructive']
  const facts = [source === 'local' ? 'local' : `from ${source}`, ...marks.filter(Boolean)]
  const known = propertiesOf(tool.parameters)
  const words = requiredOf(tool.parameters).map(name => `${name}=${exampleOf(known[name])}`)
  const quoted = [tool.name, ...words].map(word =>
    /^[\w./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`,
  )
  return [
    `${styled(out, 'bold', escapeControls(tool.signature))} (${escapeControls(facts.join(', '))})`,
    ...tool.description.trim().split('\n').map(escapeControls),
    '',
    `toolpost call ${quoted.join(' ')}\n`,
  ].join('\n')
}

const EXAMPLES: Record<string, string> = {
  number: '1',
  integer: '1',
  boolean: 'true',
  array: '[]',
  object: '{}',
}

/** The schema's own example, or a value of its type. */
function exampleOf(schema: unknown): string {
  if (!isRecord(schema)) return 'text'
  const first = (list: unknown) => (Array.isArray(list) ? list[0] : undefined)
  const given =
    first(schema.examples) ?? schema.default ?? schema.const ?? first(schema.enum) ?? schema.minimum
  if (given === undefined) return EXAMPLES[String([schema.type].flat()[0])] ?? 'text'
  return typeof given === 'string' ? given : JSON.stringify(given)
}
