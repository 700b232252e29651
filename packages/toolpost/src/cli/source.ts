import type { ToolCall } from '../call/tool-call.ts'
import type { ToolResult } from '../call/tool-result.ts'
import type { RunOptions } from '../executor/options.ts'
import type { ChatCall, ChatEnd, OpenQuestion, ToolInfo } from '../gateway/api-types.ts'
import type { Approval } from '../interceptors/index.ts'
import type { ServerStatus } from '../mcp/index.ts'
import type { AiClient, Answer, ModelStatus } from '../models/ai-client.ts'
import { ModelError } from '../models/model-error.ts'
import type { ModelInfo } from '../project/model-choice.ts'
import type { Project } from '../project/project.ts'
import type { Ask } from '../tools/caller.ts'
import type { Progress } from '../tools/tool.ts'
import { UsageError, unlessStopped } from './exit.ts'
import type { GatewayClient } from './gateway-client.ts'

/** What is wanted of `tools`: waits for a server or a tool, or else for the servers that respond, or for all of them. */
interface ToolsWanted {
  name?: string | undefined
  search?: string | undefined
  isComplete: boolean
}

type CallOptions = Pick<RunOptions, 'repair' | 'timeoutMs' | 'onProgress'> & {
  key: string | undefined
  signal: AbortSignal
  ask: Ask
}

/** What answers a chat; `ready` starts what tools need. */
export interface ChatSource {
  client: AiClient
  model(): Promise<ModelInfo>
  ready?(): unknown
}

/** What `tools`, `call` and `chat` work with: a project of this process, or the `toolpost up` of the same folder. */
export interface Source {
  /** The tools, best match first, and the servers that are still starting. */
  tools(wanted: ToolsWanted): Promise<{ tools: ToolInfo[]; starting: string[] }>
  /** The registered name of a tool, which may be given as `server__tool`; waits for its server. */
  nameOf(given: string, timeoutMs: number | undefined): Promise<string>
  call(call: ToolCall, options: CallOptions): Promise<ToolResult>
  chat(model?: string): Promise<ChatSource>
}

/** How long a list for a person waits for unresponsive servers. */
const PATIENCE_MS = 2_000

export function localSource(project: Project): Source {
  const { tools, executor } = project
  // Recorded once the answer is printed, if there is a history.
  const keepHistory = () => project.keepHistory({ lazy: true, unasked: false })
  return {
    async tools({ name, search, isComplete }) {
      // The example's own server always starts.
      const limitMs = isComplete || project.file === undefined ? undefined : PATIENCE_MS
      if (name === undefined) await project.tried(undefined, limitMs)
      else if (Object.hasOwn(project.config.mcpServers ?? {}, name)) await project.tried(name)
      else if (name !== 'local') await project.waitForTool(name)
      const isStarting = ({ state, error }: ServerStatus) => state === 'starting' && error === undefined
      const starting = project.status().servers.filter(isStarting)
      const { toolInfo } = await import('../gateway/tool-info.ts')
      const { searchOf } = search === undefined ? {} : await import('../tools/search/tool-search.ts')
      const found = (await searchOf?.(tools).search(search ?? '')) ?? tools.getTools()
      return { tools: found.map(tool => toolInfo(tool, tools)), starting: starting.map(({ name }) => name) }
    },
    nameOf: (given, timeoutMs) => project.waitForTool(given, timeoutMs),
    /** With a key, or if the configuration says so, the call is durable. Stopping the command cancels it. */
    async call(call, { key, signal, ...options }) {
      await keepHistory()
      const given = { ...options, origin: 'cli' }
      if (project.isAlwaysDurable(call.name)) await unlessStopped(project.startDurable(), { signal })
      if (key === undefined) return executor.run(call, { ...given, signal })
      const { openDurable } = await import('./durable.ts')
      const runs = await unlessStopped(openDurable(project), { signal })
      const accepted = await runs.accept(call, { ...given, key })
      if ('refused' in accepted) return accepted.refused
      const cancel = () => void runs.durable.cancel(accepted.id).catch(() => {})
      signal.addEventListener('abort', cancel, { once: true })
      return accepted.result.finally(() => signal.removeEventListener('abort', cancel))
    },
    async chat() {
      await keepHistory()
      return { client: project.client, model: project.model, ready: () => project.ready() }
    },
  }
}

/** The running gateway; `undefined` if it does not answer, or while one of its servers is starting. */
export async function remoteSource(gateway: GatewayClient): Promise<Source | undefined> {
  const answer = await gateway.ask<{ servers: ServerStatus[] }>('/api/servers').catch(() => undefined)
  if (!answer || answer.servers.some(({ state }) => state === 'starting')) return undefined
  const list = async (query = '') => (await gateway.ask<{ tools: ToolInfo[] }>(`/api/tools${query}`)).tools
  return {
    async tools({ search }) {
      return { tools: await list(search && `?q=${encodeURIComponent(search)}`), starting: [] }
    },
    async nameOf(given) {
      const wanted = given.replace('.', '__')
      const isMeant = ({ name, source }: ToolInfo) => [name, `${source}__${name}`].includes(wanted)
      const tools = wanted.includes('__') ? await list() : []
      return (tools.find(({ name }) => name === given) ?? tools.find(isMeant))?.name ?? given
    },
    call: (call, options) => callRemotely(gateway, call, options),
    async chat(wanted) {
      const { models } = await gateway.ask<{ models: ModelInfo[] }>('/api/models')
      const usual = await gateway.ask<ModelInfo>('/api/model')
      const model = wanted === undefined ? usual : models.find(({ name }) => name === wanted)
      if (!model) throw new UsageError(`The running toolpost up does not have the model '${wanted}'`)
      return { client: remoteClient(gateway, wanted), model: async () => model }
    },
  }
}

/** A quick call is over before it needs progress and questions. */
const WATCH_AFTER_MS = 150

async function callRemotely(
  gateway: GatewayClient,
  { name, args }: ToolCall,
  { repair, timeoutMs, key, signal, ask, onProgress }: CallOptions,
): Promise<ToolResult> {
  const startedAt = performance.now()
  const id = `cli-${process.pid}-${Date.now().toString(36)}`
  const over = new AbortController()
  const isOwn = ({ tool, origin = 'cli' }: Asked) => tool === name && origin === 'cli'
  const watched = { ask, over: over.signal, isOwn, callId: id, onProgress }
  const timer = setTimeout(() => void watch(gateway, watched).catch(() => {}), WATCH_AFTER_MS)
  const headers = {
    ...{ 'x-call-id': id, 'x-toolpost-client': 'cli', prefer: `questions${repair ? ', repair' : ''}` },
    ...(timeoutMs !== undefined && { 'x-timeout-ms': String(timeoutMs) }),
    ...(key !== undefined && { 'idempotency-key': JSON.stringify(key) }),
  }
  try {
    const path = `/api/tools/${encodeURIComponent(name)}/call`
    const { status, body } = await gateway.request(path, { body: args, signal, headers })
    const { tool_call_id: _, ...result } = (body ?? {}) as ToolResult
    if (typeof result.success !== 'boolean') throw new Error(`the gateway answered ${status}`)
    return result as ToolResult
  } catch {
    const lost = 'toolpost up stopped during the call, so its outcome is unknown'
    const failure = signal.aborted
      ? ({ code: 'cancelled', error: `Tool '${name}' was cancelled` } as const)
      : ({ code: 'unavailable', error: `The ${name} service is unavailable: ${lost}` } as const)
    return { success: false, ...failure, tool_name: name, execution_time_ms: performance.now() - startedAt }
  } finally {
    clearTimeout(timer)
    over.abort()
  }
}

type Asked = { id: string; tool?: string | undefined; origin?: string | undefined }

interface Watching {
  ask: Ask
  /** Aborted when nothing more is of interest. */
  over: AbortSignal
  isOwn(asked: Asked): boolean
  /** The call whose progress is shown. */
  callId?: string
  onProgress?: ((progress: Progress) => void) | undefined
}

/** Puts the gateway's questions and approvals that are our own to the person at the terminal. Ends with `over`. */
async function watch(
  gateway: GatewayClient,
  { ask, over: signal, isOwn, callId, onProgress }: Watching,
): Promise<void> {
  const known = new Set<string>()
  const isNew = (asked: Asked) => isOwn(asked) && !known.has(asked.id) && known.add(asked.id)
  const answer = async (question: OpenQuestion) => {
    const { action, content } = await ask({ ...question, signal })
    await gateway.ask(`/api/questions/${question.id}`, { action, content })
  }
  const decide = async (approval: Approval) => {
    const { questionOf } = await import('../interceptors/approval.ts')
    const { id, tool, args } = approval
    const { action, reason } = await ask({ message: questionOf(approval), about: { tool, args }, signal })
    const decision = action === 'accept' ? 'approve' : 'deny'
    if (action !== 'cancel') await gateway.ask(`/api/approvals/${id}`, { decision, reason })
  }
  let serial: string | undefined
  for await (const { type, data } of gateway.events('/api/events', { signal })) {
    const {
      id,
      serial: own,
      questions = [],
      approvals = [],
      ...progress
    } = data as Partial<
      Asked & Progress & { serial: string; questions: OpenQuestion[]; approvals: Approval[] }
    >
    if (type === 'call' && id === callId) serial = own
    if (type === 'progress' && own === serial) onProgress?.(progress as Progress)
    for (const question of questions.filter(isNew)) void answer(question).catch(() => {})
    for (const approval of approvals.filter(isNew)) void decide(approval).catch(() => {})
  }
}

/** Asks the gateway, which remembers the conversation. */
function remoteClient(gateway: GatewayClient, model: string | undefined): AiClient {
  let conversation: string | undefined
  return {
    async ask(prompt, { signal: given, ask, onToken, onStatus, onCall } = {}) {
      const messages = typeof prompt === 'string' ? [{ role: 'user' as const, content: prompt }] : [...prompt]
      const over = new AbortController()
      const signal = given ? AbortSignal.any([given, over.signal]) : over.signal
      const isOwn = ({ origin = 'chat' }: Asked) => origin === 'chat'
      if (ask) void watch(gateway, { ask, over: signal, isOwn }).catch(() => {})
      const results: ToolResult[] = []
      let end: ChatEnd | undefined
      try {
        const body = { message: messages.at(-1)?.content, conversation, model }
        const request = { body, headers: { prefer: 'questions' }, signal }
        for await (const { type, data } of gateway.events('/api/chat', request)) {
          if (type === 'end') end = data as ChatEnd
          if (type === 'token') onToken?.((data as { text: string }).text)
          if (type === 'status') onStatus?.(data as ModelStatus)
          const { phase, result, ...call } = data as ChatCall
          if (type === 'call' && phase === 'start') onCall?.({ type: 'start', call })
          if (type !== 'call' || !result) continue
          results.push(result)
          onCall?.({ type: 'end', call, result, durationMs: result.execution_time_ms })
        }
      } catch (error) {
        if (given?.aborted) throw new ModelError('stopped', 'Stopped')
        throw new ModelError('unreachable', (error as Error).message)
      } finally {
        over.abort()
      }
      if (!end || end.stopReason === 'error' || end.stopReason === 'stopped')
        throw new ModelError('server_error', end?.error ?? 'toolpost up stopped during the answer')
      conversation = end.conversation
      const { text, stopReason, usage, iterations = 1 } = end
      const answered = [...messages, { role: 'assistant' as const, content: text }] as Answer['messages']
      return { text, messages: answered, results, iterations, stopReason, usage }
    },
  }
}
