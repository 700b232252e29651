import { setImmediate as nextTurn } from 'node:timers/promises'
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
import { fingerprint } from '../../interceptors/canonical.ts'
import { Catalog } from '../../mcp/catalog.ts'
import { JsonWriter } from '../../runtime/json-writer.ts'
import { toolpostVersion } from '../../runtime/version.ts'
import { traceContext } from '../../telemetry/trace-context.ts'
import type { Ask, Caller, Question, Requester } from '../../tools/caller.ts'
import type { ActiveCalls } from '../active-calls.ts'
import { metaOf, onSignal } from '../caller.ts'
import type { Client } from '../clients.ts'
import { MAX_MCP_ANSWER } from '../limits.ts'
import type { ClientCall, ClientHelp } from './client-call.ts'
import {
  addressesRequired,
  capabilitiesOf,
  clientPeer,
  type LogLevel,
  logTo,
  type McpRequest,
} from './client-peer.ts'
import { followResources } from './followed-resources.ts'
import { type OffersOptions, offerCatalog } from './offers.ts'
import { ProgressNotices } from './progress-notices.ts'
import { SuspendedCalls } from './suspended-calls.ts'
import {
  beginTask,
  createdResult,
  knowsTasks,
  offerTasks,
  TaskServer,
  taskCapabilities,
} from './task-methods.ts'
import { Tasks } from './tasks.ts'
import { toolAnswer } from './tool-answer.ts'
import { ToolList } from './tool-list.ts'

export interface ToolServerOptions {
  executor: ToolExecutor
  calls: ActiveCalls
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
    const session: Session = { server, level: 'info', tasks, owner: () => `client ${client()?.name}` }
    server.setRequestHandler('logging/setLevel', async ({ params: { level } }) => {
      session.level = level
      await catalog.setLogLevel(level)
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
      const call = (help: ClientHelp, signal: AbortSignal, within = context) =>
        callTool({ name, args, help, signal }, within, { ...options, client: client() })
      if (!task || !isSession(session, context)) return withHelp(context, { name, args }, call, true)
      const later = afterAnswer(session, context)
      const onLog = logTo(later.mcpReq, session.level)
      const { caller } = client() ?? {}
      const work = (help: ClientHelp, signal: AbortSignal) =>
        call({ ...help, onLog, caller } as ClientHelp, signal, later)
      return beginTask(server, tasks, { ttl: task.ttl, work })
    })
    offerTasks(server, session)
    offerCatalog(server, { catalog, client, whenListed, withHelp })
    followResources(server, catalog, client)
    return server
  }
}

interface Session {
  server: Server
  /** From which on the client wants to read logs. */
  level: LogLevel
  tasks: Tasks
  /** Whose tasks they are. */
  owner(): string
}

/** Whether the client comes again: one of the 2025 protocols that did not begin a session does not. */
function isSession({ server }: Session, { mcpReq }: ServerContext): boolean {
  return !mcpReq.envelope && server.getClientCapabilities() !== undefined
}

/** A request that was answered with a task: what is told of it goes to the session from now on. */
function afterAnswer({ server }: Session, context: ServerContext): ServerContext {
  const notify: McpRequest['notify'] = notification => server.notification(notification)
  return { ...context, mcpReq: { ...context.mcpReq, notify } }
}

/** Does something for a request, and has its client help with it in the way that its protocol has. */
function helper(
  session: Session,
  suspended: SuspendedCalls,
  client: () => Client | undefined,
): OffersOptions['withHelp'] {
  return ({ mcpReq: request }, about, work, mayBeTask) => {
    const { name, caller } = client() ?? {}
    if (!request.envelope) return helpedBy2025(session, { request, caller }, work)
    const capabilities = capabilitiesOf(session.server, request)
    const owner = fingerprint([name, about])
    const toTask = (call: ClientCall<never>) => {
      const task = session.tasks.add(session.owner(), call)
      return task && (createdResult(task, true) as never)
    }
    const outcome = suspended.run<never>(request, {
      owner,
      capabilities,
      work: (help, signal) => work({ ...help, caller }, signal) as Promise<never>,
      ...(mayBeTask && knowsTasks(capabilities) && { toTask }),
    })
    return outcome as ReturnType<typeof work>
  }
}

/** A client that can show addresses gets those that are to be visited first in an error, as its protocol has it. */
async function helpedBy2025<Result>(
  { server, level }: Session,
  { request, caller }: { request: McpRequest; caller: string | undefined },
  work: (peer: Requester, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  let addresses: readonly Question[] = []
  const canVisit = capabilitiesOf(server, request).elicitation?.url !== undefined
  const onAddresses: Caller['onAddresses'] = given => {
    addresses = given
  }
  const peer = { ...clientPeer(server, request, level), caller, ...(canVisit && { onAddresses }) }
  const result = await work(peer, request.signal)
  if (addresses.length > 0) throw addressesRequired(addresses, server)
  return result
}

interface McpCall {
  name: string
  args: Record<string, unknown>
  help: ClientHelp
  signal: AbortSignal
}

async function callTool(
  { name, args, help, signal: given }: McpCall,
  { mcpReq: request, http }: ServerContext,
  options: ToolServerOptions & { client: Client | undefined },
): Promise<CallToolResult> {
  const { executor, calls, client, origin = 'mcp' } = options
  if (calls.isDraining) return problem('Toolpost is shutting down')
  const notices = new ProgressNotices(request)
  const meta = metaOfCall(request, http?.req)
  const result = await calls.run(onSignal(given), signal =>
    executor.run(
      { name, args },
      {
        ...client?.runOptions(name),
        ...help,
        ask: help.ask ?? options.ask,
        signal,
        origin,
        onProgress: both(notices.listener, help.onProgress),
        meta,
      },
    ),
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

/** Whether the SDK can write a result in one go. Looked at in slices, since it may be huge. */
async function fits(result: ToolResult): Promise<boolean> {
  const writer = new JsonWriter(result, MAX_MCP_ANSWER)
  while (!writer.isDone && writer.isWhole) {
    writer.next()
    await nextTurn()
  }
  return writer.isWhole
}

type UnknownTool = ToolResult & { success: false }

function isUnknown(result: ToolResult): result is UnknownTool {
  return !result.success && result.code === 'unknown_tool'
}

function unknownText({ error, diagnosis }: UnknownTool): string {
  const suggestions = diagnosis?.suggestions ?? []
  return suggestions.length > 0 ? `${error}. Did you mean ${suggestions.join(', ')}?` : error
}
