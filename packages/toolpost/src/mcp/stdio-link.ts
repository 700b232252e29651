import type { Client } from '@modelcontextprotocol/client'
import { isRecord } from '../runtime/guards.ts'
import { CallChannel } from './call-channel.ts'
import { isTask } from './call-result.ts'
import { NO_TIMEOUT_MS } from './limits.ts'
import { idOfLongLine, type LineEnds } from './line-reader.ts'
import { Listening } from './listening.ts'
import {
  aboutServer,
  type ClientEvents,
  createClient,
  listAll,
  loadSdk,
  modernMeta,
  type Negotiation,
} from './sdk-client.ts'
import type { StdioServerEntry } from './server-entry.ts'
import {
  ConnectError,
  describeError,
  failureWith,
  neverStarted,
  type ServerFailure,
  ServerLostError,
  UnusableAnswerError,
} from './server-failure.ts'
import type {
  LinkCall,
  LinkContext,
  LinkRequestOptions,
  Opening,
  PendingCall,
  ServerAbout,
  ServerLink,
} from './server-link.ts'
import { StdioTransport } from './stdio-transport.ts'
import { cancelTask } from './task-run.ts'
import { createdTask } from './task-state.ts'

/**
 * Starts a server and performs the handshake; rejects with a ConnectError. The established protocol comes first: nearly every
 * server knows it, while some exit when asked for the newest one. A server that refuses is restarted and asked for that.
 */
export async function openStdioLink(opening: Opening<StdioServerEntry>): Promise<ServerLink> {
  const { memory } = opening.context
  if (memory.modernOnly) return connect(opening, 'auto')
  try {
    return await connect(opening, 'legacy')
  } catch (error) {
    if (!((error as ConnectError).cause instanceof HandshakeRefusedError)) throw error
    const link = await connect(opening, 'auto')
    memory.modernOnly = true
    return link
  }
}

/** Notifications for the SDK, about its own requests and the server's. */
const SDK_NOTIFICATIONS = new Set(['notifications/cancelled', 'notifications/subscriptions/acknowledged'])

/** The server refused the handshake. */
class HandshakeRefusedError extends Error {
  override name = 'HandshakeRefusedError'
}

async function connect(
  { entry, context, signal }: Opening<StdioServerEntry>,
  negotiation: Negotiation,
): Promise<ServerLink> {
  if (signal.aborted) throw new ConnectError(failureWith(describeError(signal.reason)))
  const link = new StdioLink(entry, context)
  const giveUp = () => void link.close()
  signal.addEventListener('abort', giveUp)
  try {
    await link.connect(negotiation)
    return link
  } catch (error) {
    await link.close()
    throw new ConnectError(link.failure(error, signal), { cause: error })
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

class StdioLink implements ServerLink {
  readonly mirrorsArguments = false
  tools: readonly unknown[] = []
  about: ServerAbout = { capabilities: {}, instructions: undefined, info: undefined }
  readonly #context: LinkContext
  readonly #transport: StdioTransport
  #calls: CallChannel
  #client: Client | undefined
  #listening: Listening | undefined
  #isReady = false
  #isClosing = false
  /** How the process ended, once it has. */
  #cause: string | undefined
  #endedItself = false

  constructor(entry: StdioServerEntry, context: LinkContext) {
    const { events } = context
    this.#context = context
    this.#calls = this.#channel()
    this.#transport = new StdioTransport(
      entry,
      {
        ...events,
        intercept: message => this.#calls.receive(message) || this.#notice(message),
        tooLarge: (line, problem) => this.#tooLarge(line, problem),
        ended: cause => this.#ended(cause),
      },
      context.secrets,
    )
  }

  async connect(negotiation: Negotiation): Promise<void> {
    const { events, requests } = this.#context
    await this.#transport.start()
    const clientEvents: ClientEvents = {
      notice: (method, params) => events.notice(method, params),
      error: error => this.#isReady && events.problem(describeError(error)),
      requester: () => this.#calls.requester,
    }
    const client = await createClient(negotiation, requests, clientEvents)
    if (this.#cause !== undefined) throw new ServerLostError(this.#cause)
    await this.#shakeHands(client)
    if (client.getProtocolEra() === 'modern')
      this.#calls = this.#channel(await modernMeta(client, requests.capabilities))
    this.#client = client
    this.about = aboutServer(client)
    this.#listening = new Listening(client, clientEvents)
    await this.#listening.start()
    this.tools = (await listAll(this, 'tools')).entries
    this.#isReady = true
  }

  async #shakeHands(client: Client): Promise<void> {
    const { ProtocolError } = await loadSdk()
    try {
      await client.connect(this.#transport, { timeout: NO_TIMEOUT_MS })
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      throw new HandshakeRefusedError('the server refused the handshake', { cause: error })
    }
  }

  #channel(meta?: Record<string, unknown>): CallChannel {
    const { events } = this.#context
    const send = (message: object) => this.#transport.write(message)
    const isStuck = () => this.#transport.process.isStuck
    const hasEnough = () => this.#transport.process.hasEnough
    const late = (result: unknown) => isTask(result) && cancelTask(this, createdTask(result).id)
    return new CallChannel({ isStuck, hasEnough, send, stray: events.stray, late }, meta)
  }

  get pid(): number | undefined {
    return this.#transport.process.pid
  }

  get protocolVersion(): string | undefined {
    return this.#client?.getNegotiatedProtocolVersion()
  }

  get hasAnswered(): boolean {
    return this.#calls.answered > 0
  }

  stderr(): string {
    return this.#transport.process.stderr.text()
  }

  call({ tool, args, answers, task, from, onProgress, meta, onRequest }: LinkCall): PendingCall {
    const params =
      answers || task
        ? { name: tool.name, arguments: args, ...answers, ...(task && { task }) }
        : { name: tool.name, arguments: args }
    let id = -1
    const result = new Promise<unknown>((resolve, reject) => {
      if (this.#cause !== undefined) return reject(new ServerLostError(this.#cause, { neverSent: true }))
      id = this.#calls.begin('tools/call', params, { resolve, reject, onProgress, meta, from })
      onRequest?.({ method: 'tools/call', id, protocolVersion: this.protocolVersion })
    })
    return { result, cancel: reason => this.#calls.cancel(id, reason) }
  }

  idle(): Promise<void> {
    return this.#calls.idle()
  }

  async request(method: string, params: object, options: LinkRequestOptions = {}): Promise<unknown> {
    if (this.#cause !== undefined) throw new ServerLostError(this.#cause, { neverSent: true })
    return this.#calls.request(method, params, options)
  }

  async follow(uri: string): Promise<() => void> {
    if (!this.#listening) throw new Error('Not connected')
    return this.#listening.follow(uri, this)
  }

  /** Handles notifications that the SDK would only process slowly. */
  #notice({ method, params }: Record<string, unknown>): boolean {
    if (typeof method !== 'string' || !method.startsWith('notifications/')) return false
    if (SDK_NOTIFICATIONS.has(method)) return false
    this.#context.events.notice(method, isRecord(params) ? params : {}, this.#calls.requester)
    return true
  }

  /** Fails only the request whose response was too large, or all of them if it is unknown which one that was. */
  #tooLarge(line: LineEnds, problem: string): void {
    const id = idOfLongLine(line)
    if (id === undefined && !line.ended) return
    const error = new UnusableAnswerError(`The server's answer ${problem}`)
    this.#transport.refuse(error.message, id)
    const failed = this.#calls.fail(error, id)
    if (failed > 0) this.#context.events.problem(error.message)
  }

  #ended(cause: string): void {
    this.#cause = cause
    this.#endedItself = !this.#isClosing
    if (this.#isReady && !this.#isClosing) this.#context.events.lost(this.#failureWith(cause))
    this.#calls.fail(new ServerLostError(this.#isClosing ? 'the server was stopped' : cause))
  }

  async close(): Promise<void> {
    this.#isClosing = true
    await this.#transport.close()
  }

  /** Why the handshake failed: it was aborted, the process ended, or `error`. */
  failure(error: unknown, signal: AbortSignal): ServerFailure {
    if (signal.aborted) return this.#failureWith(describeError(signal.reason))
    const isDeath = this.#endedItself && isClosed(error)
    const failure = this.#failureWith(isDeath ? `${this.#cause} before it was ready` : describeError(error))
    return neverStarted(error) ? { ...failure, isPermanent: true } : failure
  }

  #failureWith(cause: string): ServerFailure {
    return { cause, stderr: this.stderr(), ...this.#transport.process.exit }
  }
}

/** Whether the SDK reports that the process ended. */
function isClosed(error: unknown): boolean {
  if (error instanceof ServerLostError) return true
  const { code } = error as { code?: unknown }
  return code === 'CONNECTION_CLOSED' || code === 'ERA_NEGOTIATION_FAILED' || code === 'NOT_CONNECTED'
}
