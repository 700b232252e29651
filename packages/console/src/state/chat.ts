import type { ServerEvent } from '../api/event-parser.ts'
import { openChat } from '../api/gateway-api.ts'
import { isAbort } from '../api/http.ts'
import { dataOf, readEvents } from '../api/read-events.ts'
import type { ChatCall, ChatEnd } from '../api/types.ts'
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

/** The conversation of this page. It goes on when another view is opened. */
class Chat extends Store<ChatState> {
  constructor() {
    super({ turns: [], conversation: undefined, stop: undefined })
  }

  /** Resolves with the whole answer; with nothing where another conversation was begun meanwhile. */
  async ask(question: string): Promise<Answer | undefined> {
    const controller = new AbortController()
    const stop = () => controller.abort()
    const { turns, conversation } = this.get()
    this.update({ turns: [...turns, { number: turns.length + 1, question, answer: emptyAnswer }], stop })
    // Whatever still arrives after a new start belongs to a conversation that is no longer shown.
    const take = (event: ChatEvent) => {
      if (this.get().stop === stop) this.#apply(event)
    }
    await stream({ question, conversation, controller, take })
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

interface Stream {
  question: string
  conversation: string | undefined
  controller: AbortController
  take: (event: ChatEvent) => void
}

async function stream({ question, conversation, controller, take }: Stream): Promise<void> {
  try {
    const response = await openChat(question, conversation, controller.signal)
    await readEvents(response, { onEvent: event => takeEvent(event, take) })
    take({ kind: 'closed' })
  } catch (error) {
    take(isAbort(error) ? { kind: 'stopped' } : { kind: 'broken', message: messageOf(error) })
  }
}

function takeEvent(event: ServerEvent, take: (event: ChatEvent) => void): void {
  const data = dataOf<{ text: string } & ChatCall & ChatEnd>(event)
  if (data === undefined) return
  if (event.event === 'token') take({ kind: 'token', text: data.text })
  if (event.event === 'call') take({ kind: 'call', call: data })
  if (event.event === 'end') take({ kind: 'end', end: data })
}

function messageOf(error: unknown): string {
  if (error instanceof TypeError) return 'The connection to the gateway broke off.'
  return error instanceof Error ? error.message : String(error)
}

export const chat = new Chat()
