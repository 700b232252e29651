import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { ToolResult } from '../../call/tool-result.ts'
import type { RunOptions } from '../../executor/options.ts'
import type { ToolExecutor } from '../../executor/tool-executor.ts'
import { Catalog } from '../../mcp/catalog.ts'
import { toolpostVersion } from '../../runtime/version.ts'
import { traceContext } from '../../telemetry/trace-context.ts'
import type { Ask } from '../../tools/caller.ts'
import type { ActiveCalls } from '../active-calls.ts'
import { metaOf, onSignal } from '../caller.ts'
import type { Client } from '../clients.ts'
import { type DurableSource, KEY_META } from '../durable-wish.ts'
import { fits } from './answer-size.ts'
import { ClientCall, type ClientHelp, type Work } from './client-call.ts'
import { afterAnswer, helper, isSession, type Session } from './client-help.ts'
import { capabilitiesOf, logTo, type McpRequest } from './client-peer.ts'
import { callDurably, callOfRun, wantsRun } from './durable-call.ts'
import { followResources, whenClosed } from './followed-resources.ts'
import { offerCatalog } from './offers.ts'
import { ProgressNotices } from './progress-notices.ts'
import { SuspendedCalls } from './suspended-calls.ts'
import { beginTask, offerTasks, TaskServer, taskCapabilities } from './task-methods.ts'
import { Tasks } from './tasks.ts'
import { toolAnswer } from './tool-answer.ts'
import { ToolList } from './tool-list.ts'

export interface ToolServerOptions {
  executor: ToolExecutor
  calls: ActiveCalls
  /** Makes calls durable, if anything does. */
  source?: DurableSource | undefined
  /** What the servers have beside tools. */
  catalog?: Catalog | undefined
  /** Waits until the tools are there, for as long as it sees fit. */
  whenListed?: (() => Promise<void>) | undefined
  /** Asks the person of a client that cannot show a question itself. */
  ask?: Ask | undefined
  /** Who asks, as the journal has it. */
  origin?: string | undefined
}

const INFO = { name: 'toolpost', title: 'Toolpost', version: toolpostVersion() }
/** All of it is answered, also while there are none. */
const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
}

/**
 * Makes MCP servers that offer the executor's tools, and what the MCP servers have beside tools. Clients of the newest
 * protocol get one for every request: it is small.
 */
export function toolServerFactory(
  options: ToolServerOptions,
): (client?: () => Client, era?: 'legacy' | 'modern') => Server {
  const list = new ToolList()
  const suspended = new SuspendedCalls()
  const tasks = new Tasks()
  const { executor, whenListed, catalog = new Catalog() } = options
  return (clientOf, era) => {
    const client = () => clientOf?.()
    const instructions = catalog.instructions(name => client()?.seesServer(name) ?? true)
    const capabilities = { ...CAPABILITIES, ...taskCapabilities(era === 'modern') }
    const server = new TaskServer(INFO, { capabilities, ...(instructions && { instructions }) })
    const session: Session = {
      server,
      level: 'info',
      hasLevel: false,
      tasks,
      owner: () => `client ${client()?.name}`,
    }
    server.setRequestHandler('logging/setLevel', async ({ params: { level } }) => {
      if (!session.hasLevel) whenClosed(server, () => void catalog.setLogLevel(session, undefined))
      session.hasLevel = true
      session.level = level
      await catalog.setLogLevel(session, level)
      return {}
    })
    const withHelp = helper(session, suspended, client)
    server.setRequestHandler('tools/list', async (_, { mcpReq }) => {
      await whenListed?.()
      const isNewest = mcpReq.envelope !== undefined
      return { tools: await list.entries(client()?.tools() ?? executor.tools.getTools(), isNewest) }
    })
    server.setRequestHandler('tools/call', ({ params }, context) => {
      const { name, arguments: args = {}, task } = params
      const call =
        (within: ServerContext): Work<CallToolResult> =>
        (help, signal, current) =>
          callTool({ name, args, help, signal, current }, within, { ...options, client: client() })
      if (!task || !isSession(session, context)) return withHelp(context, { name, args }, call(context), true)
      const later = afterAnswer(session, context)
      const onLog = logTo(later.mcpReq, session.level)
      const work: Work<CallToolResult> = (help, signal) =>
        call(later)({ ...help, onLog, peer: session }, signal, () => later.mcpReq)
      return beginTask(server, tasks, { ttl: task.ttl, work })
    })
    const revive = async (id: string, context: ServerContext) => {
      const found = await callOfRun(id, client(), options.source)
      if (!found) return undefined
      const work: Work<CallToolResult> = (help, signal, current) =>
        callTool({ ...found, help, signal, current }, context, { ...options, client: client() })
      const capabilities = capabilitiesOf(server, context.mcpReq)
      const call = new ClientCall({ owner: { client: '', about: '' }, capabilities, work, mayBeTask: true })
      call.runId = id
      return call
    }
    offerTasks(server, { ...session, revive })
    offerCatalog(server, { catalog, client, whenListed, withHelp })
    followResources(server, catalog, client)
    return server
  }
}

interface McpCall {
  name: string
  args: Record<string, unknown>
  /** The idempotency key, if it is not in the request. */
  key?: string
  help: ClientHelp
  signal: AbortSignal
  /** The request that the client waits for now. */
  current(): McpRequest | undefined
}

async function callTool(
  { name, args, key, help, signal: given, current }: McpCall,
  { mcpReq: request, http }: ServerContext,
  options: ToolServerOptions & { client: Client | undefined },
): Promise<CallToolResult> {
  const { executor, calls, client, origin = 'mcp' } = options
  if (calls.isDraining) return problem('Toolpost is shutting down')
  const notices = new ProgressNotices(current)
  const came = metaOfCall(request, http?.req)
  const meta = key === undefined ? came : { ...came, [KEY_META]: key }
  const runOptions = {
    ...client?.runOptions(name),
    ...help,
    ask: help.ask ?? options.ask,
    origin,
    onProgress: both(notices.listener, help.onProgress),
    meta,
  }
  const result = await calls.run(onSignal(given), signal =>
    wantsRun(meta)
      ? callDurably({ name, args }, { ...runOptions, signal }, options.source)
      : executor.run({ name, args }, { ...runOptions, signal }),
  )
  await notices.settled()
  if (isUnknown(result)) throw new ProtocolError(ProtocolErrorCode.InvalidParams, unknownText(result))
  if (!(await fits(result))) return problem(`The result of '${name}' is too large for MCP`)
  const tool = executor.tools.findTool(name)
  const isServer = tool !== undefined && executor.tools.originOf(tool) !== undefined
  const isNewest = request.envelope !== undefined
  return toolAnswer(result, { isServer, hasOutputSchema: tool?.outputSchema !== undefined, isNewest })
}

/** What came along. A trace in the message itself is nearer than that of the request which carries it. */
function metaOfCall({ _meta }: McpRequest, request: Request | undefined): RunOptions['meta'] {
  const isTraced = _meta && traceContext(key => _meta[key])?.traceparent !== undefined
  return isTraced || !request ? _meta : { ..._meta, ...metaOf(request) }
}

/** Tells both of them, if there are two. */
function both(first: RunOptions['onProgress'], second: RunOptions['onProgress']): RunOptions['onProgress'] {
  if (!first || !second) return first ?? second
  return progress => {
    first(progress)
    second(progress)
  }
}

function problem(text: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text }] }
}

type UnknownTool = ToolResult & { success: false }

function isUnknown(result: ToolResult): result is UnknownTool {
  return !result.success && result.code === 'unknown_tool'
}

function unknownText({ error, diagnosis }: UnknownTool): string {
  const suggestions = diagnosis?.suggestions ?? []
  return suggestions.length > 0 ? `${error}. Did you mean ${suggestions.join(', ')}?` : error
}
