import type { Prompt, Resource, ResourceTemplateType } from '@modelcontextprotocol/client'
import type { QuestionAnswer } from 'toolpost'
import type {
  CallPage,
  CallRecord,
  ConversationRecord,
  ModelInfo,
  Run,
  ToolInfo,
  ToolResult,
} from 'toolpost/gateway'
import type { Decision, PinChange } from 'toolpost/interceptors'
import type { LoggedMessage } from 'toolpost/mcp'
import { ApiError, isAbort, isRecord, messageOf, queryOf, request, requestJson } from './http.ts'

/* The routes of the gateway, one function each. */

/** Tools called from this page may ask questions: the page shows them. */
const ASKABLE = { prefer: 'questions' }

const path = (...parts: string[]) => `/api/${parts.map(encodeURIComponent).join('/')}`

/** What `/api/<name>` lists, which its answer has under the same name: `tools`, `servers` … */
export async function listOf<Entry>(name: string): Promise<Entry[]> {
  return (await requestJson<Record<string, Entry[]>>(path(name)))[name] ?? []
}

export const currentModel = () => requestJson<ModelInfo & { voice: boolean }>('/api/model')

/** The names of the tools that fit the words best, best first. */
export async function rankTools(words: string, signal: AbortSignal): Promise<string[]> {
  const asked = queryOf({ q: words })
  const { tools } = await requestJson<{ tools: ToolInfo[] }>(`/api/tools?${asked}`, { signal })
  return tools.map(({ name }) => name)
}

type FilterField = 'q' | 'tool' | 'server' | 'outcome' | 'origin' | 'caller' | 'since' | 'trace'

/** What the history is searched for; all of it by the gateway. `since` is a duration: `1h`, `7d` … */
export type CallFilter = Partial<Record<FilterField, string | undefined>>

/** Finished calls, newest first. */
export const searchCalls = (filter: CallFilter, limit: number, cursor?: string) =>
  requestJson<CallPage<CallRecord>>(`/api/calls?${queryOf({ limit, cursor, ...filter })}`)

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
export type ApprovalDecision = Pick<Decision, 'remember' | 'scope'> & { decision: 'approve' | 'deny' }

export const decideApproval = (id: string, body: ApprovalDecision) => request(path('approvals', id), { body })

export const answerQuestion = (id: string, body: QuestionAnswer) => request(path('questions', id), { body })

/** Tools whose definition is no longer the accepted one; `text` is the difference. */
export const listChangedTools = async () =>
  (await requestJson<{ changes: (PinChange & { text: string })[] }>('/api/pins')).changes
export const acceptChangedTools = (server: string) => request('/api/pins/accept', { body: { server } })

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
export const addServer = ({ name, entry }: NewServer, check: boolean) =>
  requestJson<{ file: string; tools: string[] }>('/api/servers', { body: { name, entry, check } })

/** A server that another program on the gateway's machine has configured. */
export interface FoundServer extends NewServer {
  /** `Claude Desktop`, `Cursor` … */
  program: string
}

export const foundServers = async () =>
  (await requestJson<{ servers: FoundServer[] }>('/api/servers/found')).servers

/** The JSON-RPC messages of a server's connection after the one with the number `after`. */
export const serverMessages = async (name: string, after: number) =>
  (await requestJson<{ messages: LoggedMessage[] }>(`${path('servers', name, 'messages')}?after=${after}`))
    .messages

/** A resource, a resource template or a prompt, as its server describes it. */
export type Offer = Pick<Prompt, 'name'> & Partial<Resource & ResourceTemplateType & Prompt>

export const listOffers = (server: string) =>
  requestJson<Record<'resources' | 'templates' | 'prompts', Offer[]>>(path('servers', server, 'offers'))

export const readResource = async (uri: string) =>
  (await requestJson<{ contents: unknown }>('/api/resources/read', { body: { uri } })).contents
export async function getPrompt(name: string, args: Record<string, string>): Promise<unknown> {
  const body = { name, arguments: args }
  return (await requestJson<{ messages: unknown }>('/api/prompts/get', { body })).messages
}

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
  request('/api/chat', { body, headers: ASKABLE, signal })
export const getConversation = (id: string) => requestJson<ConversationRecord>(path('conversations', id))
export const renameConversation = (id: string, name: string) =>
  request(path('conversations', id), { method: 'PATCH', body: { name } })
export const removeConversation = (id: string) => request(path('conversations', id), { method: 'DELETE' })

/** The transcript of a WAV file. */
export async function transcribe(wav: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<string> {
  const sent = { body: wav, headers: { 'content-type': 'audio/wav' }, signal }
  return (await requestJson<{ text: string }>('/api/transcriptions', sent)).text
}

/** Durable runs, newest first. */
export const listRuns = async (state: string | undefined, limit: number, before?: string) =>
  (await requestJson<{ runs: Run[] }>(`/api/runs?${queryOf({ state, before, limit })}`)).runs
export const getRun = (id: string) => requestJson<Run>(path('runs', id))
export const cancelRun = (id: string) => request(path('runs', id), { method: 'DELETE' })
export const runAgain = (id: string) => requestJson<Run>(`${path('runs', id)}/again`, { method: 'POST' })
