import { setTimeout as delay } from 'node:timers/promises'
import type { ClientCapabilities } from '@modelcontextprotocol/server'
import type { ToolCall } from '../../call/tool-call.ts'
import type { ToolFailure, ToolResult } from '../../call/tool-result.ts'
import type { ToolExecutor } from '../../executor/executor.ts'
import { cancelled, unavailable } from '../../executor/failure.ts'
import type { RunOptions } from '../../executor/options.ts'
import { refusal } from '../../interceptors/refuse.ts'
import { INVALID_PARAMS, RpcError } from '../../mcp/peer.ts'
import { isRecord } from '../../runtime/guards.ts'
import { traceContext } from '../../telemetry/trace-context.ts'
import type { Ask, Caller, Question, QuestionAnswer } from '../../tools/caller.ts'
import type { BigResults } from '../../tools/results/big-results.ts'
import type { Tool } from '../../tools/tool.ts'
import type { ActiveCalls } from '../active-calls.ts'
import type { Client } from '../clients.ts'
import { Disconnected, metaOf, onSignal } from '../http.ts'
import { ELICITATION_MS, MAX_LOGS_PER_SECOND, PROGRESS_GAP_MS } from '../limits.ts'
import { type DurableSource, keyProblem, offText } from '../routes/runs.ts'
import type { SuspendedCalls } from './client-call.ts'
import type { ClientTools } from './client-tools.ts'
import {
  capabilitiesOf,
  isNewest,
  levelRank,
  logLevelOf,
  type McpRequest,
  MISSING_CAPABILITY,
  type Params,
  peerOf,
} from './protocol.ts'
import { knowsTasks, type Tasks } from './tasks.ts'
import { longAnswer, toolAnswer } from './tool-answer.ts'

export interface CallToolOptions {
  executor: ToolExecutor
  calls: ActiveCalls
  /** Makes calls durable, if that is available. */
  source?: DurableSource | undefined
  /** Asks the user if the client cannot show a question. */
  ask?: Ask | undefined
  /** Keeps results too long for a model. */
  results?: BigResults | undefined
}

/** How a client helps with work done for it, and follows its progress. */
export interface ClientHelp extends Caller {
  readonly onProgress?: RunOptions['onProgress']
  /** Called with the id of the durable run that the work became. */
  readonly onRun?: ((id: string) => void) | undefined
}

/** Work done for a client, with its help; ends when the signal aborts. `current` is the request now waiting for it. */
export type Work<Result> = (
  help: ClientHelp,
  signal: AbortSignal,
  current: () => McpRequest | undefined,
) => Promise<Result>

/** A call, as the client intends it. */
export interface McpCall {
  name: string
  args: Params
  /** Tools outside the manager. */
  also: readonly Tool[]
  tools: ClientTools
  /** The idempotency key, if it is not in the request. */
  key?: string
  help: ClientHelp
  signal: AbortSignal
  request: McpRequest
  current(): McpRequest | undefined
}

/** The idempotency key of an MCP call, in its `_meta`. */
const KEY_META = 'toolpost/idempotencyKey'

/** Runs a call; resolves to its result in MCP's format. */
export async function callTool(call: McpCall, options: CallToolOptions): Promise<object> {
  const { name, args, key, also, tools, help, signal: given, request } = call
  const { executor, calls, results } = options
  const { client } = request
  if (calls.isDraining) return problem('Toolpost is shutting down')
  const came = metaOfCall(request)
  const meta = key === undefined ? came : { ...came, [KEY_META]: key }
  const progress = progressTo(call)
  const runOptions = {
    ...client?.runOptions(name),
    ...help,
    ask: askOf(client, help.ask ?? options.ask),
    also,
    conversation: tools.owner.conversation,
    origin: 'mcp',
    onProgress: progress.listener,
    meta,
  }
  const result = await calls.run(onSignal(given), signal =>
    meta?.[KEY_META] === undefined
      ? executor.run({ name, args }, { ...runOptions, signal, startedAt: request.startedAt })
      : durableResult({ name, args }, { ...runOptions, signal }, options.source),
  )
  await progress.settled()
  if (!result.success) throwRpcError(result, isNewest(request))
  await results?.keep(result, tools.owner)
  tools.noteCall(name, { isLong: result.success && result.handle !== undefined })
  const tool = executor.tools.findTool(name)
  const source = {
    isServer: tool !== undefined && executor.tools.originOf(tool) !== undefined,
    hasOutputSchema: tool?.outputSchema !== undefined,
    isNewest: isNewest(request),
  }
  const kept = result.success ? results?.keptOf(result) : undefined
  if (!result.success || !kept) return toolAnswer(result, source)
  // Resource links came with the June 2025 protocol: older clients would reject the whole result.
  const hasLinks = source.isNewest || (request.session?.version ?? '') >= '2025-06-18'
  return longAnswer(result, { kept, source, hasLinks })
}

/** A client that may not approve calls is not asked about its own. */
function askOf(client: Client | undefined, ask: Ask | undefined): Ask | undefined {
  if (!ask || (client?.approves ?? true)) return ask
  return async question => (question.about ? { action: 'cancel' } : ask(question))
}

/** Some failures are errors of the protocol, and not results. */
function throwRpcError({ code, error, diagnosis }: ToolFailure, newest: boolean): void {
  const suggestions = diagnosis?.suggestions ?? []
  const hint = suggestions.length > 0 ? `. Did you mean ${suggestions.join(', ')}?` : ''
  if (code === 'unknown_tool') throw new RpcError(`${error}${hint}`, { code: INVALID_PARAMS })
  const rpc = diagnosis?.details?.rpc
  if (newest && isRecord(rpc) && rpc.code === MISSING_CAPABILITY)
    throw new RpcError(error, { code: MISSING_CAPABILITY, data: rpc.data })
}

/** The call's `_meta`. A trace in the message takes precedence over one in the HTTP headers. */
function metaOfCall({ meta, header }: McpRequest): RunOptions['meta'] {
  if (!header || traceContext(key => meta[key])?.traceparent !== undefined) return meta
  const traced = metaOf(header)
  return traced ? { ...meta, ...traced } : meta
}

/** Sends the progress of a call to a client that asked for it. */
function progressTo({ current, help }: McpCall) {
  let lastAt = Number.NEGATIVE_INFINITY
  const isWanted = current()?.meta.progressToken !== undefined
  const listener: RunOptions['onProgress'] = progress => {
    const request = current()
    const progressToken = request?.meta.progressToken
    if (progressToken !== undefined) {
      lastAt = performance.now()
      request?.notify('notifications/progress', { progressToken, ...progress })
    }
    help.onProgress?.(progress)
  }
  return {
    listener: isWanted || help.onProgress ? listener : undefined,
    /** Resolves when the result may follow. */
    settled: async () => {
      if (performance.now() - lastAt < PROGRESS_GAP_MS) await delay(PROGRESS_GAP_MS)
    },
  }
}

function problem(text: string): object {
  return { isError: true, content: [{ type: 'text', text }] }
}

/**
 * An MCP call with an idempotency key. It ends if its client cancels it; if the client only disconnects, it continues,
 * and the client may return with the same key.
 */
async function durableResult(
  call: ToolCall,
  { signal, onRun, ...options }: RunOptions & Pick<ClientHelp, 'onRun'> & { signal: AbortSignal },
  source: DurableSource | undefined,
): Promise<ToolResult> {
  const { [KEY_META]: key, ...meta } = options.meta ?? {}
  const wrong = keyProblem(key)
  if (wrong) return refusal(call, 'invalid_arguments', `Invalid parameters: '_meta.${KEY_META}': ${wrong}`)
  const runs = source?.durable?.()
  if (!runs) {
    const { code, error } = unavailable(call.name, source ? offText(source) : 'durable calls are off')
    return refusal(call, code, error)
  }
  const accepted = await runs.accept(call, { ...options, meta, key: key as string })
  if ('refused' in accepted) return accepted.refused
  const { id, result } = accepted
  onRun?.(id)
  const gone = new Promise<ToolResult>(resolve => {
    const leave = () => {
      if (!(signal.reason instanceof Disconnected)) runs.durable.cancel(id).catch(() => {})
      const { code, error } = cancelled(call.name)
      resolve({ ...refusal(call, code, error), run_id: id })
    }
    signal.addEventListener('abort', leave, { once: true })
    if (signal.aborted) leave()
  })
  return Promise.race([result, gone])
}

/** Runs work for a request, with the client's help in whichever way its protocol provides. */
export function withHelp<Result extends object>(
  request: McpRequest,
  suspended: SuspendedCalls,
  about: object,
  work: Work<Result>,
  tasks?: Tasks | undefined,
): Promise<object> {
  if (!isNewest(request)) return helpedBy2025(request, work)
  const capabilities = capabilitiesOf(request)
  const peer = peerOf(request.client, request)
  const mayBeTask = tasks !== undefined && knowsTasks(capabilities)
  const canHelp = capabilities.elicitation || capabilities.sampling || capabilities.roots
  if (!mayBeTask && !canHelp) return work({ peer, onLog: logTo(request) }, request.signal, () => request)
  return suspended.run(request, {
    client: request.client?.name ?? '',
    about: [request.method, about],
    capabilities,
    work: (help, ...rest) => work({ ...help, peer }, ...rest),
    toTask: mayBeTask ? call => tasks.become(request, call) : undefined,
  })
}

/** A client that can open URLs gets those to visit first as an error, as its protocol specifies. */
async function helpedBy2025<Result>(request: McpRequest, work: Work<Result>): Promise<Result> {
  let addresses: readonly Question[] = []
  const onAddresses: Caller['onAddresses'] = given => {
    addresses = given
  }
  const canVisit = capabilitiesOf(request).elicitation?.url !== undefined
  const help = {
    ...helpOf2025(request),
    peer: request.session ?? request,
    ...(canVisit && { onAddresses }),
  }
  const result = await work(help, request.signal, () => request)
  if (addresses.length === 0) return result
  const elicitations = addresses.map(address => followedParams(address, request))
  throw new RpcError('This request requires more information.', {
    code: -32_042,
    data: { elicitations: elicitations.filter(({ mode }) => mode === 'url') },
  })
}

/** How to reach a client with a 2025 protocol during one of its own requests. */
function helpOf2025(request: McpRequest): Caller {
  const capabilities = capabilitiesOf(request)
  const onLog = logTo(request)
  const ask = async (method: string, params: object, signal: AbortSignal | undefined) => {
    const signals = [request.signal, AbortSignal.timeout(ELICITATION_MS), ...(signal ? [signal] : [])]
    const answer = await request.request?.(method, params, { signal: AbortSignal.any(signals) })
    return answer as Record<string, unknown>
  }
  if (!request.request) return { onLog }
  return {
    onLog,
    ...(capabilities.elicitation && {
      // A client that fails, is gone or sends something unexpected has not decided.
      ask: async question => {
        if (!canShow(capabilities, question)) return { action: 'decline', reason: CANNOT_SHOW }
        const asked = ask('elicitation/create', followedParams(question, request), question.signal)
        return asked.then(answerOf, () => ({ action: 'cancel' }) as const)
      },
    }),
    ...(capabilities.roots && { roots: ({ signal }) => ask('roots/list', {}, signal) }),
    ...(capabilities.sampling && {
      sample: (params, { signal }) => ask('sampling/createMessage', params, signal),
    }),
  }
}

/** A question for a client with a 2025 protocol, which is notified when a URL question is completed. */
function followedParams(question: Question, { session }: McpRequest) {
  const params = elicitParams(question)
  if (params.mode !== 'url') return params
  const { elicitationId } = params
  const tell = () => session?.notify('notifications/elicitation/complete', { elicitationId })
  void question.completed?.then(tell)
  return params
}

export const CANNOT_SHOW = 'the client cannot show it'

/** Whether a client can show this question. Clients that predate other modes support forms implicitly. */
export function canShow({ elicitation }: ClientCapabilities, { url }: Question): boolean {
  if (!elicitation) return false
  if (url !== undefined) return elicitation.url !== undefined
  return elicitation.form !== undefined || elicitation.url === undefined
}

/** A question as the params of `elicitation/create`. Without a schema, accepting is the whole answer. */
export function elicitParams({ message, schema, url, server }: Question) {
  const shown = server === undefined ? message : `${server}: ${message}`
  if (url !== undefined)
    return { mode: 'url' as const, message: shown, url, elicitationId: crypto.randomUUID() }
  const requestedSchema = schema ?? { type: 'object', properties: {} }
  return { mode: 'form' as const, message: shown, requestedSchema }
}

/** A client's answer; anything unexpected counts as `cancel`. */
export function answerOf(response: unknown): QuestionAnswer {
  const { action, content } = isRecord(response) ? response : {}
  if (action !== 'accept' && action !== 'decline') return { action: 'cancel' }
  return { action, ...(isRecord(content) && { content }) }
}

/** Logs to the client, at the level it asked for and above. A flood is cut: reading it would keep the client from its other calls. */
export function logTo(request: McpRequest): Caller['onLog'] {
  let [since, sent] = [0, 0]
  return message => {
    const lowest = logLevelOf(request)
    if (lowest === undefined || levelRank(message.level) < levelRank(lowest)) return
    const now = performance.now()
    if (now - since >= 1_000) [since, sent] = [now, 0]
    if (++sent <= MAX_LOGS_PER_SECOND) return request.notify('notifications/message', { ...message })
    if (sent > MAX_LOGS_PER_SECOND + 1) return
    const data = `More than ${MAX_LOGS_PER_SECOND} log messages in a second: the rest are left out`
    request.notify('notifications/message', { level: 'warning', logger: 'toolpost', data })
  }
}
