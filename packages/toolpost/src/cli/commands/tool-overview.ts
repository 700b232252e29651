import { escapeControls } from '../../logging/safe-value.ts'
import { grouped } from '../../runtime/grouped.ts'
import type { Tool } from '../../tools/tool.ts'
import type { ToolManager } from '../../tools/tool-manager.ts'
import type { CommandContext } from '../context.ts'
import { DEFAULT_COLUMNS, tableLines } from '../table.ts'
import { styled, type Terminal } from '../terminal.ts'

const HINT = 'toolpost tools NAME shows one with its signature and an example call.'

/** For a terminal: by server, one line per tool, no longer than the terminal is wide. */
export function overview(all: readonly Tool[], tools: ToolManager, terminal: Terminal): string {
  const bySource = [...grouped(all, tool => sourceOf(tool, tools))]
  const groups = bySource.map(([source, own]) => group(source, own, terminal))
  return [...groups, hint(terminal)].join('\n')
}

type Shown = Pick<CommandContext['project'], 'tools' | 'status' | 'on'>

/** Shows local tools immediately, and each server's as soon as it is ready. Ends with `whenReady`. */
export async function showAsTheyCome(
  project: Shown,
  terminal: Terminal,
  whenReady: Promise<unknown>,
): Promise<void> {
  const { tools } = project
  const shown = new Set<string>()
  const show = (source: string) => {
    const own = tools.getTools().filter(tool => sourceOf(tool, tools) === source)
    if (own.length === 0 || shown.has(source)) return
    shown.add(source)
    terminal.out.write(`${group(source, own, terminal)}\n`)
  }
  const showReady = () => {
    for (const { name, state } of project.status().servers) if (state === 'ready') show(name)
  }
  show('local')
  const stop = project.on('server', showReady)
  await whenReady.finally(stop)
  showReady()
  terminal.out.write(hint(terminal))
}

function group(source: string, own: readonly Tool[], { out }: Terminal): string {
  const columns = (out.columns || DEFAULT_COLUMNS) - 2
  const rows = own.map(tool => [escapeControls(tool.name), marksOf(tool), summaryOf(tool)])
  const style = (text: string, column: number) =>
    column === 0 ? styled(out, 'bold', text) : column === 1 ? styled(out, 'yellow', text) : text
  const head = styled(out, 'cyan', escapeControls(`${source} (${own.length})`))
  return [head, ...tableLines(rows, { columns, style }).map(line => `  ${line}`), ''].join('\n')
}

function hint({ out }: Terminal): string {
  return `${styled(out, 'dim', HINT)}\n`
}

/** `local`, or the name of the tool's server. */
export function sourceOf(tool: Tool, tools: ToolManager): string {
  return tools.originOf(tool)?.server ?? 'local'
}

function marksOf({ readOnly, destructive }: Tool): string {
  if (destructive) return 'destructive'
  return readOnly ? 'read-only' : ''
}

export function summaryOf({ description = '' }: Tool): string {
  return escapeControls(description.replace(/\s+/g, ' ').trim())
}
