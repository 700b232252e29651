import type { AnswerPart, ChatCall, ChatEnd, ChatTurn } from 'toolpost/gateway'

export interface Answer {
  parts: AnswerPart[]
  state: 'streaming' | 'done' | 'stopped' | 'failed'
  model: string | undefined
  /** Why it ended early. */
  note: string | undefined
  /** How long it took and how many tokens, once finished. */
  durationMs?: number | undefined
  usage?: ChatEnd['usage']
}

export type ChatEvent =
  | { kind: 'token'; text: string }
  | { kind: 'call'; call: ChatCall }
  | { kind: 'loading'; model: string; elapsedMs: number }
  | { kind: 'loaded' }
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
    case 'loading':
      return { ...answer, note: `Loading ${event.model} … ${Math.round(event.elapsedMs / 1_000)} s` }
    case 'loaded':
      return { ...answer, note: undefined }
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

/** An earlier answer, as the gateway kept it. */
export function keptAnswer({ parts, end }: ChatTurn): Answer {
  const empty = { ...emptyAnswer, parts }
  if (end.stopReason === 'stopped') return { ...empty, state: 'stopped', note: 'Stopped.', model: end.model }
  return ended(empty, { ...end, text: '', conversation: '' })
}

/** Its text, without the calls. */
export function textOfAnswer({ parts }: Answer): string {
  const texts = parts.flatMap(part => (part.kind === 'text' ? [part.text.trim()] : []))
  return texts.filter(text => text !== '').join('\n\n')
}

/** What is read aloud: the answer's text, or why there is none. */
export function spokenText({ parts, state, note }: Answer): string {
  if (state === 'failed') return note ?? ''
  if (state !== 'done') return ''
  return parts.flatMap(part => (part.kind === 'text' ? [part.text] : [])).join(' ')
}

const REASONS: Record<string, string> = {
  max_iterations: 'Stopped: too many rounds of tool calls.',
  time_limit: 'Stopped: time limit reached.',
  repeated_failure: 'Stopped: the same call kept failing.',
}

/** The full text comes at the end; it is used if nothing was streamed. */
function ended(answer: Answer, end: ChatEnd): Answer {
  const { text, stopReason, model, error, durationMs, usage } = end
  const spoken = answer.parts.some(part => part.kind === 'text' && part.text.trim() !== '')
  const parts = spoken || !text ? answer.parts : withText(answer.parts, text)
  const facts = { parts, model, durationMs, usage }
  if (error) return { ...facts, state: 'failed', note: error }
  return { ...facts, state: 'done', note: REASONS[stopReason] }
}

function withText(parts: AnswerPart[], text: string): AnswerPart[] {
  const last = parts.at(-1)
  if (last?.kind !== 'text') return [...parts, { kind: 'text', text }]
  return [...parts.slice(0, -1), { kind: 'text', text: last.text + text }]
}

/** A finished call never goes back to running, whatever the order of its events. */
function withCall(parts: AnswerPart[], call: ChatCall): AnswerPart[] {
  const at = parts.findIndex(part => part.kind === 'call' && part.call.id === call.id)
  const known = parts[at]
  if (known === undefined) return [...parts, { kind: 'call', call }]
  const hasEnded = known.kind === 'call' && known.call.result !== undefined
  return hasEnded && call.result === undefined ? parts : parts.with(at, { kind: 'call', call })
}
