import type { ToolInfo } from '../gateway/api-types.ts'
import { escapeControls } from '../logging/safe-value.ts'
import type { ServerStatus } from '../mcp/index.ts'
import type { Project } from '../project/project.ts'
import { isRecord, ownValue } from '../runtime/guards.ts'
import { jsonSchemaOf, propertiesOf, requiredOf } from '../schema/json-schema.ts'
import { signatureOf } from '../schema/signature.ts'
import type { Tool } from '../tools/tool.ts'
import type { BareContext, CommandContext } from './context.ts'
import { EXIT } from './exit-codes.ts'
import type { GatewayClient } from './gateway-client.ts'
import { unlessStopped } from './stop-signals.ts'
import { DEFAULT_COLUMNS, printResult, styled, type Terminal, tableLines } from './terminal.ts'

/** How long the list waits for unresponsive servers. */
const PATIENCE_MS = 2_000
const HINT = 'toolpost tools NAME shows one with its signature and an example call.'

export interface ToolsFlags {
  /** The name of a server or of a tool. */
  name?: string | undefined
  json?: boolean
  search?: string
}

/** What is shown of a tool: what `--json` prints. */
interface ShownTool extends Pick<Tool, 'readOnly' | 'idempotent' | 'destructive'> {
  name: string
  description: string
  /** `local`, or the name of its server. */
  source: string
  signature: string
  parameters: unknown
}

/** The tools, best match first, or the names nearest to what was searched for. */
interface Found {
  tools: ShownTool[]
  nearest?: string[]
}

/** `toolpost tools`: lists the tools, with readable signatures or as JSON. */
export async function listTools(
  { project, stop, terminal }: Pick<CommandContext, 'project' | 'stop' | 'terminal'>,
  flags: ToolsFlags,
): Promise<number> {
  const { name, json = false, search } = flags
  // A program wants the complete list; a person, what is available now. The example's own server always starts.
  const limitMs = json || project.file === undefined ? undefined : PATIENCE_MS
  const whenReady = unlessStopped(whenThere(project, name, limitMs), stop.signal)
  if (terminal.out.isTTY && !json && name === undefined && search === undefined) {
    await showAsTheyCome(project, terminal, whenReady)
    tellStarting(project.status().servers, terminal)
    return EXIT.ok
  }
  await whenReady
  if (name === undefined) tellStarting(project.status().servers, terminal)
  return print(await matching(project, search), flags, terminal)
}

/** The same from the running gateway. `undefined` while one of its servers is starting. */
export async function listToolsIn(
  gateway: GatewayClient,
  { terminal }: BareContext,
  flags: ToolsFlags,
): Promise<number | undefined> {
  const { servers } = (await gateway.get('/api/servers')) as { servers: ServerStatus[] }
  if (servers.some(({ state }) => state === 'starting')) return undefined
  const query = flags.search === undefined ? '' : `?q=${encodeURIComponent(flags.search)}`
  const found = (await gateway.get(`/api/tools${query}`)) as { tools: ToolInfo[]; nearest?: string[] }
  const tools = found.tools.map(({ schema: parameters, ...tool }) => ({ ...tool, parameters }))
  return print({ ...found, tools: tools.map(shownFields) }, flags, terminal)
}

function shownFields(tool: ShownTool): ShownTool {
  const { name, description, source, signature, parameters, readOnly, idempotent, destructive } = tool
  return { name, description, source, signature, parameters, readOnly, idempotent, destructive } as ShownTool
}

function print(
  { tools, nearest = [] }: Found,
  { name, json, search }: ToolsFlags,
  terminal: Terminal,
): number {
  const ofServer = tools.filter(tool => tool.source === name)
  const named = ofServer.length > 0 ? ofServer : tools.filter(tool => tool.name === name)
  const all = name === undefined ? tools : named
  if (all.length === 0 && (search ?? name) !== undefined) {
    const closest = nearest.length > 0 ? `; closest: ${nearest.slice(0, 3).join(', ')}` : ''
    const problem =
      search === undefined ? `No server or tool named '${name}'` : `No tool matches '${search}'${closest}`
    terminal.err.write(`${escapeControls(problem)}\n`)
    return EXIT.failed
  }
  const [only] = all
  if (json) printResult(terminal, JSON.stringify(all, null, 2))
  else if (only && name === only.name) terminal.out.write(page(only, terminal))
  else if (terminal.out.isTTY) {
    for (const source of new Set(all.map(tool => tool.source)))
      terminal.out.write(`${group(source, all, terminal)}\n`)
    terminal.out.write(`${styled(terminal.out, 'dim', HINT)}\n`)
  } else terminal.out.write(all.map(paragraph).join(''))
  return EXIT.ok
}

async function matching(project: Project, query: string | undefined): Promise<Found> {
  const { tools } = project
  if (query === undefined) return { tools: tools.getTools().map(tool => shown(tool, project)) }
  const { searchOf } = await import('../tools/search/tool-search.ts')
  const found = await searchOf(tools).search(query)
  const nearest = found.length > 0 ? [] : await searchOf(tools).nearest(query, { limit: 3 })
  return { tools: found.map(tool => shown(tool, project)), nearest: nearest.map(({ name }) => name) }
}

function shown(tool: Tool, { tools }: Pick<Project, 'tools'>): ShownTool {
  const source = tools.originOf(tool)?.server ?? 'local'
  const { description = '' } = tool
  return shownFields({
    ...tool,
    name: tool.name,
    description,
    source,
    signature: signatureOf(tool),
    parameters: jsonSchemaOf(tool),
  })
}

/** Waits only for what was asked for, so that one broken server does not hold up the rest. */
async function whenThere(
  project: Project,
  name: string | undefined,
  limitMs: number | undefined,
): Promise<void> {
  if (name === 'local' || (name !== undefined && project.tools.findTool(name))) return
  if (name === undefined) await project.tried(undefined, limitMs)
  else if (Object.hasOwn(project.config.mcpServers ?? {}, name)) await project.tried(name)
  else await project.waitForTool(name)
}

/** Names the servers missing from the list because they are still starting. */
function tellStarting(servers: readonly ServerStatus[], { err }: Terminal): void {
  for (const { name, state, error } of servers)
    if (state === 'starting' && error === undefined)
      err.write(
        `${escapeControls(`Server '${name}' is still starting; to wait for it: toolpost tools ${name}`)}\n`,
      )
}

/** Shows local tools immediately, and each server's as soon as it is ready. Ends with `whenReady`. */
async function showAsTheyCome(
  project: Project,
  terminal: Terminal,
  whenReady: Promise<unknown>,
): Promise<void> {
  const done = new Set<string>()
  const show = (source: string) => {
    const own = project.tools.getTools().map(tool => shown(tool, project))
    if (done.has(source) || !own.some(tool => tool.source === source)) return
    done.add(source)
    terminal.out.write(`${group(source, own, terminal)}\n`)
  }
  const showReady = () => {
    for (const { name, state } of project.status().servers) if (state === 'ready') show(name)
  }
  show('local')
  const stop = project.on('server', showReady)
  await whenReady.finally(stop)
  showReady()
  terminal.out.write(`${styled(terminal.out, 'dim', HINT)}\n`)
}

/** For a terminal: one line per tool of a source, no longer than the terminal is wide. */
function group(source: string, tools: readonly ShownTool[], { out }: Terminal): string {
  const own = tools.filter(tool => tool.source === source)
  const mark = ({ readOnly, destructive }: ShownTool) =>
    destructive ? 'destructive' : readOnly ? 'read-only' : ''
  const rows = own.map(tool => [escapeControls(tool.name), mark(tool), summaryOf(tool)])
  const lines = tableLines(rows, (out.columns || DEFAULT_COLUMNS) - 2, (text, column) =>
    column === 0 ? styled(out, 'bold', text) : column === 1 ? styled(out, 'yellow', text) : text,
  )
  const head = styled(out, 'cyan', escapeControls(`${source} (${own.length})`))
  return [head, ...lines.map(line => `  ${line}`), ''].join('\n')
}

function summaryOf({ description }: ShownTool): string {
  return escapeControls(description.replace(/\s+/g, ' ').trim())
}

/** Control characters in what a server sends are shown, not interpreted. */
function paragraph(tool: ShownTool): string {
  const source = tool.source === 'local' ? '' : ` (from ${escapeControls(tool.source)})`
  return `${escapeControls(tool.signature)}${source}\n    ${summaryOf(tool)}\n`
}

/** One tool in full, with an example call to copy. */
function page(tool: ShownTool, { out }: Terminal): string {
  const { source, readOnly, idempotent, destructive } = tool
  const marks = [readOnly && 'read-only', idempotent && 'idempotent', destructive && 'destructive']
  const facts = [
    source === 'local' ? 'local' : `from ${source}`,
    ...marks.filter(mark => typeof mark === 'string'),
  ]
  const example = exampleOf(tool.parameters, 0)
  const pairs = Object.entries(isRecord(example) ? example : {}).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  const words = [tool.name, ...pairs].map(word =>
    /^[\w./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`,
  )
  const lines = [
    `${styled(out, 'bold', escapeControls(tool.signature))} (${escapeControls(facts.join(', '))})`,
    ...tool.description.trim().split('\n').map(escapeControls),
    '',
    `toolpost call ${words.join(' ')}`,
  ]
  return `${lines.join('\n')}\n`
}

const MAX_EXAMPLE_NESTING = 4
const EXAMPLES: Record<string, unknown> = { number: 1, integer: 1, boolean: true }

/** The required arguments, with values from the schema's own examples if it has any. */
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
