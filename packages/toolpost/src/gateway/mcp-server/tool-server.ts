import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
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
import type { Ask, Caller } from '../../tools/caller.ts'
import type { Progress } from '../../tools/tool.ts'
import type { ActiveCalls } from '../active-calls.ts'
import { metaOf, onSignal } from '../caller.ts'
import type { Client } from '../clients.ts'
import { MAX_MCP_ANSWER, PROGRESS_GAP_MS } from '../limits.ts'
import { capabilitiesOf, clientPeer, type LogLevel, type McpRequest } from './client-peer.ts'
import { followResources } from './followed-resources.ts'
import { type OffersOptions, offerCatalog } from './offers.ts'
import { SuspendedCalls } from './suspended-calls.ts'
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
export function toolServerFactory(options: ToolServerOptions): (client?: () => Client) => Server {
  const list = new ToolList()
  const suspended = new SuspendedCalls()
  const { executor, whenListed, catalog = new Catalog() } = options
  return clientOf => {
    const client = () => clientOf?.()
    const instructions = catalog.instructions(name => client()?.seesServer(name) ?? true)
    const server = new Server(INFO, { capabilities: CAPABILITIES, ...(instructions && { instructions }) })
    const session: Session = { server, level: 'info' }
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
      const { name, arguments: args = {} } = params
      return withHelp(context, { name, args }, (peer, signal) =>
        callTool({ name, args, peer, signal }, context, { ...options, client: client() }),
      )
    })
    offerCatalog(server, { catalog, client, whenListed, withHelp })
    followResources(server, catalog, client)
    return server
  }
}

interface Session {
  server: Server
  /** From which on the client wants to read logs. */
  level: LogLevel
}

/** Does something for a request, and has its client help with it in the way that its protocol has. */
function helper(
  session: Session,
  suspended: SuspendedCalls,
  client: () => Client | undefined,
): OffersOptions['withHelp'] {
  return ({ mcpReq: request }, about, work) => {
    const capabilities = capabilitiesOf(session.server, request)
    const { name, caller } = client() ?? {}
    if (!request.envelope)
      return work({ ...clientPeer(capabilities, request, session.level), caller }, request.signal)
    const owner = fingerprint([name, about])
    const outcome = suspended.run(request, {
      owner,
      capabilities,
      work: (peer, signal) => work({ ...peer, caller }, signal),
    })
    return outcome as ReturnType<typeof work>
  }
}

interface McpCall {
  name: string
  args: Record<string, unknown>
  peer: Caller
  signal: AbortSignal
}

async function callTool(
  { name, args, peer, signal: given }: McpCall,
  { mcpReq: request, http }: ServerContext,
  options: ToolServerOptions & { client: Client | undefined },
): Promise<CallToolResult> {
  const { executor, calls, client, origin = 'mcp' } = options
  if (calls.isDraining) return problem('Toolpost is shutting down')
  const notices = new ProgressNotices(request)
  const { listener: onProgress } = notices
  const meta = metaOfCall(request, http?.req)
  const result = await calls.run(onSignal(given), signal =>
    executor.run(
      { name, args },
      {
        ...client?.runOptions(name),
        ...peer,
        ask: peer.ask ?? options.ask,
        signal,
        origin,
        onProgress,
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

/** Progress of a call, to a client that asked for it. */
class ProgressNotices {
  readonly listener: ((progress: Progress) => void) | undefined
  #lastAt = Number.NEGATIVE_INFINITY

  constructor({ _meta, notify }: McpRequest) {
    const progressToken = _meta?.progressToken
    if (progressToken === undefined) return
    this.listener = progress => {
      this.#lastAt = performance.now()
      // The client may be gone.
      notify({ method: 'notifications/progress', params: { progressToken, ...progress } }).catch(() => {})
    }
  }

  /** Resolves when the answer may follow. */
  async settled(): Promise<void> {
    if (performance.now() - this.#lastAt < PROGRESS_GAP_MS) await delay(PROGRESS_GAP_MS)
  }
}

type UnknownTool = ToolResult & { success: false }

function isUnknown(result: ToolResult): result is UnknownTool {
  return !result.success && result.code === 'unknown_tool'
}

function unknownText({ error, diagnosis }: UnknownTool): string {
  const suggestions = diagnosis?.suggestions ?? []
  return suggestions.length > 0 ? `${error}. Did you mean ${suggestions.join(', ')}?` : error
}
