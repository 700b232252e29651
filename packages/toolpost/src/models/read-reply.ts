import { argumentsFromText } from '../executor/validate.ts'
import { isObjectLike } from '../runtime/guards.ts'
import { JoinedChunks } from './joined-chunks.ts'
import { ModelError } from './model-error.ts'
import type { LangChainCall, ReplyChunk } from './provider.ts'
import type { Usage } from './usage.ts'

/** A call that a model asks for. Arguments that cannot be parsed stay text. */
export interface RequestedCall {
  id: string | undefined
  name: string
  args: Record<string, unknown> | string
}

export interface Reply {
  text: string
  /** Its reasoning, if the provider exposes it. */
  thinking: string
  /** What goes into the history: the text, or content blocks if some are not text. */
  content: string | object[]
  calls: RequestedCall[]
  usage: Usage
  /** In the provider's words. */
  stopReason: string | undefined
}

const CUT_OFF = new Set(['max_tokens', 'length', 'model_context_window_exceeded'])

/**
 * Reads a stream to its end. Rejects if the stream does, or if the reply exceeds one of our limits or, unless it
 * `mayBeCut`, the token limit.
 */
export async function readReply(
  stream: AsyncIterable<ReplyChunk>,
  onToken: (token: string) => void,
  { mayBeCut = false }: { mayBeCut?: boolean } = {},
): Promise<Reply> {
  const joined = new JoinedChunks()
  let turnEndsAt = performance.now() + TURN_MS
  for await (const chunk of stream) {
    joined.add(chunk)
    const token = textOfContent(chunk.content)
    if (token !== '') onToken(token)
    // A stream that always has more would starve everything else, the time limit included.
    if (performance.now() < turnEndsAt) continue
    await new Promise(setImmediate)
    turnEndsAt = performance.now() + TURN_MS
  }
  const whole = joined.whole()
  if (!whole) throw new ModelError('invalid_response', 'The model sent an empty response')
  if (!mayBeCut) checkEnd(whole)
  const { input_tokens: input, output_tokens: output } = whole.usage_metadata ?? {}
  const reason = stopReasonOf(whole)
  return {
    text: textOfContent(whole.content),
    thinking: thinkingOf(whole),
    content: lastingContent(whole),
    calls: await callsOf(joined, whole),
    usage: { input, output },
    stopReason: typeof reason === 'string' ? reason : undefined,
  }
}

const TURN_MS = 10

export function isCutOff(stopReason: unknown): boolean {
  return typeof stopReason === 'string' && CUT_OFF.has(stopReason)
}

/** A truncated call or sentence must not pass for a whole one. */
function checkEnd(reply: ReplyChunk): void {
  const reason = stopReasonOf(reply)
  if (!isCutOff(reason)) return
  throw new ModelError(
    'truncated',
    `The model's answer was cut off at its token limit (${reason}): ask for less, or raise the limit`,
  )
}

/** Why the model stopped, in whichever field its provider reports it. */
export function stopReasonOf({ additional_kwargs, response_metadata }: ReplyChunk): unknown {
  return (
    additional_kwargs?.stop_reason ??
    response_metadata?.stop_reason ??
    response_metadata?.done_reason ??
    response_metadata?.finish_reason
  )
}

/** The text in a message's content; other blocks have none. */
export function textOfContent(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map(block => (isTextBlock(block) ? block.text : '')).join('')
}

function thinkingOf({ content, additional_kwargs }: ReplyChunk): string {
  const beside = additional_kwargs?.reasoning_content
  if (typeof beside === 'string') return beside
  if (!Array.isArray(content)) return ''
  return content
    .map((block: { thinking?: unknown; reasoning?: unknown } | null) => block?.thinking ?? block?.reasoning)
    .filter(thought => typeof thought === 'string')
    .join('')
}

function isTextBlock(block: unknown): block is { text: string } {
  return isObjectLike(block) && typeof (block as { text?: unknown }).text === 'string'
}

/** Drops blocks that only repeat the calls; others (a model's signed thoughts) must go back unchanged. */
function lastingContent({ content }: ReplyChunk): string | object[] {
  if (!Array.isArray(content)) return textOfContent(content)
  const lasting = content.filter(block => !REPEATS_CALLS.has(typeOf(block)))
  return lasting.every(block => typeOf(block) === 'text') ? textOfContent(lasting) : lasting
}

const REPEATS_CALLS = new Set(['tool_use', 'input_json_delta', 'tool_call', 'tool_call_chunk'])

function typeOf(block: unknown): string {
  return isObjectLike(block) ? String((block as { type?: unknown }).type) : ''
}

/**
 * The calls in the order the model made them. In a stream, the text of the arguments counts: LangChain completes
 * truncated JSON, and a truncated call must not run.
 */
async function callsOf(joined: JoinedChunks, whole: ReplyChunk): Promise<RequestedCall[]> {
  const { tool_calls = [], invalid_tool_calls = [] } = whole
  return Promise.all([...joined.calls, ...tool_calls, ...invalid_tool_calls].map(requestedCall))
}

async function requestedCall({ id, name, args }: LangChainCall): Promise<RequestedCall> {
  const known = { id: id || undefined, name: name ?? '' }
  if (typeof args !== 'string') return { ...known, args: (args ?? {}) as Record<string, unknown> }
  const text = textInText(args)
  return { ...known, args: (await argumentsFromText(text)) ?? text }
}

/** If a server sends arguments as text, ChatOllama encodes that text as JSON once more. */
function textInText(args: string): string {
  if (!args.startsWith('"')) return args
  try {
    return String(JSON.parse(args))
  } catch {
    return args
  }
}
