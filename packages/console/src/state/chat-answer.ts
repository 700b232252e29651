import type { ChatCall, ChatEnd } from '../api/types.ts'

/** An answer is words and calls in the order in which they came. */
export type AnswerPart = { kind: 'text'; text: string } | { kind: 'call'; call: ChatCall }

export interface Answer {
  parts: AnswerPart[]
  state: 'streaming' | 'done' | 'stopped' | 'failed'
  model: string | undefined
  /** Why there is no more of it, or something that has to be said about it. */
  note: string | undefined
}

export type ChatEvent =
  | { kind: 'token'; text: string }
  | { kind: 'call'; call: ChatCall }
  | { kind: 'end'; end: ChatEnd }
  | { kind: 'closed' }
  | { kind: 'stopped' }
  | { kind: 'broken'; message: string }

export const emptyAnswer: Answer = { parts: [], state: 'streaming', model: undefined, note: undefined }

export function answerAfter(answer: Answer, event: ChatEvent): Answer {
  switch (event.kind) {
    case 'token':
      return { ...answer, parts: withText(answer.parts, event.text) }
    case 'call':
      return { ...answer, parts: withCall(answer.parts, event.call) }
    case 'end':
      return ended(answer, event.end)
    case 'stopped':
      return { ...answer, state: 'stopped', note: 'Stopped.' }
    case 'broken':
      return { ...answer, state: 'failed', note: event.message }
    case 'closed':
      if (answer.state !== 'streaming') return answer
      return { ...answer, state: 'failed', note: 'The answer was cut off.' }
  }
}

/** What of an answer is read aloud: its words, or why there are none. */
export function spokenText({ parts, state, note }: Answer): string {
  if (state === 'failed') return note ?? ''
  if (state !== 'done') return ''
  return parts.flatMap(part => (part.kind === 'text' ? [part.text] : [])).join(' ')
}

const REASONS: Record<string, string> = {
  max_iterations: 'Ended: the model asked for tools too many times.',
  time_limit: 'Ended: the time limit was reached.',
  repeated_failure: 'Ended: the same call failed again and again.',
}

/** The whole text comes at the end; it stands in where nothing was streamed. */
function ended(answer: Answer, { text, stopReason, model, error }: ChatEnd): Answer {
  const spoken = answer.parts.some(part => part.kind === 'text' && part.text.trim() !== '')
  const parts = spoken || !text ? answer.parts : withText(answer.parts, text)
  const name = typeof model === 'string' ? model : model?.name
  if (error) return { parts, state: 'failed', model: name, note: error }
  return { parts, state: 'done', model: name, note: REASONS[stopReason] }
}

function withText(parts: AnswerPart[], text: string): AnswerPart[] {
  const last = parts.at(-1)
  if (last?.kind !== 'text') return [...parts, { kind: 'text', text }]
  return [...parts.slice(0, -1), { kind: 'text', text: last.text + text }]
}

function withCall(parts: AnswerPart[], call: ChatCall): AnswerPart[] {
  const known = parts.some(part => part.kind === 'call' && part.call.id === call.id)
  if (!known) return [...parts, { kind: 'call', call }]
  return parts.map(part => (part.kind === 'call' && part.call.id === call.id ? { kind: 'call', call } : part))
}
