import { ModelError } from '../model-error.ts'
import type { ReplyChunk } from '../provider.ts'
import { stopReasonOf } from '../read-reply.ts'

/** The same stream, which fails if it ends before the model did: ChatAnthropic takes a closed connection for the end. */
export async function* wholeStream(stream: AsyncIterable<ReplyChunk>): AsyncGenerator<ReplyChunk> {
  let hasEnded = false
  for await (const chunk of stream) {
    if (stopReasonOf(chunk) !== undefined) hasEnded = true
    yield chunk
  }
  if (!hasEnded) throw new ModelError('truncated', 'Anthropic broke off in the middle of its answer')
}
