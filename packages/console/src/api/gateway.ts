import type {
  Approval,
  CallRecord,
  ConversationInfo,
  ConversationRecord,
  ModelInfo,
  OpenQuestion,
  Run,
  ServerStatus,
  ToolInfo,
  ToolResult,
} from 'toolpost/gateway'
import { ApiError, isAbort, isRecord, messageOf, queryOf, request, requestJson } from './http.ts'

/* The routes of the gateway, one function each. */

/** Tools called from this page may ask questions: the page shows them. */
const ASKABLE = { prefer: 'questions' }

const path = (...parts: string[]) => `/api/${parts.map(encodeURIComponent).join('/')}`
const listOf = <T>(value: unknown): T[] => (Array.isArray(value) ? value.filter(isRecord) : []) as T[]

export const listTools = async () =>
  listOf<ToolInfo>((await requestJson<{ tools: unknown }>('/api/tools')).tools)
export const listServers = async () =>
  listOf<ServerStatus>((await requestJson<{ servers: unknown }>('/api/servers')).servers)
export const listApprovals = async () =>
  listOf<Approval>((await requestJson<{ approvals: unknown }>('/api/approvals')).approvals)
export const listQuestions = async () =>
  listOf<OpenQuestion>((await requestJson<{ questions: unknown }>('/api/questions')).questions)
export const currentModel = () => requestJson<ModelInfo & { voice?: boolean }>('/api/model')
export const listModels = async () =>
  listOf<ModelInfo>((await requestJson<{ models: unknown }>('/api/models')).models)

/** The tools that fit the words best, best first. */
export async function rankTools(words: string, signal: AbortSignal): Promise<string[]> {
  const { tools } = await requestJson<{ tools: unknown }>(`/api/tools?${queryOf({ q: words })}`, { signal })
  return listOf<ToolInfo>(tools).map(({ name }) => name)
}

/** What the history is searched for; all of it by the gateway. */
export interface CallFilter {
  q?: string | undefined
  tool?: string | undefined
  server?: string | undefined
  outcome?: string | undefined
  origin?: string | undefined
  caller?: string | undefined
  /** `1h`, `7d` … */
  since?: string | undefined
  trace?: string | undefined
}

export interface CallPage {
  calls: CallRecord[]
  next?: string
}

/** Finished calls, newest first. */
export async function searchCalls(filter: CallFilter, limit: number, cursor?: string): Promise<CallPage> {
  const page = await requestJson<CallPage>(`/api/calls?${queryOf({ limit, cursor, ...filter })}`)
  return { ...page, calls: listOf<CallRecord>(page.calls) }
}

export const getCall = (serial: string) => requestJson<CallRecord>(path('calls', serial))
export const cancelCall = (serial: string) => request(path('calls', serial), { method: 'DELETE' })
export const exportCalls = async (filter: CallFilter) =>
  (await request(`/api/calls/export?${queryOf({ format: 'jsonl', ...filter })}`)).blob()

/** How a call from this page ended: with the gateway's result, or without one. */
export type CallOutcome =
  | { kind: 'result'; result: ToolResult }
  | { kind: 'cancelled'; afterMs: number }
  | { kind: 'failed'; message: string }

export interface CallRequest {
  /** This page's id for the call; its record has the same one. */
  id: string
  tool: string
  args: unknown
  timeoutMs?: number | undefined
  signal: AbortSignal
}

/** Never rejects. Aborting the signal cancels the call at the gateway. */
export async function callTool({ id, tool, args, timeoutMs, signal }: CallRequest): Promise<CallOutcome> {
  const startedAt = performance.now()
  try {
    const result = await requestJson<ToolResult>(path('tools', tool.toWellFormed(), 'call'), {
      method: 'POST',
      body: args ?? {},
      headers: {
        ...ASKABLE,
        'x-call-id': id,
        ...(timeoutMs !== undefined && { 'x-timeout-ms': String(timeoutMs) }),
      },
      signal,
    })
    return { kind: 'result', result }
  } catch (error) {
    if (isAbort(error)) return { kind: 'cancelled', afterMs: performance.now() - startedAt }
    if (error instanceof ApiError && isRecord(error.body) && 'success' in error.body)
      return { kind: 'result', result: error.body as unknown as ToolResult }
    return { kind: 'failed', message: messageOf(error) }
  }
}

/** A result that the gateway keeps for a while, unchanged. */
export const keptResult = async (handle: string) =>
  (await request(path('results', handle.replace('result://', '')))).blob()

/** The decision about a waiting call: for this one only, or for later ones too. */
export interface ApprovalDecision {
  decision: 'approve' | 'deny'
  remember?: 'session' | 'always' | undefined
  /** What a remembered decision covers; the tool if left out. */
  scope?: 'server' | undefined
}

export const decideApproval = (id: string, body: ApprovalDecision) =>
  request(path('approvals', id), { method: 'POST', body })

/** The answer to a tool's question. */
export interface QuestionAnswer {
  action: 'accept' | 'decline' | 'cancel'
  content?: unknown
}

export const answerQuestion = (id: string, body: QuestionAnswer) =>
  request(path('questions', id), { method: 'POST', body })

/** A tool whose definition is no longer the accepted one; `text` is the difference. */
export interface ChangedTool {
  server: string
  tool: string
  text: string
}

export const listChangedTools = async () =>
  listOf<ChangedTool>((await requestJson<{ changes: unknown }>('/api/pins')).changes)
export const acceptChangedTools = (server: string) =>
  request('/api/pins/accept', { method: 'POST', body: { server } })

export const changeServer = (name: string, verb: 'restart' | 'stop' | 'start') =>
  request(path('servers', name, verb), { method: 'POST' })

/** Starts a login; the page that the person must visit, if there is one. */
export const logIn = async (name: string) =>
  (await requestJson<{ url?: string }>(path('servers', name, 'login'), { method: 'POST' })).url

export interface NewServer {
  name: string
  entry: Record<string, unknown>
}

/** `check`: added only if it starts. */
export const addServer = (server: NewServer, check: boolean) =>
  requestJson<{ file: string; tools: string[] }>('/api/servers', {
    method: 'POST',
    body: { ...server, check },
  })

/** A server that another program on the gateway's machine has configured. */
export interface FoundServer extends NewServer {
  /** `Claude Desktop`, `Cursor` … */
  program: string
}

/** Empty if the gateway does not look for them. */
export async function foundServers(): Promise<FoundServer[]> {
  try {
    return listOf<FoundServer>((await requestJson<{ servers: unknown }>('/api/servers/found')).servers)
  } catch {
    return []
  }
}

/** A JSON-RPC message of a server's connection. */
export interface ServerMessage {
  seq: number
  /** Milliseconds since 1970, or an ISO time. */
  time: number | string
  direction: 'sent' | 'received'
  kind: 'request' | 'response' | 'error' | 'notification'
  method?: string
  id?: string | number
  duration_ms?: number
  bytes: number
  message: unknown
}

/** The messages after `after`; `undefined` if the gateway keeps none. */
export async function serverMessages(name: string, after: number): Promise<ServerMessage[] | undefined> {
  try {
    const { messages } = await requestJson<{ messages: unknown }>(
      `${path('servers', name, 'messages')}?after=${after}`,
    )
    return listOf<ServerMessage>(messages)
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}

/** A resource, a resource template or a prompt, as its server describes it. */
export interface Offer {
  name: string
  title?: string
  description?: string
  uri?: string
  uriTemplate?: string
  mimeType?: string
  arguments?: { name: string; description?: string; required?: boolean }[]
}

export async function listOffers(server: string): Promise<{ resources: Offer[]; prompts: Offer[] }> {
  const found = await requestJson<Record<string, unknown>>(path('servers', server, 'offers'))
  return {
    resources: [...listOf<Offer>(found.resources), ...listOf<Offer>(found.templates)],
    prompts: listOf<Offer>(found.prompts),
  }
}

export const readResource = async (uri: string) =>
  (await requestJson<{ contents: unknown }>('/api/resources/read', { method: 'POST', body: { uri } }))
    .contents
export const getPrompt = async (name: string, args: Record<string, string>) =>
  (
    await requestJson<{ messages: unknown }>('/api/prompts/get', {
      method: 'POST',
      body: { name, arguments: args },
    })
  ).messages

export interface ChatQuestion {
  message: string
  conversation?: string | undefined
  /** The turn that it replaces, counted from 0. */
  turn?: number | undefined
  /** Overrides the default model. */
  model?: string | undefined
}

/** The answer as server-sent events. */
export const openChat = (body: ChatQuestion, signal: AbortSignal) =>
  request('/api/chat', { method: 'POST', body, headers: ASKABLE, signal })
export const listConversations = async () =>
  listOf<ConversationInfo>(
    (await requestJson<{ conversations: unknown }>('/api/conversations')).conversations,
  )
export const getConversation = (id: string) => requestJson<ConversationRecord>(path('conversations', id))
export const renameConversation = (id: string, name: string) =>
  request(path('conversations', id), { method: 'PATCH', body: { name } })
export const removeConversation = (id: string) => request(path('conversations', id), { method: 'DELETE' })

/** The transcript of a WAV file. */
export const transcribe = async (wav: Uint8Array<ArrayBuffer>, signal: AbortSignal) =>
  (
    await requestJson<{ text: string }>('/api/transcriptions', {
      method: 'POST',
      body: wav,
      headers: { 'content-type': 'audio/wav' },
      signal,
    })
  ).text

/** Durable runs, newest first; `undefined` if durable calls are off. */
export async function listRuns(state: string | undefined, before?: string): Promise<Run[] | undefined> {
  try {
    const asked = queryOf({ state, before, limit: 50 })
    return listOf<Run>((await requestJson<{ runs: unknown }>(`/api/runs?${asked}`)).runs)
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}

export const getRun = (id: string) => requestJson<Run>(path('runs', id))
export const cancelRun = (id: string) => request(path('runs', id), { method: 'DELETE' })

/** The id of the new run. */
export async function runAgain(id: string): Promise<string | undefined> {
  const response = await request(`${path('runs', id)}/again`, { method: 'POST' })
  const last = (response.headers.get('location') ?? '').split('/').at(-1)
  return last ? decodeURIComponent(last) : undefined
}
