import { escapeControls } from '../../logging/safe-value.ts'
import { isRecord, ownValue } from '../../runtime/guards.ts'
import { type JsonSchema, jsonSchemaOf, propertiesOf, requiredOf } from '../../schema/json-schema.ts'
import { signatureOf } from '../../schema/signature.ts'
import type { Tool } from '../../tools/tool.ts'
import type { ToolManager } from '../../tools/tool-manager.ts'
import type { CommandContext } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import { unlessStopped } from '../stop-signals.ts'
import { printResult, styled, type Terminal } from '../terminal.ts'
import { overview, showAsTheyCome, sourceOf, summaryOf } from './tool-overview.ts'

interface ToolsContext {
  project: Pick<
    CommandContext['project'],
    'tools' | 'tried' | 'waitForTool' | 'config' | 'file' | 'status' | 'on'
  >
  stop: Pick<CommandContext['stop'], 'signal'>
  terminal: Terminal
}

/** How long the list waits for unresponsive servers. */
const PATIENCE_MS = 2_000

export interface ToolsFlags {
  /** The name of a server or of a tool. */
  name?: string | undefined
  json?: boolean
  search?: string
}

/** `toolpost tools`: lists the tools, with readable signatures or as JSON. */
export async function listTools(
  { project, stop, terminal }: ToolsContext,
  { name, json = false, search }: ToolsFlags,
): Promise<number> {
  // A program wants the complete list; a person, what is available now. The example's own server always starts.
  const limitMs = json || project.file === undefined ? undefined : PATIENCE_MS
  const whenReady = unlessStopped(whenThere(project, name, limitMs), stop.signal)
  if (terminal.out.isTTY && !json && name === undefined && search === undefined) {
    await showAsTheyCome(project, terminal, whenReady)
    tellStarting(project, terminal)
    return EXIT.ok
  }
  await whenReady
  if (name === undefined) tellStarting(project, terminal)
  const { tools } = project
  const fitting = search === undefined ? tools.getTools() : await found(tools, search)
  const all = name === undefined ? fitting : named(name, fitting, tools)
  if (all.length === 0 && (search ?? name) !== undefined) {
    const wish =
      search === undefined
        ? `No server or tool named '${name}'`
        : `No tool matches '${search}'${await nearest(tools, search)}`
    terminal.err.write(`${escapeControls(wish)}\n`)
    return EXIT.failed
  }
  const [only] = all
  if (json)
    printResult(
      terminal,
      JSON.stringify(
        all.map(tool => describe(tool, tools)),
        null,
        2,
      ),
    )
  else if (only && name === only.name) terminal.out.write(page(only, tools, terminal))
  else if (terminal.out.isTTY) terminal.out.write(overview(all, tools, terminal))
  else terminal.out.write(all.map(tool => paragraph(tool, tools)).join(''))
  return EXIT.ok
}

/** Waits only for what was asked for, so that one broken server does not hold up the rest. */
async function whenThere(
  project: ToolsContext['project'],
  name: string | undefined,
  limitMs: number | undefined,
): Promise<void> {
  if (name === 'local' || (name !== undefined && project.tools.findTool(name))) return
  const isServer = name !== undefined && Object.hasOwn(project.config.mcpServers ?? {}, name)
  if (name === undefined) await project.tried(undefined, limitMs)
  else if (isServer) await project.tried(name)
  else await project.waitForTool(name)
}

/** Names the servers missing from the list because they are still starting. */
function tellStarting(project: ToolsContext['project'], { err }: Terminal): void {
  for (const { name, state, error } of project.status().servers)
    if (state === 'starting' && error === undefined)
      err.write(
        `${escapeControls(`Server '${name}' is still starting; to wait for it: toolpost tools ${name}`)}\n`,
      )
}

/** The tools of a server, or the one tool with this name. */
function named(name: string, among: readonly Tool[], tools: ToolManager): readonly Tool[] {
  const ofServer = among.filter(tool => sourceOf(tool, tools) === name)
  return ofServer.length > 0 ? ofServer : among.filter(tool => tool === tools.findTool(name))
}

async function found(tools: ToolManager, query: string): Promise<readonly Tool[]> {
  const { searchOf } = await import('../../tools/search/tool-search.ts')
  return searchOf(tools).search(query)
}

async function nearest(tools: ToolManager, query: string): Promise<string> {
  const { searchOf } = await import('../../tools/search/tool-search.ts')
  const names = (await searchOf(tools).nearest(query, { limit: 3 })).map(({ name }) => name)
  return names.length > 0 ? `; closest: ${names.join(', ')}` : ''
}

function describe(tool: Tool, tools: ToolManager): object {
  const { name, description = '', readOnly, idempotent, destructive } = tool
  return {
    name,
    description,
    source: sourceOf(tool, tools),
    signature: signatureOf(tool),
    parameters: jsonSchemaOf(tool),
    readOnly,
    idempotent,
    destructive,
  }
}

/** One tool in full, with an example call to copy. */
function page(tool: Tool, tools: ToolManager, terminal: Terminal): string {
  const server = tools.originOf(tool)?.server
  const marks = [
    tool.readOnly && 'read-only',
    tool.idempotent && 'idempotent',
    tool.destructive && 'destructive',
  ]
  const facts = [server ? `from ${server}` : 'local', ...marks.filter(mark => typeof mark === 'string')]
  const lines = [
    `${styled(terminal.out, 'bold', escapeControls(signatureOf(tool)))} (${escapeControls(facts.join(', '))})`,
    ...(tool.description ?? '').trim().split('\n').map(escapeControls),
    '',
    `toolpost call ${shellWords(tool)}`,
  ]
  return `${lines.join('\n')}\n`
}

function shellWords(tool: Tool): string {
  const example = exampleArguments(jsonSchemaOf(tool))
  const words = Object.entries(example).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  return [tool.name, ...words]
    .map(word => (/^[\w./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(' ')
}

/** Control characters in what a server sends are shown, not interpreted. */
function paragraph(tool: Tool, tools: ToolManager): string {
  const server = tools.originOf(tool)?.server
  const source = server ? ` (from ${escapeControls(server)})` : ''
  return `${escapeControls(signatureOf(tool))}${source}\n    ${summaryOf(tool)}\n`
}

const MAX_EXAMPLE_NESTING = 4
const EXAMPLES: Record<string, unknown> = { number: 1, integer: 1, boolean: true }

/** Example arguments for a call: the required ones, with values from the schema's own examples if it has any. */
function exampleArguments(schema: JsonSchema | undefined): Record<string, unknown> {
  const example = schema && exampleOf(schema, 0)
  return isRecord(example) ? example : {}
}

function exampleOf(schema: unknown, nesting: number): unknown {
  if (!isRecord(schema) || nesting > MAX_EXAMPLE_NESTING) return 'text'
  const { examples, enum: choices, items, anyOf, oneOf, properties, minimum } = schema
  const first = (list: unknown) => (Array.isArray(list) ? list[0] : undefined)
  const given = first(examples) ?? schema.default ?? schema.const ?? first(choices)
  if (given !== undefined) return given
  const branch = first(anyOf) ?? first(oneOf)
  if (branch !== undefined && properties === undefined) return exampleOf(branch, nesting + 1)
  const [type] = [schema.type].flat()
  if (type === 'null') return null
  if (type === 'array') return [exampleOf(items, nesting + 1)]
  if (type === 'object' || isRecord(properties)) {
    const known = propertiesOf(schema)
    const exampleFor = (name: string) => exampleOf(ownValue(known, name), nesting + 1)
    return Object.fromEntries(requiredOf(schema).map(name => [name, exampleFor(name)]))
  }
  return minimum ?? ownValue(EXAMPLES, String(type)) ?? 'text'
}
