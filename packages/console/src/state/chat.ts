import type { EventSourceMessage } from 'eventsource-parser'
import { getConversation, openChat } from '../api/chat-api.ts'
import { chatCallIn, chatEndIn, textOf } from '../api/checked.ts'
import { isRecord } from '../api/guards.ts'
import { ApiError, isAbort } from '../api/http.ts'
import { dataOf, readEvents } from '../api/read-events.ts'
import { messageOf } from '../text/message-of.ts'
import { type Answer, answerAfter, type ChatEvent, emptyAnswer, keptAnswer } from './chat-answer.ts'
import { chosenModel } from './chosen-model.ts'
import { conversations } from './conversations.ts'
import { Store } from './store.ts'

export interface ChatTurn {
  number: number
  question: string
  /** In milliseconds since 1970. */
  askedAt: number
  answer: Answer
}

interface ChatState {
  turns: ChatTurn[]
  conversation: string | undefined
  stop: (() => void) | undefined
  /** The conversation being loaded, if any. */
  opening: string | undefined
  /** The conversation just left for a new one: the address may name it for a moment longer. */
  left: string | undefined
  /** Why the requested conversation is not shown. */
  problem: string | undefined
}

const NOTHING: ChatState = {
  turns: [],
  conversation: undefined,
  stop: undefined,
  opening: undefined,
  left: undefined,
  problem: undefined,
}

/** The conversation of this page. It continues while another view is open. */
class Chat extends Store<ChatState> {
  constructor() {
    super(NOTHING)
  }

  /**
   * Resolves with the full answer; with `undefined` if another conversation was started meanwhile. With `turn`, that
   * turn (from 0) is asked again, and everything after it is dropped.
   */
  async ask(question: string, { turn }: { turn?: number } = {}): Promise<Answer | undefined> {
    const controller = new AbortController()
    const stop = () => controller.abort()
    const { turns, conversation } = this.get()
    const before = turns.slice(0, turn)
    const asked = { number: before.length + 1, question, askedAt: Date.now(), answer: emptyAnswer }
    this.update({ turns: [...before, asked], stop, problem: undefined })
    // Events arriving after `startOver` belong to a conversation that is no longer shown.
    const take = (event: ChatEvent) => {
      if (this.get().stop === stop) this.#apply(event)
    }
    try {
      const response = await openChat({
        message: question,
        conversation,
        turn,
        model: chosenModel.get(),
        signal: controller.signal,
      })
      await readEvents(response, { onEvent: event => takeEvent(event, take) })
      take({ kind: 'closed' })
    } catch (error) {
      take(isAbort(error) ? { kind: 'stopped' } : { kind: 'broken', message: problemOf(error) })
    }
    void conversations.refresh()
    if (this.get().stop !== stop) return undefined
    this.update({ stop: undefined })
    return this.get().turns.at(-1)?.answer
  }

  /** Shows an earlier conversation. Never rejects. */
  async open(id: string): Promise<void> {
    if (this.get().opening === id || this.get().conversation === id) return
    this.get().stop?.()
    this.set({ ...NOTHING, opening: id })
    try {
      const found = await getConversation(id)
      if (this.get().opening !== id) return
      const turns = (found?.turns ?? []).map((turn, at) => ({
        number: at + 1,
        question: turn.question,
        askedAt: turn.askedAt,
        answer: keptAnswer(turn),
      }))
      this.set({ ...NOTHING, turns, conversation: id })
    } catch (error) {
      if (this.get().opening !== id) return
      const isGone = error instanceof ApiError && error.status === 404
      this.set({
        ...NOTHING,
        problem: isGone ? 'This conversation is no longer available.' : problemOf(error),
      })
    }
  }

  startOver(): void {
    const { stop, conversation, opening } = this.get()
    stop?.()
    this.set({ ...NOTHING, left: conversation ?? opening })
  }

  /** The address no longer names a conversation. */
  arrived(): void {
    this.update({ left: undefined })
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

function problemOf(error: unknown): string {
  if (error instanceof TypeError) return 'The connection to the gateway was lost.'
  return messageOf(error)
}

export const chat = new Chat()
