import type { AnswerPart, ChatTurn, ConversationInfo, ConversationRecord, ModelInfo } from 'toolpost/gateway'
import { chatCallIn, has, listOf } from './checked.ts'
import { isRecord } from './guards.ts'

const INFO = { id: 'string', name: 'string', updatedAt: 'number' }

export function modelsIn(value: unknown): ModelInfo[] {
  return listOf(value).filter(one => has(one, { name: 'string', why: 'string' })) as unknown as ModelInfo[]
}

export function conversationsIn(value: unknown): ConversationInfo[] {
  return listOf(value).filter(one => has(one, INFO)) as unknown as ConversationInfo[]
}

export function conversationIn(value: unknown): ConversationRecord | undefined {
  if (!has(value, INFO)) return undefined
  const turns = listOf(value.turns).flatMap(turnIn)
  return { ...value, turns } as unknown as ConversationRecord
}

function turnIn(value: unknown): ChatTurn[] {
  if (!has(value, { question: 'string' }) || !isRecord(value.end)) return []
  const { stopReason, model } = value.end
  if (typeof stopReason !== 'string' || typeof model !== 'string') return []
  return [{ ...value, parts: listOf(value.parts).flatMap(partIn) } as unknown as ChatTurn]
}

function partIn(value: unknown): AnswerPart[] {
  if (has(value, { kind: 'string', text: 'string' }) && value.kind === 'text')
    return [{ kind: 'text', text: String(value.text) }]
  const call = isRecord(value) && value.kind === 'call' ? chatCallIn(value.call) : undefined
  return call ? [{ kind: 'call', call }] : []
}
