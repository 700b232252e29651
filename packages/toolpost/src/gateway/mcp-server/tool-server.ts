import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import {
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { ToolResult } from '../../call/tool-result.ts'
import type { Ask, RunOptions } from '../../executor/options.ts'
import type { ToolExecutor } from '../../executor/tool-executor.ts'
import { JsonWriter } from '../../runtime/json-writer.ts'
import { toolpostVersion } from '../../runtime/version.ts'
import { traceContext } from '../../telemetry/trace-context.ts'
import type { Progress } from '../../tools/tool.ts'
import type { ActiveCalls } from '../active-calls.ts'
import { metaOf, onSignal } from '../caller.ts'
import type { Client } from '../clients.ts'
import { MAX_MCP_ANSWER, PROGRESS_GAP_MS } from '../limits.ts'
import { type Elicitation, Elicitations } from './elicitation.ts'
import { toolAnswer } from './tool-answer.ts'
import { ToolList } from './tool-list.ts'

export interface ToolServerOptions {
  executor: ToolExecutor
  calls: ActiveCalls
  /** Waits until the tools are there, for as long as it sees fit. */
  whenListed?: (() => Promise<void>) | undefined
  /** Asks the person of a client that cannot show a question itself. */
  ask?: Ask | undefined
  /** Who asks, as the journal has it. */
  origin?: string | undefined
}

/** Makes MCP servers that offer the executor's tools. Clients of the newest protocol get one for every request: it is small. */
export function toolServerFactory(options: ToolServerOptions): (client?: () => Client) => Server {
  const list = new ToolList()
  const elicitations = new Elicitations()
  const { executor, whenListed } = options
  const info = { name: 'toolpost', title: 'Toolpost', version: toolpostVersion() }
  const capabilities = { tools: { listChanged: true } }
  return clientOf => {
    const server = new Server(info, { capabilities })
    server.setRequestHandler('tools/list', async () => {
      await whenListed?.()
      return { tools: await list.entries(clientOf?.().tools() ?? executor.tools.getTools()) }
    })
    server.setRequestHandler('tools/call', ({ params }, context) => {
      const { name, arguments: args = {} } = params
      const elicitation = elicitations.of(server, context.mcpReq, { name, args })
      return callTool({ name, args, elicitation }, context, { ...options, client: clientOf?.() })
    })
    return server
  }
}

type McpRequest = ServerContext['mcpReq']

interface McpCall {
  name: string
  args: Record<string, unknown>
  elicitation: Elicitation
}

async function callTool(
  { name, args, elicitation }: McpCall,
  { mcpReq: request, http }: ServerContext,
  options: ToolServerOptions & { client: Client | undefined },
): Promise<CallToolResult | InputRequiredResult> {
  const { executor, calls, client, origin = 'mcp' } = options
  if (calls.isDraining) return problem('Toolpost is shutting down')
  const notices = new ProgressNotices(request)
  const { listener: onProgress } = notices
  const meta = metaOfCall(request, http?.req)
  const result = await calls.run(onSignal(request.signal), signal =>
    executor.run(
      { name, args },
      { ...client?.runOptions(name), signal, origin, ask: elicitation.ask ?? options.ask, onProgress, meta },
    ),
  )
  await notices.settled()
  const question = elicitation.question?.()
  if (question && !result.success && result.code === 'denied') return question
  if (isUnknown(result)) throw new ProtocolError(ProtocolErrorCode.InvalidParams, unknownText(result))
  if (!(await fits(result))) return problem(`The result of '${name}' is too large for MCP`)
  const tool = executor.tools.findTool(name)
  const isServer = tool !== undefined && executor.tools.originOf(tool) !== undefined
  return toolAnswer(result, { isServer, hasOutputSchema: tool?.outputSchema !== undefined })
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
