import { setTimeout as pause } from 'node:timers/promises'
import type { Client, Transport } from '@modelcontextprotocol/client'
import type { ServerRequest } from '../tools/tool.ts'
import { refusalOf } from './call-result.ts'
import { currentCall, type HttpKind } from './http-fetch.ts'
import { HttpMessages, type SentRequest } from './http-messages.ts'
import {
  answerAfterNotifications,
  createHttpTransport,
  describeHttpError,
  httpStatusOf,
  isGone,
  isRefusedConnection,
  wantsSse,
} from './http-transport.ts'
import { GOODBYE_MS, HEALTH_CHECK_MS, NO_TIMEOUT_MS } from './limits.ts'
import { type ClientEvents, createClient, listenForChanges, listTools, loadSdk } from './sdk-client.ts'
import type { HttpServerEntry } from './server-entry.ts'
import {
  ConnectError,
  describeError,
  failureWith,
  ServerLostError,
  UnusableAnswerError,
} from './server-failure.ts'
import type { Answer, LinkCall, LinkContext, Opening, ServerLink } from './server-link.ts'

/** Connects over Streamable HTTP, or over SSE to a server that is too old for that; rejects with a ConnectError. */
export async function openHttpLink(opening: Opening<HttpServerEntry>): Promise<ServerLink> {
  const { memory } = opening.context
  if (opening.entry.type === 'sse' || memory.sse) return connect(opening, 'sse')
  try {
    return await connect(opening, 'streamable')
  } catch (error) {
    if (!wantsSse((error as ConnectError).cause)) throw error
    const link = await connect(opening, 'sse').catch(() => undefined)
    // The first error says more: that it is not an SSE server either is no surprise.
    if (!link) throw error
    memory.sse = true
    return link
  }
}

async function connect(
  { entry, context, signal }: Opening<HttpServerEntry>,
  kind: HttpKind,
): Promise<ServerLink> {
  const messages = new HttpMessages(context.events, entry.maxLineBytes)
  const transport = await createHttpTransport(entry, kind, messages)
  const link = new HttpLink(transport, { url: entry.url, messages, context })
  try {
    await Promise.race([link.connect(kind), givenUp(signal)])
    return link
  } catch (error) {
    await link.close()
    throw new ConnectError(failureWith(describeHttpError(error)), { cause: error })
  }
}

function givenUp(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

interface HttpLinkOptions {
  url: string
  messages: HttpMessages
  context: LinkContext
}

class HttpLink implements ServerLink {
  readonly pid = undefined
  hasAnswered = false
  tools: readonly unknown[] = []
  readonly #context: LinkContext
  readonly #transport: Transport
  readonly #messages: HttpMessages
  readonly #address: NonNullable<ServerRequest['address']>
  #client: Client | undefined
  #isReady = false
  /** Why the connection ended, once it has. */
  #cause: string | undefined
  #isChecking = false

  constructor(transport: Transport, { url, messages, context }: HttpLinkOptions) {
    this.#transport = transport
    this.#address = addressOf(new URL(url))
    this.#messages = messages
    this.#context = context
  }

  async connect(kind: HttpKind): Promise<void> {
    const { events } = this.#context
    const clientEvents: ClientEvents = {
      toolsChanged: () => events.toolsChanged(),
      error: error => this.#onError(error),
    }
    const client = await createClient(kind === 'sse' ? 'legacy' : 'auto', clientEvents)
    this.#client = client
    await client.connect(this.#transport, { timeout: NO_TIMEOUT_MS })
    answerAfterNotifications(this.#transport)
    await listenForChanges(client, clientEvents)
    this.tools = await this.listTools(NO_TIMEOUT_MS)
    client.onclose = () => this.#lose('the server closed the connection')
    this.#isReady = true
  }

  get protocolVersion(): string | undefined {
    return this.#client?.getNegotiatedProtocolVersion()
  }

  stderr(): string {
    return ''
  }

  async listTools(timeoutMs: number): Promise<unknown[]> {
    if (!this.#client) throw new Error('Not connected')
    return listTools(this.#client, timeoutMs, result => this.#messages.redeem(result))
  }

  call(call: LinkCall): Answer {
    const controller = new AbortController()
    const result = new Promise<unknown>((resolve, reject) => {
      const settle = (action: () => void) => !controller.signal.aborted && action()
      this.#request(call, controller.signal).then(
        value => settle(() => resolve(value)),
        error => settle(() => reject(error)),
      )
    })
    return { result, cancel: reason => controller.abort(new Error(reason)) }
  }

  async #request(call: LinkCall, signal: AbortSignal): Promise<unknown> {
    const client = this.#client
    if (this.#cause !== undefined || !client)
      throw new ServerLostError(this.#cause ?? 'not connected', { neverSent: true })
    const { onRequest } = call
    try {
      const result = await (onRequest
        ? currentCall.run(sent => onRequest(this.#describe(sent)), send, client, call, signal)
        : send(client, call, signal))
      const redeemed = this.#messages.redeem(result)
      this.hasAnswered = true
      return redeemed
    } catch (error) {
      throw signal.aborted ? error : await this.#callError(error)
    }
  }

  #describe({ id, method }: SentRequest): ServerRequest {
    const { sessionId } = this.#transport
    return { id, method, sessionId, protocolVersion: this.protocolVersion, address: this.#address }
  }

  /** What a failed request means for its call, and for the connection. */
  async #callError(error: unknown): Promise<Error> {
    if (error instanceof ServerLostError) {
      void this.#check(error)
      return error
    }
    if (error instanceof UnusableAnswerError) return error
    const { ProtocolError } = await loadSdk()
    if (error instanceof ProtocolError) return refusalOf(error)
    if (!isGone(error)) return new Error(describeHttpError(error))
    const isExpired = httpStatusOf(error) === 404
    this.#lose(isExpired ? 'session expired on the server' : describeHttpError(error))
    return new ServerLostError(this.#cause ?? '', { neverSent: isExpired || isRefusedConnection(error) })
  }

  /** An error outside a request: a stream that broke, most often. Is the server still there? */
  #onError(error: Error): void {
    if (!this.#isReady || this.#cause !== undefined) return
    this.#context.events.problem(describeHttpError(error))
    // An event of an SSE stream that broke: a new stream would be a new session, which knows nothing of this one.
    if ('event' in error) this.#lose(describeHttpError(error))
    else void this.#check(error)
  }

  async #check(error: Error): Promise<void> {
    if (this.#isChecking || !this.#client) return
    this.#isChecking = true
    const { ProtocolError } = await loadSdk()
    const options = { timeout: HEALTH_CHECK_MS }
    try {
      await (this.#client.getProtocolEra() === 'modern'
        ? this.#client.discover(options)
        : this.#client.ping(options))
    } catch (checkError) {
      // A refusal is a sign of life too.
      if (!(checkError instanceof ProtocolError)) this.#lose(describeError(error))
    } finally {
      this.#isChecking = false
    }
  }

  #lose(cause: string): void {
    if (this.#cause !== undefined) return
    this.#cause = cause
    if (this.#isReady) this.#context.events.lost(failureWith(cause))
    void this.#closeTransport()
  }

  async close(): Promise<void> {
    this.#isReady = false
    this.#cause ??= 'the connection was closed'
    const { terminateSession } = this.#transport as { terminateSession?: () => Promise<void> }
    // A courtesy: it must not hold anybody up.
    if (terminateSession && this.#client) {
      const goodbye = terminateSession.call(this.#transport).catch(() => {})
      await Promise.race([goodbye, pause(GOODBYE_MS, undefined, { ref: false })])
    }
    await this.#closeTransport()
  }

  async #closeTransport(): Promise<void> {
    await (this.#client ?? this.#transport).close().catch(() => {})
  }
}

/**
 * Not `request`: the newest protocol mirrors arguments in headers, which `callTool` knows. Given the definition without
 * its output schema, it does not throw away what does not fit one.
 */
function send(client: Client, { tool, args, onProgress, meta }: LinkCall, signal: AbortSignal) {
  const { outputSchema: _, ...toolDefinition } = tool
  const params = { name: tool.name, arguments: args as Record<string, unknown>, ...(meta && { _meta: meta }) }
  return client.callTool(params, {
    signal,
    timeout: NO_TIMEOUT_MS,
    toolDefinition: toolDefinition as never,
    ...(onProgress && { onprogress: onProgress }),
  })
}

function addressOf({ hostname, port, protocol }: URL): NonNullable<ServerRequest['address']> {
  return { host: hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80) }
}
