import type { ConversationInfo, ConversationRecord, ModelInfo } from 'toolpost/gateway'
import { conversationIn, conversationsIn, modelsIn } from './checked-chat.ts'
import { ASKABLE } from './gateway-api.ts'
import { request, requestJson } from './http.ts'

export interface ChatQuestion {
  message: string
  conversation?: string | undefined
  /** The turn that it replaces, counted from 0. */
  turn?: number | undefined
  /** Overrides the default model. */
  model?: string | undefined
  signal: AbortSignal
}

/** The answer as server-sent events. */
export function openChat({ signal, ...question }: ChatQuestion): Promise<Response> {
  return request('/api/chat', { method: 'POST', body: JSON.stringify(question), headers: ASKABLE, signal })
}

/** The models to choose from; empty if the gateway offers no choice. */
export async function listModels(): Promise<ModelInfo[]> {
  return modelsIn((await requestJson<{ models: unknown }>('/api/models')).models)
}

/** Newest first. */
export async function listConversations(): Promise<ConversationInfo[]> {
  return conversationsIn((await requestJson<{ conversations: unknown }>('/api/conversations')).conversations)
}

export async function getConversation(id: string): Promise<ConversationRecord | undefined> {
  return conversationIn(await requestJson<unknown>(pathOf(id)))
}

export async function renameConversation(id: string, name: string): Promise<void> {
  await request(pathOf(id), { method: 'PATCH', body: JSON.stringify({ name }) })
}

export async function removeConversation(id: string): Promise<void> {
  await request(pathOf(id), { method: 'DELETE' })
}

function pathOf(id: string): string {
  return `/api/conversations/${encodeURIComponent(id)}`
}
