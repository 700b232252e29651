import { randomUUID } from 'node:crypto'
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { isRecord } from '../runtime/guards.ts'
import { TooLargeError } from '../runtime/sliced-json.ts'
import { BYTES_PER_VALUE, MAX_LINE_BYTES, REMEMBERED_CALLS, SLICED_OVER_CHARACTERS } from './limits.ts'
import { parseLongMessage } from './long-message.ts'
import { ServerLostError, UnusableAnswerError } from './server-failure.ts'

/** A request that was sent to an HTTP server. */
export interface SentRequest {
  id: string | number
  method: string
}

export interface MessageEvents {
  /** A response without a pending call. */
  stray(id: unknown, isLate: boolean): void
  problem(message: string): void
}

const CACHED = { ttlMs: 0, cacheScope: 'private' }
/**
 * Methods whose results bypass the SDK, which would validate them at length and reject what does not match its schemas; with
 * the minimal result it accepts.
 */
const OWN_METHODS = new Map<string, object>([
  ['tools/call', { content: [] }],
  ['tools/list', { tools: [], ...CACHED }],
  ['resources/list', { resources: [], ...CACHED }],
  ['resources/templates/list', { resourceTemplates: [], ...CACHED }],
  ['resources/read', { contents: [], ...CACHED }],
  ['prompts/list', { prompts: [], ...CACHED }],
  ['prompts/get', { messages: [] }],
  ['completion/complete', { completion: { values: [] } }],
  ['tasks/get', {}],
  ['tasks/result', {}],
])
const TICKET = `toolpost/${randomUUID()}`
const REFUSED = -32_000

/**
 * What an HTTP server sends, on its way to the SDK. Long messages are parsed in slices. The results of calls and lists are
 * kept here and the SDK gets a ticket for each, so that they are as fast, as large and as unaltered as over stdio.
 */
export class HttpMessages {
  readonly maxBytes: number
  readonly #events: MessageEvents
  readonly #sent = new Map<string, SentRequest>()
  readonly #cancelled = new Set<string>()
  readonly #results = new Map<string, unknown>()

  constructor(events: MessageEvents, maxBytes = MAX_LINE_BYTES) {
    this.#events = events
    this.maxBytes = maxBytes
  }

  /** Records a message to the server; returns its id and method if it is a request. */
  sent(message: JSONRPCMessage | JSONRPCMessage[]): SentRequest | undefined {
    if (Array.isArray(message) || !('method' in message)) return undefined
    if (message.method === 'notifications/cancelled') this.#cancel(String(message.params?.requestId))
    if (!('id' in message)) return undefined
    const request = { id: message.id, method: message.method }
    remember(this.#sent, String(message.id), request)
    return request
  }

  #cancel(id: string): void {
    this.#results.delete(id)
    if (!this.#sent.delete(id)) return
    this.#cancelled.add(id)
    if (this.#cancelled.size > REMEMBERED_CALLS) this.#cancelled.clear()
  }

  /** The messages in a text from the server that go to the SDK; an unusable text fails the `request` it responds to. */
  async read(text: string, request?: SentRequest): Promise<object[]> {
    try {
      const isLong = text.length > SLICED_OVER_CHARACTERS
      const maxValues = this.maxBytes / BYTES_PER_VALUE
      const isWanted = () => !request || this.isPending(request)
      const value: unknown = isLong ? await parseLongMessage(text, { maxValues, isWanted }) : JSON.parse(text)
      const messages = Array.isArray(value) ? value : [value]
      return messages.flatMap(message => this.#forSdk(message, isLong, request))
    } catch (error) {
      if (error instanceof TooLargeError) return this.refuse(`The server's answer ${error.message}`, request)
      return this.refuse('Malformed MCP message: the server sent invalid JSON', request)
    }
  }

  #forSdk(message: unknown, isLong: boolean, request: SentRequest | undefined): object[] {
    if (!isRecord(message) || message.jsonrpc !== '2.0')
      return this.refuse('Malformed MCP message: not JSON-RPC 2.0', request)
    if ('method' in message) {
      if (!isLong) return [message]
      this.#events.problem(`The server sent a ${message.method} message that is too long`)
      return []
    }
    const key = typeof message.id === 'object' ? '' : String(message.id)
    const asked = this.#sent.get(key)
    this.#sent.delete(key)
    if (asked) return [this.#answer(asked, message, isLong)]
    this.#events.stray(message.id, this.#cancelled.delete(key))
    return []
  }

  #answer(asked: SentRequest, message: Record<string, unknown>, isLong: boolean): object {
    const { error, result } = message
    if (error !== undefined && error !== null) return this.#failure(asked, error, isLong)
    if (OWN_METHODS.has(asked.method)) return this.#ticket(asked, result)
    if (isLong || !isRecord(result))
      return refusal(asked, `The server's answer to ${asked.method} is ${isLong ? 'too long' : 'malformed'}`)
    return { jsonrpc: '2.0', id: asked.id, result }
  }

  #failure({ id }: SentRequest, error: unknown, isLong: boolean): object {
    const { code, message, data } = isRecord(error) ? error : { message: error }
    const shown = typeof message === 'string' ? message.slice(0, SLICED_OVER_CHARACTERS) : ''
    const isCode = typeof code === 'number' && Number.isSafeInteger(code)
    const more = isLong || data === undefined ? {} : { data }
    return { jsonrpc: '2.0', id, error: { code: isCode ? code : REFUSED, message: shown, ...more } }
  }

  /** An unusable response: fails `request`, or all pending requests if it is not known which. */
  refuse(problem: string, request?: SentRequest): object[] {
    return this.#failAll(new UnusableAnswerError(problem), request)
  }

  /** The stream of `request` ended without a response: whether it was executed is unknown. */
  lose(request: SentRequest): object[] {
    return this.#failAll(new ServerLostError('the connection was lost'), request)
  }

  #failAll(error: Error, request: SentRequest | undefined): object[] {
    if (!request) this.#events.problem(error.message)
    const concerned = request ? [request] : [...this.#sent.values()]
    return concerned
      .filter(({ id }) => this.#sent.delete(String(id)))
      .map(asked =>
        OWN_METHODS.has(asked.method) ? this.#ticket(asked, error) : refusal(asked, error.message),
      )
  }

  isPending({ id }: SentRequest): boolean {
    return this.#sent.has(String(id))
  }

  #ticket({ id, method }: SentRequest, value: unknown): object {
    remember(this.#results, String(id), value)
    const empty = OWN_METHODS.get(method)
    return {
      jsonrpc: '2.0',
      id,
      result: { ...empty, resultType: 'complete', _meta: { [TICKET]: String(id) } },
    }
  }

  /** The result behind a ticket; throws if it is a failure. */
  redeem(result: unknown): unknown {
    const meta = isRecord(result) && isRecord(result._meta) ? result._meta : {}
    const id = meta[TICKET]
    if (typeof id !== 'string' || !this.#results.has(id)) return result
    const value = this.#results.get(id)
    this.#results.delete(id)
    if (value instanceof Error) throw value
    return value
  }
}

function refusal({ id }: SentRequest, message: string): object {
  return { jsonrpc: '2.0', id, error: { code: REFUSED, message } }
}

/** Forgets the oldest if there are too many: requests the server never answered. */
function remember<T>(known: Map<string, T>, key: string, value: T): void {
  known.set(key, value)
  if (known.size > REMEMBERED_CALLS) known.delete(known.keys().next().value as string)
}
