import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ToolCall } from '../call/tool-call.ts'
import type { ToolResult } from '../call/tool-result.ts'
import { cancelled, unavailable } from '../executor/failure.ts'
import type { RunOptions } from '../executor/options.ts'
import type { ChatCall, ChatEnd, OpenQuestion, ToolInfo } from '../gateway/api-types.ts'
import type { Approval } from '../interceptors/index.ts'
import type { ServerStatus } from '../mcp/index.ts'
import type { Answer, AskOptions, ConversationMessage, ModelStatus } from '../models/ai-client.ts'
import { ModelError } from '../models/model-error.ts'
import { digestOf, readToken, runningGateway as runningIn, stateFolder } from '../project/local-state.ts'
import type { ModelInfo } from '../project/model-choice.ts'
import type { Project } from '../project/project.ts'
import type { Ask } from '../tools/caller.ts'
import type { Progress } from '../tools/tool.ts'
import type { Context, ProjectSettings } from './context.ts'
import { stop, UsageError, unlessStopped } from './process.ts'

/** What `tools`, `call` and `chat` work with: a project of this process, or the `toolpost up` of the same folder. */
type Source = Awaited<ReturnType<typeof localSource>>
export type AskSource = Source['ask']

type CallOptions = Pick<RunOptions, 'repair' | 'timeoutMs' | 'onProgress'> & {
  key?: string | undefined
  ask: Ask
}
type ChatOptions = AskOptions & { signal: AbortSignal; ask: Ask }
type ToolsWanted = { name: string | undefined; search: string | undefined; isComplete: boolean }

/** How long a list for a person waits for unresponsive servers. */
const PATIENCE_MS = 2_000
const POLL_MS = 100
const REQUEST_MS = 10_000
/** A quick call is over before it needs progress and questions. */
const WATCH_AFTER_MS = 150
const INSTRUCTIONS =
  'You are the assistant of this home. Use the tools for what they can do or know, instead of guessing. ' +
  'Answer in one or two short sentences.'

/** Whether a server has not been tried once. */
export const isStarting = ({ state, error }: ServerStatus): boolean => state === 'starting' && !error

/** Whether a tool is meant by `tool`, `server__tool` or `server.tool`. */
export const isNamed = (given: string) => (tool: ToolInfo) =>
  [tool.name, `${tool.source}__${tool.name}`, `${tool.source}.${tool.name}`].includes(given)

/** Whoever wants to see the log, or another model, wants it from this process. */
export async function openSource(
  { flags, open }: Context,
  { isAlone = false, ...settings }: ProjectSettings & { isAlone?: boolean } = {},
): Promise<Source> {
  const isOwn = isAlone || flags.logLevel !== undefined
  const gateway = isOwn ? undefined : await runningGateway(flags.config)
  return gateway ? remoteSource(gateway) : localSource(await open(settings))
}

/** Its calls are recorded once the answer is printed, if there is a history. */
async function localSource(project: Project) {
  const { tools, executor, client } = project
  let messages: ConversationMessage[] = [{ role: 'system', content: INSTRUCTIONS }]
  await project.keepHistory({ lazy: true, unasked: false })
  return {
    /** Waits for the named server or tool, else for the servers that respond, or for all. Tools: best match first. */
    async tools({ name, search, isComplete }: ToolsWanted) {
      const isServer = name !== undefined && Object.hasOwn(project.config.mcpServers ?? {}, name)
      // The example's own server always starts.
      const isPatient = isComplete || isServer || project.file === undefined
      if (isServer || name === undefined) await project.tried(name, isPatient ? undefined : PATIENCE_MS)
      else if (name !== 'local') await project.waitForTool(name)
      const { toolInfo } = await import('../gateway/tool-info.ts')
      const { searchOf } = search === undefined ? {} : await import('../tools/search/tool-search.ts')
      const found = (await searchOf?.(tools).search(search ?? '')) ?? tools.getTools()
      return { tools: found.map(tool => toolInfo(tool, tools)), servers: project.status().servers }
    },
    /** The registered name of a tool, which may be given as `server__tool`; waits for its server. */
    nameOf: (given: string, timeoutMs?: number) => project.waitForTool(given, timeoutMs),
    /** With a key, or if the configuration says so, the call is durable. Stopping the command cancels it. */
    async call(call: ToolCall, { key, ...options }: CallOptions): Promise<ToolResult> {
      const given = { ...options, origin: 'cli' }
      if (project.isAlwaysDurable(call.name)) await unlessStopped(project.startDurable())
      if (key === undefined) return executor.run(call, { ...given, signal: stop.signal })
      const { openDurable } = await import('./records.ts')
      const runs = await unlessStopped(openDurable(project))
      const accepted = await runs.accept(call, { ...given, key })
      if ('refused' in accepted) return accepted.refused
      void stop.first.then(() => runs.durable.cancel(accepted.id)).catch(() => {})
      return accepted.result
    },
    /** The next question of a conversation, in which complete answers are remembered. */
    async ask(question: string, options: ChatOptions): Promise<Omit<Answer, 'messages'>> {
      const answer = await client.ask([...messages, { role: 'user', content: question }], options)
      messages = answer.messages
      return answer
    },
    model: (): Promise<ModelInfo> => project.model(),
    /** Starts the servers while the first question is typed. */
    prepare: () => void project.ready(),
  }
}

/** The running gateway. */
function remoteSource(gateway: GatewayClient): Source {
  let conversation: string | undefined
  /** Waits for the named server, or else for all of them within the limit. */
  const tried = async (limitMs = Number.POSITIVE_INFINITY, name = '') => {
    for (const end = Date.now() + limitMs; ; await sleep(POLL_MS)) {
      const { servers } = await gateway.ask<{ servers: ServerStatus[] }>('/api/servers')
      const starting = servers.filter(isStarting)
      const isOver = Date.now() > end && !starting.some(each => each.name === name)
      if (starting.length === 0 || isOver) return servers
    }
  }
  const list = async (query = '') => (await gateway.ask<{ tools: ToolInfo[] }>(`/api/tools${query}`)).tools
  return {
    async tools({ name, search, isComplete }) {
      const servers = await tried(isComplete ? undefined : PATIENCE_MS, name)
      return { tools: await list(search && `?q=${encodeURIComponent(search)}`), servers }
    },
    async nameOf(given, timeoutMs) {
      if (!/__|\./.test(given)) return given
      await tried(timeoutMs)
      const tools = await list()
      return (tools.find(({ name }) => name === given) ?? tools.find(isNamed(given)))?.name ?? given
    },
    async call({ name, args: body }, { repair, timeoutMs, key, ask, onProgress }) {
      const startedAt = performance.now()
      const id = `cli-${process.pid}-${Date.now().toString(36)}`
      const headers = {
        'x-call-id': id,
        prefer: `questions${repair ? ', repair' : ''}`,
        ...(timeoutMs !== undefined && { 'x-timeout-ms': String(timeoutMs) }),
        ...(key !== undefined && { 'idempotency-key': JSON.stringify(key) }),
      }
      const unwatch = watch(gateway, { origin: 'cli', tool: name, id, ask, onProgress })
      const path = `/api/tools/${encodeURIComponent(name)}/call`
      const asked = gateway.request(path, { body, signal: stop.signal, headers }).finally(unwatch)
      const answer = await asked.catch(() => undefined)
      const { tool_call_id: _, ...result } = answer?.body ?? {}
      if (typeof result.success === 'boolean') return result
      if (answer) throw new UsageError(result.error ?? `the gateway answered ${answer.status}`)
      const lost = 'toolpost up stopped during the call, so its outcome is unknown'
      const { code, error } = stop.signal.aborted ? cancelled(name) : unavailable(name, lost)
      const execution_time_ms = performance.now() - startedAt
      return { success: false, error, code, tool_name: name, execution_time_ms }
    },
    async ask(message, { signal, ask, onToken, onStatus, onCall }) {
      const request = { body: { message, conversation }, headers: { prefer: 'questions' }, signal }
      const results: ToolResult[] = []
      let end: ChatEnd | undefined
      const unwatch = watch(gateway, { origin: 'chat', ask })
      try {
        for await (const { type, data } of gateway.events('/api/chat', request)) {
          const { phase, result, ...call } = data as ChatCall
          if (type === 'end') end = data as ChatEnd
          else if (type === 'token') onToken?.((data as { text: string }).text)
          else if (type === 'status') onStatus?.(data as ModelStatus)
          else if (type === 'call' && phase === 'start') onCall?.({ type: 'start', call })
          else if (type === 'call' && result && results.push(result))
            onCall?.({ type: 'end', call, result, durationMs: result.execution_time_ms })
        }
      } catch (error) {
        throw new ModelError(signal.aborted ? 'stopped' : 'unreachable', (error as Error).message)
      } finally {
        unwatch()
      }
      if (!end || end.stopReason === 'error' || end.stopReason === 'stopped')
        throw new ModelError('server_error', end?.error ?? 'toolpost up stopped during the answer')
      conversation = end.conversation
      return { ...end, stopReason: end.stopReason, results, iterations: end.iterations ?? 1 }
    },
    model: () => gateway.ask<ModelInfo>('/api/model'),
    prepare: () => {},
  }
}

type Asked = (OpenQuestion | Approval) & { origin?: string | undefined }
type Event = Progress & { id: string; serial: string; questions: OpenQuestion[]; approvals: Approval[] }
/** A call, or the calls of a chat. */
type Own = Pick<CallOptions, 'ask' | 'onProgress'> & { origin: string; tool?: string; id?: string }

/** Puts the gateway's questions and approvals that are our own to the person at the terminal. Returns what ends this. */
function watch(gateway: GatewayClient, own: Own): () => void {
  const over = new AbortController()
  const { signal } = over
  const known = new Set<string>()
  const isNew = ({ id, tool, origin = own.origin }: Asked) =>
    origin === own.origin && (own.tool ?? tool) === tool && !known.has(id) && known.add(id)
  const put = async (asked: Asked) => {
    const { questionOf } = await import('../interceptors/approval.ts')
    const { answerProblem } = await import('../tools/caller.ts')
    const question = 'message' in asked ? asked : { message: questionOf(asked), about: asked }
    const { schema } = question as Partial<OpenQuestion>
    const check = async (content: object) => (schema ? answerProblem(schema, content) : undefined)
    const { action, content, reason } = await own.ask({ ...question, check, signal })
    const decision = action === 'accept' ? 'approve' : 'deny'
    if ('message' in asked) await gateway.ask(`/api/questions/${asked.id}`, { action, content })
    else if (action !== 'cancel') await gateway.ask(`/api/approvals/${asked.id}`, { decision, reason })
  }
  const follow = async () => {
    let serial: string | undefined
    for await (const { type, data } of gateway.events('/api/events', { signal })) {
      const { id, serial: running, questions = [], approvals = [], ...progress } = data as Event
      if (type === 'call' && id === own.id) serial = running
      if (type === 'progress' && running === serial) own.onProgress?.(progress)
      for (const asked of [...questions, ...approvals].filter(isNew)) void put(asked).catch(() => {})
    }
  }
  const timer = setTimeout(() => void follow().catch(() => {}), WATCH_AFTER_MS)
  return () => {
    clearTimeout(timer)
    over.abort()
  }
}

/** The `toolpost up` that runs this configuration, if there is one and its token is known without reading the file. */
export async function runningGateway(
  config = 'toolpost.json',
  chosen = process.env.TOOLPOST_TOKEN,
): Promise<GatewayClient | undefined> {
  const file = resolve(config)
  const running = runningIn(stateFolder(file))
  if (running?.config !== file) return undefined
  const { url, tokenDigest: digest } = running
  // A token is sent only to the gateway that it belongs to: the note may come from somebody else.
  const known = digest ? [chosen, readToken(stateFolder(file))] : []
  const token = known.find(each => each && digestOf(each) === digest)
  if (digest && !token) return undefined
  const gateway = gatewayAt(url, token)
  // One that was killed leaves its note behind.
  return gateway.ask('/healthz').then(
    () => gateway,
    () => undefined,
  )
}

interface RequestOptions {
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
}

type GatewayClient = ReturnType<typeof gatewayAt>

/** Talks to a running gateway, as its owner. Node's `http`, because loading `fetch` takes longer than most calls. */
function gatewayAt(address: string, token?: string) {
  const base = address.replace(/\/$/, '')
  const send = async (path: string, { body, headers: given, signal }: RequestOptions) => {
    const { request } = await import('node:http')
    const headers = {
      ...given,
      'x-toolpost-client': 'cli',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    }
    const outgoing = request(base + path, { method: body === undefined ? 'GET' : 'POST', signal, headers })
    // Once there is a response, it reports the errors.
    outgoing.on('error', () => {}).end(body === undefined ? undefined : JSON.stringify(body))
    const [response] = await once(outgoing, 'response').catch(cause => {
      throw new UsageError(`No gateway at ${base}: start it with \`toolpost up\``, { cause })
    })
    return (response as IncomingMessage).setEncoding('utf8')
  }
  const request = async (path: string, options: RequestOptions) => {
    const response = await send(path, options)
    let text = ''
    for await (const chunk of response) text += chunk
    const isJson = response.headers['content-type']?.includes('json') === true
    return { status: response.statusCode ?? 0, body: isJson ? JSON.parse(text) : undefined }
  }
  return {
    request,
    /** GET, or POST with a body. Rejects with a UsageError that says what is wrong. */
    async ask<T>(path: string, given?: object): Promise<T> {
      const { status, body } = await request(path, { body: given, signal: AbortSignal.timeout(REQUEST_MS) })
      if (status >= 200 && status < 300) return body as T
      throw new UsageError(body?.error ?? `${base} answered ${status}`)
    },
    /** The events of a stream. Rejects with a UsageError if the answer is none. */
    async *events(path: string, options: RequestOptions): AsyncGenerator<{ type: string; data: unknown }> {
      const response = await send(path, options)
      if (response.statusCode !== 200) throw new UsageError(`${base} answered ${response.statusCode}`)
      let text = ''
      for await (const chunk of response) {
        const parts = (text + chunk).split('\n\n')
        text = parts.pop() ?? ''
        for (const part of parts) {
          const [, type, data = ''] = /^event: (.*)\ndata: (.*)$/.exec(part) ?? []
          if (type !== undefined) yield { type, data: JSON.parse(data) }
        }
      }
    },
  }
}
