import type { BaseMessage } from '@langchain/core/messages'
import { cassetteWriter, nearest, readCassette, recordable } from '../interceptors/cassette-file.ts'
import type { ChatModel } from './model-client.ts'
import { type ReplyChunk, textOfContent } from './read-reply.ts'
import type { Setup } from './tool-loop.ts'

/** Appends the replies of a model to a cassette, without secrets. Throws a CassetteError if the file cannot be written. */
export function recordReplies(file: string): NonNullable<Setup['onReply']> {
  const write = cassetteWriter(file)
  return (messages, { text, content, calls, usage }) =>
    write({ type: 'reply', question: questionIn(messages), text, content, calls, usage })
}

/**
 * A chat model for `ModelClient` that gives the replies recorded in a cassette: those to the same question, in order. Throws a
 * CassetteError if the file cannot be read.
 */
export function replayModel(file: string): ChatModel {
  const { replies, problem } = readCassette(file)
  const left = new Set(replies)
  async function* replay(messages: readonly BaseMessage[]): AsyncGenerator<ReplyChunk> {
    const question = String(recordable(questionIn(messages)))
    const reply = [...left].find(recorded => recorded.question === question)
    if (!reply) {
      const near = nearest(replies, question, recorded => recorded.question)
      const hint = near && `the nearest question is '${near.question}' in line ${near.line}`
      const more = problem === undefined ? '' : ` (${problem})`
      throw new Error(`${file} has no more replies to '${question}'; ${hint ?? 'it has no replies'}${more}`)
    }
    left.delete(reply)
    const { content, calls, usage: { input, output } = {} } = reply
    yield { content, tool_calls: calls, usage_metadata: { input_tokens: input, output_tokens: output } }
  }
  const stream = async (messages: BaseMessage[]) => replay(messages)
  return { model: file, _llmType: () => 'replay', stream, bindTools: () => ({ stream }) }
}

/** The user's last message. */
function questionIn(messages: readonly BaseMessage[]): string {
  return textOfContent(messages.findLast(message => message.type === 'human')?.content)
}
