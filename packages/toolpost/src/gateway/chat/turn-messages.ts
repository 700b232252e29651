import type { ToolResult } from '../../call/tool-result.ts'
import type { PlainMessage } from '../../models/ai-client.ts'
import type { AnswerPart, ChatTurn } from './chat-types.ts'

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
