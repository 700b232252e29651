import type { ToolResult } from '../../call/tool-result.ts'
import type { PlainMessage } from '../../models/ai-client.ts'
import type { AnswerPart, ChatCall, ChatEnd, ChatEvents, ChatTurn } from '../api-types.ts'

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

/** The text of a result for the model. */
type TextOf = (result: ToolResult) => string

/** Turns as messages for a model. Stopped or failed answers are left out, as in the exact history in memory. */
export function messagesOf(turns: readonly ChatTurn[], textOf: TextOf): PlainMessage[] {
  return turns
    .filter(({ end }) => end.stopReason !== 'stopped' && end.stopReason !== 'error')
    .flatMap(({ question, parts }) => [{ role: 'user', content: question }, ...answerOf(parts, textOf)])
}

/** Repeats text, calls and their results, and ends with text alone. */
function answerOf(parts: readonly AnswerPart[], textOf: TextOf): PlainMessage[] {
  const messages: PlainMessage[] = []
  let said: PlainMessage = { role: 'assistant', content: '' }
  let results: PlainMessage[] = []
  const close = () => {
    messages.push(said, ...results)
    said = { role: 'assistant', content: '' }
    results = []
  }
  for (const part of parts) {
    if (part.kind === 'text' && said.tool_calls) close()
    if (part.kind === 'text') said.content += part.text
    else {
      const { id, name, args, result } = part.call
      said.tool_calls = [
        ...(said.tool_calls ?? []),
        { id, name, args: (args ?? {}) as Record<string, unknown>, type: 'tool_call' },
      ]
      const content = result ? textOf(result) : `Error: No result for tool "${name}"`
      results.push({ role: 'tool', content, tool_call_id: id })
    }
  }
  if (said.tool_calls) close()
  messages.push(said)
  return messages
}
