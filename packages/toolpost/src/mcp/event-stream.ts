import { setTimeout as pause } from 'node:timers/promises'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { bodyChunks } from '../runtime/body-chunks.ts'
import { SLICE_MS } from '../runtime/slices.ts'
import { nextTurn } from '../runtime/turns.ts'
import type { HttpMessages, SentRequest } from './http-messages.ts'
import { HTTP_REPLY_MS, SDK_MESSAGE_MS, UNASKED_BURST, UNASKED_PAUSE_MS } from './limits.ts'

export interface StreamOptions {
  messages: HttpMessages
  /** The request whose response the stream carries; none for a stream of the server's own messages. */
  request: SentRequest | undefined
  /** Aborted when the stream is no longer wanted. */
  signal: AbortSignal | null | undefined
}

/** How much is parsed before the clock is checked. */
const PART_CHARACTERS = 4_096

type Reader = ReadableStreamDefaultReader<Uint8Array>

/** A server's event stream as passed to the SDK: bounded, and never ending without a response to its request. */
export function eventStream(
  body: ReadableStream<Uint8Array>,
  options: StreamOptions,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  const events = new EventReader(reader, options).read()
  const encoder = new TextEncoder()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await events.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
    cancel: reason => reader.cancel(reason),
  })
}

class EventReader {
  readonly #reader: Reader
  readonly #options: StreamOptions
  readonly #decoder = new TextDecoder()
  readonly #parser: ReturnType<typeof createParser>
  #parsed: EventSourceMessage[] = []
  #retryMs: number | undefined
  #isTooLong = false
  /** Characters received since the last complete event. */
  #unfinished = 0
  #count = 0
  /** What the events of this slice have cost. */
  #spentMs = 0
  /** The stream can be resumed after a break, which the SDK takes care of. */
  #isResumable = false

  constructor(reader: Reader, options: StreamOptions) {
    this.#reader = reader
    this.#options = options
    this.#parser = createParser({
      maxBufferSize: options.messages.maxBytes,
      onEvent: event => this.#parsed.push(event),
      onRetry: ms => {
        this.#retryMs = ms
      },
      onError: ({ type }) => {
        this.#isTooLong ||= type === 'max-buffer-size-exceeded'
      },
    })
  }

  async *read(): AsyncGenerator<string> {
    const { messages, request, signal } = this.#options
    try {
      yield* this.#events()
    } catch (error) {
      if (signal?.aborted || !request || this.#isResumable) throw error
    }
    if (request && !this.#isResumable && !signal?.aborted) yield* messages.lose(request).map(asData)
  }

  async *#events(): AsyncGenerator<string> {
    const { messages, request } = this.#options
    for await (const chunk of bodyChunks(this.#reader)) {
      yield* this.#feed(this.#decoder.decode(chunk, { stream: true }))
      if (!this.#isTooLong) continue
      await this.#reader.cancel().catch(() => {})
      yield* messages.refuse(tooLong(messages.maxBytes), request).map(asData)
      return
    }
    // A trailing carriage return would wait for a line feed that may follow.
    yield* this.#feed('\n')
  }

  async *#feed(text: string): AsyncGenerator<string> {
    for (let at = 0; at < text.length && !this.#isTooLong; at += PART_CHARACTERS)
      yield* this.#part(text.slice(at, at + PART_CHARACTERS))
  }

  /** Yields to others after each slice of work, and for longer if the stream goes on and on without a response. */
  async #spend(ms: number): Promise<void> {
    this.#spentMs += ms
    if (this.#spentMs < SLICE_MS) return
    if (this.#count > UNASKED_BURST) await pause(UNASKED_PAUSE_MS)
    await nextTurn(this)
    this.#spentMs = 0
  }

  async *#part(text: string): AsyncGenerator<string> {
    const began = performance.now()
    this.#parser.feed(text)
    await this.#spend(performance.now() - began)
    const parsed = this.#parsed
    this.#parsed = []
    this.#unfinished = parsed.length > 0 ? 0 : this.#unfinished + text.length
    // The parser limits the data of an event, but not the number of lines, each of which takes memory.
    this.#isTooLong ||= this.#unfinished > this.#options.messages.maxBytes
    for (const event of parsed) yield* this.#rewritten(event)
  }

  async *#rewritten({ event, id, data }: EventSourceMessage): AsyncGenerator<string> {
    const { messages, request } = this.#options
    this.#count++
    if (id) this.#isResumable = true
    const isMessage = (event === undefined || event === 'message') && data !== ''
    const contents = isMessage ? await messages.read(data, request) : [data]
    let head = this.#headOf(event, id)
    for (const content of contents.length > 0 ? contents : ['']) {
      const isText = typeof content === 'string'
      await this.#spend(!isText && 'method' in content && 'id' in content ? HTTP_REPLY_MS : SDK_MESSAGE_MS)
      const handedOver = performance.now()
      yield head + (isText ? asLines(content) : asData(content))
      // The time the SDK spent on it, which may be far more than usual: a message it rejects costs a stack trace.
      this.#spentMs += Math.min(performance.now() - handedOver, SLICE_MS)
      head = ''
    }
  }

  #headOf(event: string | undefined, id: string | undefined): string {
    const retry = this.#retryMs === undefined ? '' : `retry: ${this.#retryMs}\n`
    this.#retryMs = undefined
    return `${retry}${id ? `id: ${id}\n` : ''}${event ? `event: ${event}\n` : ''}`
  }
}

/** The message for a response over the limit, which applies after decompression. */
export function tooLong(maxBytes: number): string {
  return `The server's answer is over the limit of ${maxBytes} bytes (maxLineBytes)`
}

/** A message as an event. */
export function asData(message: object): string {
  return `data: ${JSON.stringify(message)}\n\n`
}

function asLines(data: string): string {
  return `data: ${data.replaceAll('\n', '\ndata: ')}\n\n`
}
