import { argumentsFromText } from '../executor/validate.ts'
import { isObjectLike } from '../util/guards.ts'
import type { Usage } from './ai-client.ts'
import { MAX_CALLS_IN_REPLY, MAX_REPLY_BYTES } from './limits.ts'
import { ModelError } from './model-error.ts'

/**
 * A piece of a reply: the fields of LangChain's `AIMessageChunk` and `AIMessage` that the loop reads. Invalid calls have
 * arguments that LangChain could not parse; the chunks of a stream have them still as text.
 */
export type ReplyChunk = {
  [Key in 'tool_calls' | 'invalid_tool_calls' | 'tool_call_chunks']?: readonly LangChainCall[] | undefined
} & { [Key in 'additional_kwargs' | 'response_metadata']?: Record<string, unknown> | undefined } & {
  content: unknown
  usage_metadata?: { [Key in 'input_tokens' | 'output_tokens']?: number | undefined } | undefined
}

type LangChainCall = { id?: string | undefined; name?: string | undefined; args?: unknown }

/** A call that a model asks for. Arguments that cannot be parsed stay text. */
export interface RequestedCall {
  id: string | undefined
  name: string
  args: Record<string, unknown> | string
}

export interface Reply {
  text: string
  /** What goes into the history: the text, or content blocks if some are not text. */
  content: string | object[]
  calls: RequestedCall[]
  usage: Usage
  stopReason: string | undefined
}

export interface ReadOptions {
  onToken: (token: string) => void
  endsWithReason?: boolean | undefined
  mayBeCut?: boolean | undefined
}

/** A stream that always has more would starve everything else, the time limit included. */
const TURN_MS = 10

/** Reads a stream to its end. Rejects if the stream does, or if the reply is too long or not whole. */
export async function readReply(stream: AsyncIterable<ReplyChunk>, options: ReadOptions): Promise<Reply> {
  let whole: ReplyChunk | undefined
  let bytes = 0
  let turnEndsAt = performance.now() + TURN_MS
  for await (const chunk of stream) {
    const calls = chunk.tool_call_chunks ?? chunk.tool_calls ?? []
    checkCalls(calls.length)
    bytes += 1 + Buffer.byteLength(JSON.stringify([chunk.content, calls]))
    if (bytes > MAX_REPLY_BYTES)
      throw new ModelError('truncated', `The model was stopped: its reply is over ${MAX_REPLY_BYTES} bytes`)
    // Without `concat`, a chunk is the whole message so far.
    const { concat } = (whole ?? {}) as { concat?: (next: ReplyChunk) => ReplyChunk }
    whole = concat ? concat.call(whole, chunk) : chunk
    const token = textOfContent(chunk.content)
    if (token !== '') options.onToken(token)
    if (performance.now() < turnEndsAt) continue
    await new Promise(setImmediate)
    turnEndsAt = performance.now() + TURN_MS
  }
  if (!whole) throw new ModelError('invalid_response', 'The model sent an empty response')
  const { additional_kwargs = {}, response_metadata: more = {}, usage_metadata: used } = whole
  // In whichever field the provider reports it.
  const reason = additional_kwargs.stop_reason ?? more.stop_reason ?? more.done_reason ?? more.finish_reason
  const stopReason = typeof reason === 'string' ? reason : undefined
  // A truncated call or sentence must not pass for a whole one.
  if (stopReason === undefined && options.endsWithReason)
    throw new ModelError('truncated', 'The model broke off in the middle of its answer')
  const cut = `The model's answer was cut off at its token limit (${stopReason}): ask for less, or raise the limit`
  if (isCutOff(stopReason) && !options.mayBeCut) throw new ModelError('truncated', cut)
  const usage = { input: used?.input_tokens, output: used?.output_tokens }
  const [text, content] = [textOfContent(whole.content), lastingContent(whole.content)]
  return { text, content, calls: callsOf(whole), usage, stopReason }
}

export function checkCalls(count: number): void {
  const problem = `The model asked for more than ${MAX_CALLS_IN_REPLY} calls in one reply; none of them was run`
  if (count > MAX_CALLS_IN_REPLY) throw new ModelError('invalid_response', problem)
}

export function isCutOff(stopReason: string | undefined): boolean {
  return /^(max_tokens|length|model_context_window_exceeded)$/.test(stopReason ?? '')
}

/** The text in a message's content; other blocks have none. */
export function textOfContent(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map(block => (typeof block?.text === 'string' ? block.text : '')).join('')
}

/** Drops blocks that only repeat the calls; others (a model's signed thoughts) must go back unchanged. */
function lastingContent(content: unknown): string | object[] {
  if (!Array.isArray(content)) return textOfContent(content)
  const lasting = content.filter(block => !/^(tool_use|input_json_delta|tool_call)/.test(block?.type))
  const isText = lasting.every(block => block?.type === 'text')
  return isText ? textOfContent(lasting) : lasting.filter(isObjectLike)
}

/**
 * The calls in the order the model made them. In a stream, the text of the arguments counts: LangChain completes
 * truncated JSON, and a truncated call must not run.
 */
function callsOf(whole: ReplyChunk): RequestedCall[] {
  const { tool_call_chunks: chunks = [], tool_calls = [], invalid_tool_calls = [] } = whole
  const calls = chunks.length > 0 ? chunks : [...tool_calls, ...invalid_tool_calls]
  checkCalls(calls.length)
  return calls.map(({ id, name = '', args = {} }) => {
    const text = typeof args === 'string' ? textInText(args) : undefined
    const value = text === undefined ? args : (argumentsFromText(text) ?? text)
    return { id: id || undefined, name, args: value as RequestedCall['args'] }
  })
}

/** If a server sends arguments as text, ChatOllama encodes that text as JSON once more. */
function textInText(args: string): string {
  try {
    return args.startsWith('"') ? String(JSON.parse(args)) : args
  } catch {
    return args
  }
}
