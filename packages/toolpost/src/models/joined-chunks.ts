import { MAX_CALLS_IN_REPLY, MAX_REPLY_CHARS } from './limits.ts'
import { ModelError } from './model-error.ts'
import type { ReplyChunk } from './provider.ts'

interface Part {
  chunk: ReplyChunk
  /** How many chunks are in it. */
  count: number
}

/**
 * The chunks of a reply as one. Parts of equal length are joined, like the digits of a binary number: one after the other,
 * each would copy and read again everything before it, and a long reply would take minutes.
 */
export class JoinedChunks {
  readonly #parts: Part[] = []
  #chars = 0
  #calls = 0
  count = 0

  /** Throws a ModelError if the reply gets too long. */
  add(chunk: ReplyChunk): void {
    this.count++
    this.#check(chunk)
    let part: Part = { chunk, count: 1 }
    for (let last = this.#parts.at(-1); last?.count === part.count; last = this.#parts.at(-1)) {
      this.#parts.pop()
      part = joined(last, part)
    }
    this.#parts.push(part)
  }

  whole(): ReplyChunk | undefined {
    return this.#parts.length === 0
      ? undefined
      : this.#parts.reduceRight((rest, part) => joined(part, rest)).chunk
  }

  #check({ content, tool_calls = [], tool_call_chunks = [] }: ReplyChunk): void {
    const calls = tool_call_chunks.length > 0 ? tool_call_chunks : tool_calls
    // Of a call that comes in pieces, only the first has the name.
    this.#calls += calls.filter(({ name }) => name).length
    this.#chars += 1 + lengthOf(content) + calls.reduce((sum, { args }) => sum + lengthOf(args), 0)
    if (this.#chars > MAX_REPLY_CHARS)
      throw new ModelError(
        'truncated',
        `The model was stopped: its reply is over ${MAX_REPLY_CHARS} characters`,
      )
    if (this.#calls > MAX_CALLS_IN_REPLY)
      throw new ModelError(
        'invalid_response',
        `The model asked for more than ${MAX_CALLS_IN_REPLY} calls in one reply; none of them was made`,
      )
  }
}

/** Where concat is missing, a chunk is the whole message so far. */
function joined(before: Part, after: Part): Part {
  const { concat } = before.chunk as { concat?: (chunk: ReplyChunk) => ReplyChunk }
  const count = before.count + after.count
  return { chunk: concat ? concat.call(before.chunk, after.chunk) : after.chunk, count }
}

/** In characters; what is nested too deep to be written counts as endless. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  try {
    return JSON.stringify(value)?.length ?? 0
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
