import { createHash } from 'node:crypto'
import type { WritingBlock, WritingMessage, WritingRequest } from '../models/writing.ts'
import { isRecord } from '../runtime/guards.ts'

export type SamplingRequest = Pick<WritingRequest, 'messages' | 'maxTokens' | 'temperature' | 'stopSequences'>

const MAX_TOKENS = 4_096
const MAX_MESSAGES = 100
/** Totals for all texts, and for all images as base64. */
const MAX_TEXT_CHARACTERS = 100_000
const MAX_IMAGE_CHARACTERS = 5_000_000
const MAX_STOP_SEQUENCES = 8

/** Reads a server's `sampling/createMessage`, within bounds. Throws, with a message for the server, if it is unsupported. */
export function readSampling(params: Readonly<Record<string, unknown>>): SamplingRequest {
  const { messages, systemPrompt, maxTokens, temperature, stopSequences, tools, toolChoice } = params
  if (tools !== undefined || toolChoice !== undefined) throw new Error('Sampling with tools is not supported')
  if (!Array.isArray(messages) || messages.length === 0)
    throw new Error('Sampling needs at least one message')
  if (messages.length > MAX_MESSAGES) throw new Error(`Sampling takes at most ${MAX_MESSAGES} messages`)
  const system: WritingMessage[] =
    typeof systemPrompt === 'string' && systemPrompt.trim() !== ''
      ? [{ role: 'system', content: systemPrompt }]
      : []
  const all = [...system, ...messages.map(messageOf)]
  checkSize(all)
  return {
    messages: all,
    maxTokens: Math.max(1, Math.min(Math.floor(Number(maxTokens)) || MAX_TOKENS, MAX_TOKENS)),
    // The highest value that every model accepts.
    ...(typeof temperature === 'number' && { temperature: Math.max(0, Math.min(temperature, 1)) }),
    stopSequences: stopsIn(stopSequences),
  }
}

/** Some models reject blank ones. */
function stopsIn(given: unknown): string[] {
  const texts = Array.isArray(given) ? given : []
  return texts.filter(text => typeof text === 'string' && text.trim() !== '').slice(0, MAX_STOP_SEQUENCES)
}

function messageOf(message: unknown): WritingMessage {
  const { role, content } = isRecord(message) ? message : {}
  if (role !== 'user' && role !== 'assistant')
    throw new Error('Invalid message role; expected one of user, assistant')
  return { role, content: [content].flat().map(blockOf) }
}

function blockOf(block: unknown): WritingBlock {
  const { type, text, data, mimeType } = isRecord(block) ? block : {}
  if (type === 'text' && typeof text === 'string') return { type, text }
  if (type === 'image' && typeof data === 'string' && /^image\/[\w.+-]{1,50}$/.test(String(mimeType)))
    return { type: 'image_url', image_url: `data:${mimeType};base64,${data}` }
  throw new Error(`Messages with content of type '${String(type).slice(0, 50)}' are not supported`)
}

function checkSize(messages: readonly WritingMessage[]): void {
  let texts = 0
  let images = 0
  for (const block of messages.flatMap(blocksOf))
    if (block.type === 'text') texts += block.text.length
    else images += block.image_url.length
  if (texts > MAX_TEXT_CHARACTERS) throw new Error(`The messages have over ${MAX_TEXT_CHARACTERS} characters`)
  if (images > MAX_IMAGE_CHARACTERS) throw new Error('The images are too large')
}

function blocksOf({ content }: WritingMessage): readonly WritingBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}

/** What a person, the policy and the history see of it: all texts; for an image, its type and digest. */
export function shownSampling({ messages, ...style }: SamplingRequest): Record<string, unknown> {
  const shown = messages.map(message => ({
    role: message.role,
    text: blocksOf(message).map(shownBlock).join('\n'),
  }))
  return { messages: shown, ...style }
}

function shownBlock(block: WritingBlock): string {
  if (block.type === 'text') return block.text
  const [kind = ''] = block.image_url.split(';', 1)
  const digest = createHash('sha256').update(block.image_url).digest('hex')
  return `[${kind.slice('data:'.length)}, sha256 ${digest}]`
}
