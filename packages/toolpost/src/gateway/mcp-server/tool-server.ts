import { randomUUID } from 'node:crypto'
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
import type { BigResults } from '../../tools/results/big-results.ts'
import type { Tool } from '../../tools/tool.ts'
import type { ActiveCalls } from '../active-calls.ts'
import { metaOf, onSignal } from '../caller.ts'
import type { Client } from '../clients.ts'
import { type DurableSource, KEY_META } from '../durable-wish.ts'
import { fits } from './answer-size.ts'
import { ClientCall, type ClientHelp, type Work } from './client-call.ts'
import { afterAnswer, conversationOf, helper, isSession, type Session } from './client-help.ts'
import { capabilitiesOf, logTo, type McpRequest } from './client-peer.ts'
import { ClientTools, Discoveries, KnownClients, type OfferSettings } from './client-tools.ts'
import { callDurably, callOfRun, wantsRun } from './durable-call.ts'
import { followResources, whenClosed } from './followed-resources.ts'
import { longAnswer, readResource } from './long-answer.ts'
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
  /** Keeps results that are too long for a model. */
  results?: BigResults | undefined
  /** How tools are offered; read again at every list. */
  offer?: (() => OfferSettings) | undefined
  /** Told when clients without a session should list the tools again. */
  onOfferChange?: (() => void) | undefined
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
  const known = new KnownClients()
  const { executor, whenListed, results, catalog = new Catalog() } = options
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
      id: randomUUID(),
      discoveries: new Discoveries(),
    }
    const toolsFor = (context: ServerContext): ClientTools => {
      const inSession = isSession(session, context)
      const by = client()
      const conversation = conversationOf(session, context)
      return new ClientTools({
        executor,
        results,
        settings: options.offer?.() ?? {},
        client: by,
        discoveries: inSession ? session.discoveries : known.of(`${by?.key} ${conversation}`),
        owner: { caller: by?.caller, conversation },
        onChange: () =>
          inSession ? void server.sendToolListChanged().catch(() => {}) : options.onOfferChange?.(),
      })
    }
    server.setRequestHandler('logging/setLevel', async ({ params: { level } }) => {
      if (!session.hasLevel) whenClosed(server, () => void catalog.setLogLevel(session, undefined))
      session.hasLevel = true
      session.level = level
      await catalog.setLogLevel(session, level)
      return {}
    })
    const withHelp = helper(session, suspended, client)
    server.setRequestHandler('tools/list', async (_, context) => {
      await whenListed?.()
      const isNewest = context.mcpReq.envelope !== undefined
      return { tools: await list.entries(toolsFor(context).listed(), isNewest) }
    })
    server.setRequestHandler('tools/call', ({ params }, context) => {
      const { task } = params
      const tools = toolsFor(context)
      const meant = tools.meant({ name: params.name, args: params.arguments ?? {} })
      const { name, args } = meant.call
      const call =
        (within: ServerContext): Work<CallToolResult> =>
        (help, signal, current) => {
          const asked = { name, args, also: meant.also, help, signal, current, tools }
          const version = server.getNegotiatedProtocolVersion()
          return callTool(asked, within, { ...options, client: client(), version })
        }
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
      const tools = toolsFor(context)
      const version = server.getNegotiatedProtocolVersion()
      const work: Work<CallToolResult> = (help, signal, current) => {
        const asked = { ...found, also: [], tools, help, signal, current }
        return callTool(asked, context, { ...options, client: client(), version })
      }
      const capabilities = capabilitiesOf(server, context.mcpReq)
      const call = new ClientCall({ owner: { client: '', about: '' }, capabilities, work, mayBeTask: true })
      call.runId = id
      return call
    }
    offerTasks(server, { ...session, revive })
    const readKept = (uri: string, context: ServerContext) =>
      readResource(uri, results, toolsFor(context).owner)
    offerCatalog(server, { catalog, client, whenListed, withHelp, readKept })
    followResources(server, catalog, client)
    return server
  }
}

interface McpCall {
  name: string
  args: Record<string, unknown>
  /** Tools that the manager does not have. */
  also: readonly Tool[]
  tools: ClientTools
  /** The idempotency key, if it is not in the request. */
  key?: string
  help: ClientHelp
  signal: AbortSignal
  /** The request that the client waits for now. */
  current(): McpRequest | undefined
}

async function callTool(
  { name, args, key, also, tools, help, signal: given, current }: McpCall,
  { mcpReq: request, http }: ServerContext,
  options: ToolServerOptions & { client: Client | undefined; version: string | undefined },
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
    also,
    conversation: tools.owner.conversation,
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
  await options.results?.keep(result, tools.owner)
  tools.noteCall(name, { isLong: result.success && result.handle !== undefined })
  const tool = executor.tools.findTool(name)
  const isServer = tool !== undefined && executor.tools.originOf(tool) !== undefined
  const isNewest = request.envelope !== undefined
  const source = { isServer, hasOutputSchema: tool?.outputSchema !== undefined, isNewest }
  const kept = result.success ? options.results?.keptOf(result) : undefined
  if (result.success && kept)
    return longAnswer(result, { kept, source, hasLinks: knowsLinks(options.version, isNewest) })
  if (!(await fits(result))) return problem(`The result of '${name}' is too large for MCP`)
  return toolAnswer(result, source)
}

/** Links came with the protocol of June 2025: older clients would refuse the whole result. */
function knowsLinks(version: string | undefined, isNewest: boolean): boolean {
  return isNewest || (version ?? '') >= '2025-06-18'
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
