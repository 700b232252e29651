import { MAX_CALLS_IN_REPLY, MAX_REPLY_CHARS } from './limits.ts'
import { ModelError } from './model-error.ts'
import type { LangChainCall, ReplyChunk } from './provider.ts'

interface StreamedCall extends LangChainCall {
  name: string
  args: string | undefined
}

interface Part {
  chunk: ReplyChunk
  /** How many chunks are in it. */
  count: number
}

/**
 * Joins the chunks of a reply. Parts of equal length are merged, like carries in a binary counter: appending one at a
 * time would copy everything before it, and a long reply would take minutes. Calls are joined here because LangChain
 * parses all of their arguments again for every message it makes.
 */
export class JoinedChunks {
  /** The calls that came in pieces, with their arguments as text, in the order they started. */
  readonly calls: StreamedCall[] = []
  readonly #parts: Part[] = []
  #chars = 0
  #calls = 0
  count = 0

  /** Throws a ModelError if the reply gets too long. */
  add(chunk: ReplyChunk): void {
    this.#check(chunk)
    if (this.count++ === 0) boundCopies(chunk)
    let part: Part = { chunk: this.#withoutCalls(chunk), count: 1 }
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

  #withoutCalls(chunk: ReplyChunk): ReplyChunk {
    const { tool_call_chunks = [] } = chunk
    if (tool_call_chunks.length === 0) return chunk
    for (const piece of tool_call_chunks) this.#addPiece(piece)
    const none = { tool_call_chunks: [], tool_calls: [], invalid_tool_calls: [] }
    return Object.assign(Object.create(Object.getPrototypeOf(chunk)), chunk, none)
  }

  /** A piece belongs to the call with its index, or with its id if it has no index. */
  #addPiece({ index, id, name, args }: LangChainCall): void {
    const begun = this.calls.find(call =>
      index === undefined
        ? id && call.id === id
        : call.index === index && (!id || !call.id || call.id === id),
    )
    if (!begun) return void this.calls.push({ index, id, name: name ?? '', args: textOf(args) })
    begun.id ||= id
    begun.name += name ?? ''
    begun.args = `${begun.args ?? ''}${textOf(args) ?? ''}`
  }

  #check({ content, tool_calls = [], tool_call_chunks = [] }: ReplyChunk): void {
    const calls = tool_call_chunks.length > 0 ? tool_call_chunks : tool_calls
    // Only the first piece of a call has its name.
    this.#calls += calls.filter(({ name }) => name).length
    this.#chars += 1 + lengthOf(content) + calls.reduce((sum, { args }) => sum + lengthOf(args), 0)
    if (this.#chars > MAX_REPLY_CHARS)
      throw new ModelError(
        'truncated',
        `The model was stopped: its reply is over ${MAX_REPLY_CHARS} characters`,
      )
    checkCalls(this.#calls)
  }
}

/** Throws a ModelError if a reply has too many calls. */
export function checkCalls(count: number): void {
  if (count <= MAX_CALLS_IN_REPLY) return
  throw new ModelError(
    'invalid_response',
    `The model asked for more than ${MAX_CALLS_IN_REPLY} calls in one reply; none of them was run`,
  )
}

interface Joinable extends ReplyChunk {
  concat?: (chunk: ReplyChunk) => Joinable
}

/** Without concat, a chunk is the whole message so far. */
function joined(before: Part, after: Part): Part {
  const chunk: Joinable = before.chunk
  return { chunk: chunk.concat ? chunk.concat(after.chunk) : after.chunk, count: before.count + after.count }
}

/** How many argument characters LangChain may parse again for the copy of a reply that its callbacks get. */
const MAX_REREAD_CHARS = 2_000_000

/** LangChain builds that copy chunk by chunk from the first one; this stops it once it gets too expensive. */
function boundCopies(copy: Joinable, left = MAX_REREAD_CHARS): void {
  const { concat } = copy
  const bounded = (next: ReplyChunk) => {
    const after = left - argumentLength(copy) - argumentLength(next)
    if (!concat || after < 0) return copy
    const both = concat.call(copy, next)
    boundCopies(both, after)
    return both
  }
  if (concat) Object.defineProperty(copy, 'concat', { value: bounded, configurable: true })
}

function argumentLength({ tool_call_chunks = [] }: ReplyChunk): number {
  return tool_call_chunks.reduce((sum, { args }) => sum + lengthOf(args), 0)
}

function textOf(args: unknown): string | undefined {
  return typeof args === 'string' ? args : JSON.stringify(args ?? undefined)
}

/** In characters; infinite for a value nested too deeply for JSON. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  try {
    return JSON.stringify(value)?.length ?? 0
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
