import type { EventSourceMessage } from 'eventsource-parser'
import { chatCallIn, chatEndIn, textOf } from '../api/checked.ts'
import { openChat } from '../api/gateway-api.ts'
import { isRecord } from '../api/guards.ts'
import { isAbort } from '../api/http.ts'
import { dataOf, readEvents } from '../api/read-events.ts'
import { type Answer, answerAfter, type ChatEvent, emptyAnswer } from './chat-answer.ts'
import { Store } from './store.ts'

export interface ChatTurn {
  number: number
  question: string
  answer: Answer
}

interface ChatState {
  turns: ChatTurn[]
  conversation: string | undefined
  stop: (() => void) | undefined
}

/** The conversation of this page. It continues while another view is open. */
class Chat extends Store<ChatState> {
  constructor() {
    super({ turns: [], conversation: undefined, stop: undefined })
  }

  /** Resolves with the whole answer; with nothing if a new conversation was started meanwhile. */
  async ask(question: string): Promise<Answer | undefined> {
    const controller = new AbortController()
    const stop = () => controller.abort()
    const { turns, conversation } = this.get()
    this.update({ turns: [...turns, { number: turns.length + 1, question, answer: emptyAnswer }], stop })
    // What still arrives after `startOver` belongs to a conversation that is no longer shown.
    const take = (event: ChatEvent) => {
      if (this.get().stop === stop) this.#apply(event)
    }
    try {
      const response = await openChat(question, conversation, controller.signal)
      await readEvents(response, { onEvent: event => takeEvent(event, take) })
      take({ kind: 'closed' })
    } catch (error) {
      take(isAbort(error) ? { kind: 'stopped' } : { kind: 'broken', message: messageOf(error) })
    }
    if (this.get().stop !== stop) return undefined
    this.update({ stop: undefined })
    return this.get().turns.at(-1)?.answer
  }

  startOver(): void {
    this.get().stop?.()
    this.set({ turns: [], conversation: undefined, stop: undefined })
  }

  #apply(event: ChatEvent): void {
    const { turns, conversation } = this.get()
    const last = turns.at(-1)
    if (last === undefined) return
    this.update({
      turns: [...turns.slice(0, -1), { ...last, answer: answerAfter(last.answer, event) }],
      conversation: event.kind === 'end' ? event.end.conversation : conversation,
    })
  }
}

function takeEvent(event: EventSourceMessage, take: (event: ChatEvent) => void): void {
  const data = dataOf(event)
  const call = event.event === 'call' ? chatCallIn(data) : undefined
  const end = event.event === 'end' ? chatEndIn(data) : undefined
  if (call) take({ kind: 'call', call })
  if (end) take({ kind: 'end', end })
  if (event.event === 'status' && isRecord(data)) take(statusOf(data))
  if (event.event === 'token' && isRecord(data)) take({ kind: 'token', text: textOf(data.text) })
}

function statusOf({ state, model, elapsedMs }: Record<string, unknown>): ChatEvent {
  if (state !== 'loading') return { kind: 'loaded' }
  return { kind: 'loading', model: textOf(model), elapsedMs: Number(elapsedMs) || 0 }
}

function messageOf(error: unknown): string {
  if (error instanceof TypeError) return 'The connection to the gateway was lost.'
  return error instanceof Error ? error.message : String(error)
}

export const chat = new Chat()
