import type { CallRecord, ModelInfo, ToolResult } from 'toolpost/gateway'
import type { CallQuery } from 'toolpost/history'
import { messageOf } from '../text/message-of.ts'
import { approvalsIn, callsIn, isResult, questionsIn, serversIn, toolsIn } from './checked.ts'
import { ApiError, isAbort, queryOf, request, requestJson } from './http.ts'

/** The lists that the gateway keeps, with their checks. */
const LISTS = {
  tools: toolsIn,
  servers: serversIn,
  calls: callsIn,
  approvals: approvalsIn,
  questions: questionsIn,
}

/** Tools called from this page may ask questions: the page shows them. */
export const ASKABLE = { prefer: 'questions' }

export type ListName = keyof typeof LISTS

export async function readList(name: ListName): Promise<ReturnType<(typeof LISTS)[ListName]>> {
  return LISTS[name]((await requestJson<Record<string, unknown>>(`/api/${name}`))[name])
}

/** A query of the gateway's history. */
export interface OlderCalls extends Omit<CallQuery, 'limit' | 'since' | 'until'> {
  /** Milliseconds since 1970, or a time as the gateway accepts it: `1h`, `2026-01-31T12:00`. */
  since?: string | number | undefined
  until?: string | number | undefined
}

/** A page of finished calls, newest first; `next` is the cursor of the next page. */
export async function listOlderCalls(asked: OlderCalls): Promise<{ calls: CallRecord[]; next?: string }> {
  const { calls, next } = await requestJson<{ calls: unknown; next?: unknown }>(
    `/api/calls?limit=100&${queryOf(asked)}`,
  )
  return { calls: callsIn(calls), ...(typeof next === 'string' && { next }) }
}

export async function getCall(serial: string): Promise<CallRecord | undefined> {
  const [call] = callsIn([await requestJson<unknown>(`/api/calls/${encodeURIComponent(serial)}`)])
  return call
}

/** Cancels a running call, whoever made it. */
export async function cancelCall(serial: string): Promise<void> {
  await request(`/api/calls/${encodeURIComponent(serial)}`, { method: 'DELETE' })
}

/** All matching calls, as a file. */
export async function exportCalls(asked: OlderCalls, format: 'jsonl' | 'csv'): Promise<Blob> {
  return (await request(`/api/calls/export?format=${format}&${queryOf(asked)}`)).blob()
}

export function currentModel(): Promise<ModelInfo> {
  return requestJson<ModelInfo>('/api/model')
}

/** The transcript of a WAV file. */
export async function transcribe(wav: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<string> {
  const headers = { 'content-type': 'audio/wav' }
  const options = { method: 'POST', body: wav, headers, signal } as const
  return (await requestJson<{ text: string }>('/api/transcriptions', options)).text
}

/** Starts a login; returns the page that the person must visit, if there is one. */
export async function logInAt(name: string): Promise<string | undefined> {
  const path = `/api/servers/${encodeURIComponent(name)}/login`
  return (await requestJson<{ url?: string }>(path, { method: 'POST' })).url
}

/** The decision about a waiting call: for this one only, or for later ones too. */
export interface ApprovalDecision {
  decision: 'approve' | 'deny'
  remember?: 'session' | 'always' | undefined
}

export async function decideApproval(id: string, decision: ApprovalDecision): Promise<void> {
  const path = `/api/approvals/${encodeURIComponent(id)}`
  await request(path, { method: 'POST', body: JSON.stringify(decision) })
}

/** The answer to a tool's question. */
export interface QuestionAnswer {
  action: 'accept' | 'decline' | 'cancel'
  content?: unknown
}

export async function answerQuestion(id: string, answer: QuestionAnswer): Promise<void> {
  const path = `/api/questions/${encodeURIComponent(id)}`
  await request(path, { method: 'POST', body: JSON.stringify(answer) })
}

/** The event stream; `lastEventId` requests what was missed. */
export function openEvents(lastEventId: string | undefined, signal: AbortSignal): Promise<Response> {
  const headers = lastEventId === undefined ? undefined : { 'last-event-id': lastEventId }
  return request('/api/events', { ...(headers && { headers }), signal })
}

/** How a call from this page ended: with the gateway's result, or without one. */
export type CallOutcome =
  | { kind: 'result'; result: ToolResult }
  | { kind: 'cancelled'; afterMs: number }
  | { kind: 'failed'; message: string }

export interface CallRequest {
  /** This page's id for the call; its record has the same one. */
  id?: string | undefined
  tool: string
  args: unknown
  timeoutMs?: number | undefined
  signal: AbortSignal
}

/** Never rejects. Aborting the signal cancels the call at the gateway. */
export async function callTool({ id, tool, args, timeoutMs, signal }: CallRequest): Promise<CallOutcome> {
  const startedAt = performance.now()
  try {
    if (!tool.isWellFormed()) throw new Error('The name of this tool cannot be sent over HTTP')
    const result = await requestJson<ToolResult>(`/api/tools/${encodeURIComponent(tool)}/call`, {
      method: 'POST',
      body: JSON.stringify(args ?? {}),
      headers: {
        ...ASKABLE,
        ...(id !== undefined && { 'x-call-id': id }),
        ...(timeoutMs !== undefined && { 'x-timeout-ms': String(timeoutMs) }),
      },
      signal,
    })
    return { kind: 'result', result }
  } catch (error) {
    if (isAbort(error)) return { kind: 'cancelled', afterMs: performance.now() - startedAt }
    if (error instanceof ApiError && isResult(error.body)) return { kind: 'result', result: error.body }
    return { kind: 'failed', message: messageOf(error) }
  }
}
