import { type CallToolResult, Server } from '@modelcontextprotocol/server'
import type { Logger } from './log.ts'
import { sentencesMeta } from './sentences.ts'
import { DEFINITIONS, describeMistakes, TOOLS } from './tools/index.ts'
import { type Arguments, refuse, type ToolContext } from './tools/tool.ts'
import { VERSION } from './version.ts'

const INSTRUCTIONS =
  'Controls and reads the Z-Wave devices of a home. Devices are addressed by name; list_zwave_devices lists the names. ' +
  'Only say that a device was switched if control_zwave_device returned confirmed: true.'

export interface ServerOptions {
  readonly context: ToolContext
  readonly logger: Logger
}

/** An MCP server with the Z-Wave tools; several can share one network. */
export function createServer({ context, logger }: ServerOptions): Server {
  const instructions = context.virtual
    ? `${INSTRUCTIONS} This home is virtual: no real devices are connected.`
    : INSTRUCTIONS
  const server = new Server(
    { name: 'zwave-mcp-server', title: 'Z-Wave', version: VERSION },
    { capabilities: { tools: {} }, instructions },
  )
  server.setRequestHandler('tools/list', () => {
    // Connecting loads the MQTT library, so let this answer go out first.
    setTimeout(() => context.network.start(), 1)
    const [first, ...others] = DEFINITIONS
    return { tools: first ? [{ ...first, _meta: sentencesMeta() }, ...others] : [] }
  })
  server.setRequestHandler('tools/call', ({ params }, { mcpReq }) =>
    callTool(params.name, params.arguments ?? {}, { context: { ...context, signal: mcpReq.signal }, logger }),
  )
  return server
}

/** Runs a tool. Never rejects: a failure becomes an error result. */
async function callTool(
  name: string,
  args: Arguments,
  { context, logger }: ServerOptions,
): Promise<CallToolResult> {
  const definition = DEFINITIONS.find(item => item.name === name)
  const run = TOOLS[name]
  if (!definition || !run)
    return refuse(`Unknown tool "${name}"; expected one of ${Object.keys(TOOLS).join(', ')}.`)
  const mistakes = describeMistakes(definition, args)
  const startedAt = context.now()
  const result = mistakes
    ? refuse(mistakes)
    : await run(args, context).catch(error => onCrash(name, error, logger))
  const text = result.content.map(block => (block.type === 'text' ? block.text : block.type)).join(' ')
  logger.info({ tool: name, args, duration_ms: context.now() - startedAt, result: text }, 'tool called')
  return result
}

function onCrash(tool: string, error: unknown, logger: Logger): CallToolResult {
  logger.error({ tool, error, stack: error instanceof Error ? error.stack : undefined }, 'tool failed')
  return refuse(`${tool} failed: ${error instanceof Error ? error.message : String(error)}`)
}
