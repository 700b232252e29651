import type { AnswerPart, ChatCall, ChatEnd } from 'toolpost/gateway'
import { create } from 'zustand'
import { persist } from 'zustand/middleware'
import { dataOf, readEvents } from '../../api/events.ts'
import { getConversation, openChat } from '../../api/gateway.ts'
import { ApiError, isAbort, messageOf } from '../../api/http.ts'
import { queryClient } from '../../api/queries.ts'

export interface Answer {
  parts: AnswerPart[]
  state: 'streaming' | 'done' | 'stopped' | 'failed'
  model?: string | undefined
  /** Why it ended early, or what it is waiting for. */
  note?: string | undefined
  durationMs?: number | undefined
  usage?: ChatEnd['usage']
  /** One entry per model call, if the gateway reports them. */
  modelCalls?: ChatEnd['model_calls']
}

export interface Turn {
  question: string
  answer: Answer
}

interface ChatState {
  turns: Turn[]
  conversation: string | undefined
  /** While an answer is being written. */
  stop: (() => void) | undefined
  isOpening: boolean
  /** Why the requested conversation is not shown. */
  problem: string | undefined
}

const NOTHING: ChatState = {
  turns: [],
  conversation: undefined,
  stop: undefined,
  isOpening: false,
  problem: undefined,
}

/** The conversation of this page. It goes on while another view is open. */
export const useChat = create<ChatState>()(() => NOTHING)

/** The model to ask; empty for the default. */
export const useChosenModel = create<{ model: string }>()(
  persist(() => ({ model: '' }), { name: 'toolpost.model' }),
)

const EMPTY: Answer = { parts: [], state: 'streaming' }

/** Asks, or asks turn `turn` (from 0) again and drops what came after it. Never rejects. */
export async function ask(question: string, turn?: number): Promise<void> {
  const controller = new AbortController()
  const stop = () => controller.abort()
  const { turns, conversation } = useChat.getState()
  useChat.setState({
    turns: [...turns.slice(0, turn), { question, answer: EMPTY }],
    stop,
    problem: undefined,
  })
  // What arrives after another conversation was opened is not shown.
  const change = (part: (answer: Answer) => Answer) => {
    const { turns: now, stop: current } = useChat.getState()
    const last = now.at(-1)
    if (current === stop && last)
      useChat.setState({ turns: [...now.slice(0, -1), { ...last, answer: part(last.answer) }] })
  }
  try {
    const model = useChosenModel.getState().model || undefined
    const response = await openChat({ message: question, conversation, turn, model }, controller.signal)
    await readEvents(response, event => {
      const data = dataOf(event)
      if (event.event === 'token') change(answer => withText(answer, String(data.text ?? '')))
      if (event.event === 'call' && typeof data.id === 'string')
        change(answer => withCall(answer, data as unknown as ChatCall))
      if (event.event === 'status') change(answer => ({ ...answer, note: statusText(data) }))
      if (event.event !== 'end') return
      const end = data as unknown as ChatEnd
      change(answer => ended(answer, end))
      if (useChat.getState().stop === stop) useChat.setState({ conversation: end.conversation })
    })
    change(answer =>
      answer.state === 'streaming' ? { ...answer, state: 'failed', note: 'The answer was cut off.' } : answer,
    )
  } catch (error) {
    change(answer =>
      isAbort(error)
        ? { ...answer, state: 'stopped', note: 'Stopped.' }
        : { ...answer, state: 'failed', note: messageOf(error) },
    )
  }
  if (useChat.getState().stop === stop) useChat.setState({ stop: undefined })
  void queryClient.invalidateQueries({ queryKey: ['conversations'] })
}

/** Shows an earlier conversation, or an empty one. Never rejects. */
export async function openConversation(id: string | undefined): Promise<void> {
  if (useChat.getState().conversation === id && !useChat.getState().isOpening) return
  useChat.getState().stop?.()
  useChat.setState({ ...NOTHING, conversation: id, isOpening: id !== undefined })
  if (id === undefined) return
  const isCurrent = () => useChat.getState().conversation === id
  try {
    const { turns } = await getConversation(id)
    const shown = turns.map(turn => ({
      question: turn.question,
      answer: ended({ ...EMPTY, parts: turn.parts }, { ...turn.end, text: '', conversation: id }),
    }))
    if (isCurrent()) useChat.setState({ turns: shown, isOpening: false })
  } catch (error) {
    const isGone = error instanceof ApiError && error.status === 404
    const problem = isGone ? 'This conversation is no longer available.' : messageOf(error)
    if (isCurrent()) useChat.setState({ ...NOTHING, problem })
  }
}

function statusText({ state, model, elapsedMs }: Record<string, unknown>): string | undefined {
  if (state !== 'loading') return undefined
  return `Loading ${String(model)}, ${Math.round(Number(elapsedMs) / 1_000)} s`
}

const REASONS: Record<string, string> = {
  max_iterations: 'Stopped: too many rounds of tool calls.',
  time_limit: 'Stopped: time limit reached.',
  repeated_failure: 'Stopped: the same call kept failing.',
  stopped: 'Stopped.',
}

/** The full text comes at the end; it is used if nothing was streamed. */
function ended(answer: Answer, end: ChatEnd): Answer {
  const { text, stopReason, model, error, durationMs, usage, model_calls: modelCalls } = end
  const isSaid = answer.parts.some(part => part.kind === 'text' && part.text.trim() !== '')
  const { parts } = isSaid || !text ? answer : withText(answer, text)
  const facts = { parts, model, durationMs, usage, modelCalls, note: error ?? REASONS[stopReason] }
  if (stopReason === 'stopped') return { ...facts, state: 'stopped', note: 'Stopped.' }
  return { ...facts, state: error ? 'failed' : 'done' }
}

function withText(answer: Answer, text: string): Answer {
  const last = answer.parts.at(-1)
  if (last?.kind !== 'text') return { ...answer, parts: [...answer.parts, { kind: 'text', text }] }
  return { ...answer, parts: [...answer.parts.slice(0, -1), { kind: 'text', text: last.text + text }] }
}

/** A finished call never goes back to running, whatever the order of its events. */
function withCall(answer: Answer, call: ChatCall): Answer {
  const { parts } = answer
  const at = parts.findIndex(part => part.kind === 'call' && part.call.id === call.id)
  const known = parts[at]
  if (known?.kind !== 'call') return { ...answer, parts: [...parts, { kind: 'call', call }] }
  if (known.call.result && !call.result) return answer
  return { ...answer, parts: parts.with(at, { kind: 'call', call }) }
}

export function textOfAnswer({ parts }: Answer): string {
  return parts.flatMap(part => (part.kind === 'text' ? [part.text.trim()] : [])).join('\n\n')
}
