import type { ToolCall } from '../call/tool-call.ts'
import type { ToolResult } from '../call/tool-result.ts'
import type { RunOptions } from '../executor/options.ts'
import type { ChatCall, ChatEnd, ToolInfo } from '../gateway/api-types.ts'
import type { Approval } from '../interceptors/index.ts'
import type { ServerStatus } from '../mcp/index.ts'
import type { AiClient, Answer, AskOptions, ModelStatus } from '../models/ai-client.ts'
import { ModelError } from '../models/model-error.ts'
import type { ModelInfo } from '../project/model-choice.ts'
import type { Project } from '../project/project.ts'
import { type JsonSchema, jsonSchemaOf } from '../schema/json-schema.ts'
import { signatureOf } from '../schema/signature.ts'
import type { Ask, Question } from '../tools/caller.ts'
import type { Progress, Tool } from '../tools/tool.ts'
import { UsageError } from './exit-codes.ts'
import type { GatewayClient } from './gateway-client.ts'
import { unlessStopped } from './stop-signals.ts'

/** A tool as it is listed; `--json` prints these fields. */
export type ShownTool = Pick<
  ToolInfo,
  'name' | 'description' | 'source' | 'signature' | 'readOnly' | 'idempotent' | 'destructive'
> & { parameters: JsonSchema }

interface ToolsWanted {
  /** A server, or a tool: only that is waited for. */
  name?: string | undefined
  search?: string | undefined
  /** Whether slow servers are waited for as well. */
  isComplete: boolean
}

interface FoundTools {
  /** Best match first. */
  tools: ShownTool[]
  /** The names nearest to what was searched for in vain. */
  nearest?: string[] | undefined
  /** Servers whose tools are missing because they are still starting. */
  starting: string[]
}

type SourceCallOptions = Pick<RunOptions, 'repair' | 'timeoutMs' | 'onProgress'> & {
  key: string | undefined
  signal: AbortSignal
  ask: Ask
}

/** What answers a chat. */
export interface ChatSource {
  readonly client: AiClient
  /** The model that answers, chosen now if necessary. */
  model(): Promise<ModelInfo>
  models(): Promise<readonly ModelInfo[]>
  /** `undefined` for an unknown model. */
  clientOf(name: string): Promise<AiClient | undefined>
  /** Starts what tools need. */
  ready?(): unknown
}

/** What `tools`, `call` and `chat` work with: a project of this process, or the `toolpost up` of the same folder. */
export interface Source {
  tools(wanted: ToolsWanted): Promise<FoundTools>
  /** The registered name of a tool, which may be given as `server__tool`; waits for its server. */
  nameOf(given: string, timeoutMs: number | undefined): Promise<string>
  call(call: ToolCall, options: SourceCallOptions): Promise<ToolResult>
  /** With the model that is wanted, or the usual one. */
  chat(model?: string): Promise<ChatSource>
}

/** How long a list for a person waits for unresponsive servers. */
const PATIENCE_MS = 2_000

export function localSource(project: Project): Source {
  const { tools, executor } = project
  const shown = (tool: Tool): ShownTool => ({
    name: tool.name,
    description: tool.description ?? '',
    source: tools.originOf(tool)?.server ?? 'local',
    signature: signatureOf(tool),
    parameters: jsonSchemaOf(tool),
    ...(tool.readOnly !== undefined && { readOnly: tool.readOnly }),
    ...(tool.idempotent !== undefined && { idempotent: tool.idempotent }),
    ...(tool.destructive !== undefined && { destructive: tool.destructive }),
  })
  return {
    async tools({ name, search, isComplete }) {
      // The example's own server always starts.
      const limitMs = isComplete || project.file === undefined ? undefined : PATIENCE_MS
      if (name === undefined) await project.tried(undefined, limitMs)
      else if (Object.hasOwn(project.config.mcpServers ?? {}, name)) await project.tried(name)
      else if (name !== 'local') await project.waitForTool(name)
      const isStarting = ({ state, error }: ServerStatus) => state === 'starting' && error === undefined
      const starting = project.status().servers.filter(isStarting)
      const found = { tools: tools.getTools().map(shown), starting: starting.map(server => server.name) }
      if (search === undefined) return found
      const { searchOf } = await import('../tools/search/tool-search.ts')
      const matching = await searchOf(tools).search(search)
      const nearest = matching.length > 0 ? [] : await searchOf(tools).nearest(search, { limit: 3 })
      return { ...found, tools: matching.map(shown), nearest: nearest.map(tool => tool.name) }
    },
    nameOf: (given, timeoutMs) => project.waitForTool(given, timeoutMs),
    /** With a key, or if the configuration says so, the call is durable. Stopping the command cancels it. */
    async call(call, { key, signal, ...options }) {
      // Recorded once the answer is printed, if there is a history.
      await project.keepHistory({ lazy: true, unasked: false })
      const given = { ...options, origin: 'cli' }
      if (project.isAlwaysDurable(call.name)) await unlessStopped(project.startDurable(), signal)
      if (key === undefined) return executor.run(call, { ...given, signal })
      const { openDurable } = await import('./durable.ts')
      const runs = await unlessStopped(openDurable(project), signal)
      const accepted = await runs.accept(call, { ...given, key })
      if ('refused' in accepted) return accepted.refused
      const cancel = () => void runs.durable.cancel(accepted.id).catch(() => {})
      signal.addEventListener('abort', cancel, { once: true })
      return accepted.result.finally(() => signal.removeEventListener('abort', cancel))
    },
    async chat() {
      await project.keepHistory({ lazy: true, unasked: false })
      const { client, model, models, clientOf } = project
      return { client, model, models, clientOf, ready: () => project.ready() }
    },
  }
}

/** The running gateway; `undefined` if it does not answer, or while one of its servers is starting. */
export async function remoteSource(gateway: GatewayClient): Promise<Source | undefined> {
  const answer = await gateway.get('/api/servers').catch(() => ({ servers: [{ state: 'starting' }] }))
  if ((answer as { servers: ServerStatus[] }).servers.some(({ state }) => state === 'starting'))
    return undefined
  const listed = async (search?: string) => {
    const path = search === undefined ? '/api/tools' : `/api/tools?q=${encodeURIComponent(search)}`
    return (await gateway.get(path)) as { tools: ToolInfo[]; nearest?: string[] }
  }
  return {
    async tools({ search }) {
      const { tools, nearest } = await listed(search)
      const shown = ({
        schema,
        title,
        outputSchema,
        timeoutMs,
        sentences,
        rawDescription,
        ...tool
      }: ToolInfo) => ({
        ...tool,
        parameters: schema,
      })
      return { tools: tools.map(shown), nearest, starting: [] }
    },
    async nameOf(given) {
      const wanted = given.replace('.', '__')
      const isMeant = ({ name, source }: ToolInfo) => [name, `${source}__${name}`].includes(wanted)
      if (!wanted.includes('__')) return given
      const { tools } = await listed()
      return (tools.find(({ name }) => name === given) ?? tools.find(isMeant))?.name ?? given
    },
    call: (call, options) => callRemotely(gateway, call, options),
    async chat(wanted) {
      const { models } = (await gateway.get('/api/models')) as { models: ModelInfo[] }
      const usual = (await gateway.get('/api/model')) as ModelInfo
      const known = (name: string) => models.find(model => model.name === name)
      const model = wanted === undefined ? usual : known(wanted)
      if (!model) throw new UsageError(`The running toolpost up does not have the model '${wanted}'`)
      return {
        client: remoteClient(gateway, wanted),
        model: async () => model,
        models: async () => models,
        clientOf: async name => (known(name) ? remoteClient(gateway, name) : undefined),
      }
    },
  }
}

/** A quick call is over before it needs progress and questions. */
const WATCH_AFTER_MS = 150

async function callRemotely(
  gateway: GatewayClient,
  { name, args }: ToolCall,
  { repair, timeoutMs, key, signal, ask, onProgress }: SourceCallOptions,
): Promise<ToolResult> {
  const startedAt = performance.now()
  const id = `cli-${process.pid}-${Date.now().toString(36)}`
  const over = new AbortController()
  const failed = (code: 'cancelled' | 'unavailable', error: string): ToolResult => ({
    ...{ success: false, error, code, tool_name: name },
    execution_time_ms: performance.now() - startedAt,
  })
  let refusal: string | undefined
  const isOwn = ({ tool, origin = 'cli' }: Asked) => tool === name && origin === 'cli'
  const onRefused = (reason: string) => {
    refusal = reason
  }
  const watching = { ask, over: over.signal, isOwn, callId: id, onProgress, onRefused }
  const timer = setTimeout(() => void watch(gateway, watching).catch(() => {}), WATCH_AFTER_MS)
  try {
    const { status, body } = await gateway.request(`/api/tools/${encodeURIComponent(name)}/call`, {
      method: 'POST',
      body: args,
      signal,
      headers: {
        'x-call-id': id,
        'x-toolpost-client': 'cli',
        prefer: repair ? 'questions, repair' : 'questions',
        ...(timeoutMs !== undefined && { 'x-timeout-ms': String(timeoutMs) }),
        ...(key !== undefined && { 'idempotency-key': JSON.stringify(key) }),
      },
    })
    const { tool_call_id: _, ...result } = (body ?? {}) as ToolResult
    if (typeof result.success !== 'boolean') throw new Error(`the gateway answered ${status}`)
    if (result.success || result.code !== 'denied' || refusal === undefined) return result as ToolResult
    return { ...result, error: `Tool '${name}' was denied: ${refusal}` } as ToolResult
  } catch {
    if (signal.aborted) return failed('cancelled', `Tool '${name}' was cancelled`)
    const lost = 'toolpost up stopped during the call, so its outcome is unknown'
    return failed('unavailable', `The ${name} service is unavailable: ${lost}`)
  } finally {
    clearTimeout(timer)
    over.abort()
  }
}

interface Asked {
  id: string
  tool?: string | undefined
  origin?: string | undefined
}

interface Watching {
  ask: Ask
  /** Aborted when nothing more is of interest. */
  over: AbortSignal
  isOwn(asked: Asked): boolean
  /** The call whose progress is shown. */
  callId?: string
  onProgress?: ((progress: Progress) => void) | undefined
  /** Nobody could be asked. */
  onRefused?(reason: string): void
}

/** Puts the gateway's questions and approvals that are our own to the person at the terminal. Ends with `over`. */
async function watch(gateway: GatewayClient, watching: Watching): Promise<void> {
  const { ask, over, isOwn, callId, onProgress, onRefused } = watching
  const known = new Set<string>()
  const isNew = (asked: Asked) => isOwn(asked) && !known.has(asked.id) && known.add(asked.id)
  const answer = async (question: Question & Asked) => {
    const { action, content } = await ask({ ...question, signal: over })
    await gateway.post(`/api/questions/${question.id}`, { action, content })
  }
  const decide = async (approval: Approval) => {
    const { questionOf } = await import('../interceptors/approval.ts')
    const { id, tool, args } = approval
    const answer = await ask({ message: questionOf(approval), about: { tool, args }, signal: over })
    if (answer.action === 'cancel') return
    if (answer.reason !== undefined) onRefused?.(answer.reason)
    await gateway.post(`/api/approvals/${id}`, { decision: answer.action === 'accept' ? 'approve' : 'deny' })
  }
  let serial: string | undefined
  // As if it had been here before: then the gateway also sends the calls that are running.
  const headers = { 'last-event-id': '0' }
  for await (const { type, data } of gateway.events('/api/events', { signal: over, headers })) {
    const { id, serial: own, ...progress } = data as { id?: string; serial?: string } & Progress
    if (type === 'call' && id === callId) serial = own
    if (type === 'progress' && own === serial) onProgress?.(progress)
    const { questions = [], approvals = [] } = data as {
      questions?: (Question & Asked)[]
      approvals?: Approval[]
    }
    for (const question of questions.filter(isNew)) void answer(question).catch(() => {})
    for (const approval of approvals.filter(isNew)) void decide(approval).catch(() => {})
  }
}

/** Asks the gateway, which remembers the conversation. */
function remoteClient(gateway: GatewayClient, model: string | undefined): AiClient {
  let conversation: string | undefined
  return {
    async ask(prompt, options = {}) {
      const messages = typeof prompt === 'string' ? [{ role: 'user' as const, content: prompt }] : [...prompt]
      const over = new AbortController()
      const signal = options.signal ? AbortSignal.any([options.signal, over.signal]) : over.signal
      const isOwn = ({ origin = 'chat' }: Asked) => origin === 'chat'
      if (options.ask) void watch(gateway, { ask: options.ask, over: signal, isOwn }).catch(() => {})
      const results: ToolResult[] = []
      let end: ChatEnd | undefined
      try {
        const body = { message: messages.at(-1)?.content, conversation, model }
        const request = { method: 'POST', body, headers: { prefer: 'questions' }, signal } as const
        for await (const { type, data } of gateway.events('/api/chat', request)) {
          if (type === 'end') end = data as ChatEnd
          if (type === 'token') options.onToken?.((data as { text: string }).text)
          if (type === 'status') options.onStatus?.(data as ModelStatus)
          if (type === 'call') passOn(data as ChatCall, options, results)
        }
      } catch (error) {
        if (options.signal?.aborted) throw new ModelError('stopped', 'Stopped')
        throw new ModelError('unreachable', (error as Error).message)
      } finally {
        over.abort()
      }
      if (!end || end.stopReason === 'error' || end.stopReason === 'stopped')
        throw new ModelError('server_error', end?.error ?? 'toolpost up stopped during the answer')
      conversation = end.conversation
      const { text, stopReason, usage, iterations = 1 } = end
      const answered = [...messages, { role: 'assistant' as const, content: text }] as Answer['messages']
      return { text, messages: answered, results, iterations, stopReason, usage } as Answer
    },
  }
}

function passOn({ phase, result, ...rest }: ChatCall, { onCall }: AskOptions, results: ToolResult[]): void {
  const call = rest as ToolCall
  if (phase === 'start') onCall?.({ type: 'start', call })
  if (!result) return
  results.push(result)
  onCall?.({ type: 'end', call, result, durationMs: result.execution_time_ms })
}
