import type { BaseMessage, ToolMessage } from '@langchain/core/messages'

type Messages = typeof import('@langchain/core/messages')

/**
 * The messages as ChatAnthropic should send them. It drops the `status` of a ToolMessage, but passes content blocks
 * of Anthropic's own kind through: so results become `tool_result` blocks, with `is_error` if the call failed.
 * Only what is sent is written so; the history keeps its ToolMessages.
 */
export function withErrorMarks(messages: readonly BaseMessage[], langchain: Messages): BaseMessage[] {
  return messages.map(message =>
    isFailed(message) ? new langchain.HumanMessage({ content: [resultBlock(message)] }) : message,
  )
}

function isFailed(message: BaseMessage): message is ToolMessage {
  return message.getType() === 'tool' && (message as ToolMessage).status === 'error'
}

function resultBlock({ tool_call_id, content }: ToolMessage) {
  return { type: 'tool_result', tool_use_id: tool_call_id, content, is_error: true }
}
