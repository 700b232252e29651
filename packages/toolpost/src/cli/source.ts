import { setTimeout as sleep } from 'node:timers/promises'
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
import type { BareContext } from './context.ts'
import { stop, unlessStopped } from './exit.ts'
import { type GatewayClient, NoGateway } from './gateway-client.ts'

/** What `tools`, `call` and `chat` work with: a project of this process, or the `toolpost up` of the same folder. */
export type Source = Omit<Awaited<ReturnType<typeof localSource>>, 'ready'> & { ready?(): unknown }
export type SourceContext<Words = unknown> = BareContext<Words> & { source: Source }

type CallOptions = Pick<RunOptions, 'repair' | 'timeoutMs' | 'onProgress'> & {
  key: string | undefined
  ask: Ask
}
type ToolsWanted = { name?: string | undefined; search?: string | undefined; isComplete: boolean }

/** How long a list for a person waits for unresponsive servers. */
const PATIENCE_MS = 2_000
const POLL_MS = 100
/** Not yet tried once. */
const isStarting = ({ state, error }: ServerStatus) => state === 'starting' && error === undefined

/** Its calls are recorded once the answer is printed, if there is a history. */
export async function localSource(project: Project) {
  const { tools, executor, client } = project
  await project.keepHistory({ lazy: true, unasked: false })
  return {
    /**
     * The tools, best match first, and the servers that are still starting. Waits for the named server or tool, else for the
     * servers that respond, or for all of them.
     */
    async tools({ name, search, isComplete }: ToolsWanted) {
      // The example's own server always starts.
      const limitMs = isComplete || project.file === undefined ? undefined : PATIENCE_MS
      if (name === undefined) await project.tried(undefined, limitMs)
      else if (Object.hasOwn(project.config.mcpServers ?? {}, name)) await project.tried(name)
      else if (name !== 'local') await project.waitForTool(name)
      const starting = project.status().servers.filter(isStarting)
      const { toolInfo } = await import('../gateway/tool-info.ts')
      const { searchOf } = search === undefined ? {} : await import('../tools/search/tool-search.ts')
      const found = (await searchOf?.(tools).search(search ?? '')) ?? tools.getTools()
      return { tools: found.map(tool => toolInfo(tool, tools)), starting: starting.map(({ name }) => name) }
    },
    /** The registered name of a tool, which may be given as `server__tool`; waits for its server. */
    nameOf: (given: string, timeoutMs?: number) => project.waitForTool(given, timeoutMs),
    /** With a key, or if the configuration says so, the call is durable. Stopping the command cancels it. */
    async call(call: ToolCall, { key, ...options }: CallOptions): Promise<ToolResult> {
      const given = { ...options, origin: 'cli' }
      if (project.isAlwaysDurable(call.name)) await unlessStopped(project.startDurable())
      if (key === undefined) return executor.run(call, { ...given, signal: stop.signal })
      const { openDurable } = await import('./durable.ts')
      const runs = await unlessStopped(openDurable(project))
      const accepted = await runs.accept(call, { ...given, key })
      if ('refused' in accepted) return accepted.refused
      void stop.first.then(() => runs.durable.cancel(accepted.id)).catch(() => {})
      return accepted.result
    },
    client,
    model: (): Promise<ModelInfo> => project.model(),
    ready: () => project.ready(),
  }
}

/** The running gateway. Rejects with NoGateway if it does not answer, or cannot know a name yet. */
export function remoteSource(gateway: GatewayClient): Source {
  const startingServers = async () => {
    const { servers } = await gateway.ask<{ servers: ServerStatus[] }>('/api/servers')
    return servers.filter(isStarting).map(({ name }) => name)
  }
  const list = async (query = '') => (await gateway.ask<{ tools: ToolInfo[] }>(`/api/tools${query}`)).tools
  return {
    async tools({ search, isComplete }) {
      const end = Date.now() + PATIENCE_MS
      let starting = await startingServers()
      while (starting.length > 0 && (isComplete || Date.now() < end)) {
        await sleep(POLL_MS)
        starting = await startingServers()
      }
      return { tools: await list(search && `?q=${encodeURIComponent(search)}`), starting }
    },
    async nameOf(given) {
      const wanted = given.replace('.', '__')
      const isMeant = ({ name, source }: ToolInfo) => [name, `${source}__${name}`].includes(wanted)
      if (wanted.includes('__') && (await startingServers()).length > 0)
        throw new NoGateway('A server is starting')
      const tools = wanted.includes('__') ? await list() : []
      return (tools.find(({ name }) => name === given) ?? tools.find(isMeant))?.name ?? given
    },
    call: (call, options) => callRemotely(gateway, call, options),
    client: remoteClient(gateway),
    model: () => gateway.ask<ModelInfo>('/api/model'),
  }
}

/** A quick call is over before it needs progress and questions. */
const WATCH_AFTER_MS = 150

async function callRemotely(
  gateway: GatewayClient,
  { name, args }: ToolCall,
  { repair, timeoutMs, key, ask, onProgress }: CallOptions,
): Promise<ToolResult> {
  const startedAt = performance.now()
  const id = `cli-${process.pid}-${Date.now().toString(36)}`
  const isOwn = ({ tool, origin = 'cli' }: Asked) => tool === name && origin === 'cli'
  const ignore = watch(gateway, { ask, isOwn, callId: id, onProgress, afterMs: WATCH_AFTER_MS })
  const headers = {
    ...{ 'x-call-id': id, 'x-toolpost-client': 'cli', prefer: `questions${repair ? ', repair' : ''}` },
    ...(timeoutMs !== undefined && { 'x-timeout-ms': String(timeoutMs) }),
    ...(key !== undefined && { 'idempotency-key': JSON.stringify(key) }),
  }
  try {
    const path = `/api/tools/${encodeURIComponent(name)}/call`
    const { status, body } = await gateway.request(path, { body: args, signal: stop.signal, headers })
    const { tool_call_id: _, ...result } = (body ?? {}) as ToolResult
    if (typeof result.success !== 'boolean') throw new Error(`the gateway answered ${status}`)
    return result as ToolResult
  } catch (error) {
    if (error instanceof NoGateway) throw error
    const lost = 'toolpost up stopped during the call, so its outcome is unknown'
    const failure = stop.signal.aborted
      ? ({ code: 'cancelled', error: `Tool '${name}' was cancelled` } as const)
      : ({ code: 'unavailable', error: `The ${name} service is unavailable: ${lost}` } as const)
    return { success: false, ...failure, tool_name: name, execution_time_ms: performance.now() - startedAt }
  } finally {
    ignore()
  }
}

type Asked = { id: string; tool?: string | undefined; origin?: string | undefined }
type Event = Asked & Progress & { serial: string; questions: OpenQuestion[]; approvals: Approval[] }

interface Watching {
  ask: Ask
  isOwn(asked: Asked): boolean
  afterMs?: number
  callId?: string
  onProgress?: ((progress: Progress) => void) | undefined
}

/** Puts the gateway's questions and approvals that are our own to the person at the terminal. Returns what ends this. */
function watch(gateway: GatewayClient, { ask, isOwn, afterMs, callId, onProgress }: Watching): () => void {
  const over = new AbortController()
  const { signal } = over
  const known = new Set<string>()
  const isNew = (asked: Asked) => isOwn(asked) && !known.has(asked.id) && known.add(asked.id)
  const answer = async (question: OpenQuestion) => {
    const { action, content } = await ask({ ...question, signal })
    await gateway.ask(`/api/questions/${question.id}`, { action, content })
  }
  const decide = async (approval: Approval) => {
    const { questionOf } = await import('../interceptors/approval.ts')
    const { action, reason } = await ask({ message: questionOf(approval), about: approval, signal })
    const decision = action === 'accept' ? 'approve' : 'deny'
    if (action !== 'cancel') await gateway.ask(`/api/approvals/${approval.id}`, { decision, reason })
  }
  const follow = async () => {
    let serial: string | undefined
    for await (const { type, data } of gateway.events('/api/events', { signal })) {
      const { id, serial: own, questions = [], approvals = [], ...progress } = data as Event
      if (type === 'call' && id === callId) serial = own
      if (type === 'progress' && own === serial) onProgress?.(progress)
      for (const question of questions.filter(isNew)) void answer(question).catch(() => {})
      for (const approval of approvals.filter(isNew)) void decide(approval).catch(() => {})
    }
  }
  const timer = setTimeout(() => void follow().catch(() => {}), afterMs)
  return () => {
    clearTimeout(timer)
    over.abort()
  }
}

/** Asks the gateway, which remembers the conversation. */
function remoteClient(gateway: GatewayClient): AiClient {
  let conversation: string | undefined
  return {
    async ask(prompt, { signal = stop.signal, ask, onToken, onStatus, onCall } = {}) {
      const messages = typeof prompt === 'string' ? [{ role: 'user' as const, content: prompt }] : [...prompt]
      const ignore = ask && watch(gateway, { ask, isOwn: ({ origin = 'chat' }) => origin === 'chat' })
      const body = { message: messages.at(-1)?.content, conversation }
      const request = { body, headers: { prefer: 'questions' }, signal }
      const results: ToolResult[] = []
      let end: ChatEnd | undefined
      try {
        for await (const { type, data } of gateway.events('/api/chat', request)) {
          const { phase, result, ...call } = data as ChatCall
          if (type === 'end') end = data as ChatEnd
          if (type === 'token') onToken?.((data as { text: string }).text)
          if (type === 'status') onStatus?.(data as ModelStatus)
          if (type === 'call' && phase === 'start') onCall?.({ type: 'start', call })
          if (type !== 'call' || !result) continue
          results.push(result)
          onCall?.({ type: 'end', call, result, durationMs: result.execution_time_ms })
        }
      } catch (error) {
        const isStopped = signal.aborted
        throw new ModelError(isStopped ? 'stopped' : 'unreachable', (error as Error).message)
      } finally {
        ignore?.()
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
