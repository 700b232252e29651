import type { ChatCall, ChatEnd, ChatEvents } from '../api-types.ts'
import type { AnswerPart, ChatTurn } from './chat-types.ts'

/** Records an answer as it is sent. */
export class TurnRecorder {
  readonly #question: string
  readonly #askedAt = Date.now()
  readonly #parts: AnswerPart[] = []
  readonly #calls = new Map<string, { kind: 'call'; call: ChatCall }>()

  constructor(question: string) {
    this.#question = question
  }

  take<Type extends keyof ChatEvents>(type: Type, data: ChatEvents[Type]): void {
    if (type === 'token') this.#addText((data as ChatEvents['token']).text)
    if (type === 'call') this.#addCall(data as ChatCall)
  }

  /** The end has the whole text; it is used only if nothing was streamed. */
  turn({ text, conversation: _, ...end }: ChatEnd): ChatTurn {
    const hasSpoken = this.#parts.some(part => part.kind === 'text' && part.text.trim() !== '')
    if (!hasSpoken && text !== '') this.#addText(text)
    return { question: this.#question, askedAt: this.#askedAt, parts: this.#parts, end }
  }

  #addText(text: string): void {
    const last = this.#parts.at(-1)
    if (last?.kind === 'text') last.text += text
    else this.#parts.push({ kind: 'text', text })
  }

  #addCall(call: ChatCall): void {
    const known = this.#calls.get(call.id)
    if (known) known.call = call
    else {
      const part = { kind: 'call' as const, call }
      this.#calls.set(call.id, part)
      this.#parts.push(part)
    }
  }
}
