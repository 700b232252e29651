import type { ClientCapabilities } from '@modelcontextprotocol/server'
import { isRecord } from '../../runtime/guards.ts'
import type { AskedBy, Caller } from '../../tools/caller.ts'
import type { Progress } from '../../tools/tool.ts'
import {
  answerOf,
  CANNOT_SHOW,
  canShow,
  elicitParams,
  levelIn,
  logTo,
  type McpRequest,
} from './client-peer.ts'

/** How a client helps with work done for it, and follows its progress. */
export interface ClientHelp extends Caller {
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** Called with the id of the durable run that the work became. */
  readonly onRun?: ((id: string) => void) | undefined
}

/** Work done for a client, with its help; ends when the signal aborts. `current` is the request now waiting for it. */
export type Work<Result> = (
  help: ClientHelp,
  signal: AbortSignal,
  current: () => McpRequest | undefined,
) => Promise<Result>

/** Whose work it is and what it is about: only the same client may continue it, with the same request. */
export interface Owner {
  client: string
  about: string
}

export interface ClientCallOptions<Result> {
  owner: Owner
  capabilities: ClientCapabilities
  work: Work<Result>
  /** Whether it may become a task if it takes long. */
  mayBeTask?: boolean | undefined
}

interface OpenQuestion {
  request: { method: string; params: object }
  /** Whether it was sent to the client. */
  isHandedOut: boolean
  settle(response: unknown): void
}

export const ASKS = Symbol('asks')
export const TAKES_LONG = Symbol('takes long')

/** Work that outlives the request that started it, with its open questions to the client. */
export class ClientCall<Result = unknown> {
  readonly owner: Owner
  readonly result: Promise<Result>
  /** Called when a question opens or closes, and on progress. */
  onChange: ((progress?: Progress) => void) | undefined
  /** The durable run behind it, if there is one: any process can continue it. */
  runId: string | undefined
  readonly #capabilities: ClientCapabilities
  readonly #controller = new AbortController()
  readonly #open = new Map<string, OpenQuestion>()
  /** The request the client is waiting for now, if any. */
  #request: McpRequest | undefined
  #onQuestion: (() => void) | undefined
  #onLong: (() => void) | undefined
  #isLong = false
  #timer: NodeJS.Timeout | undefined
  #asked = 0

  constructor({ owner, capabilities, work, mayBeTask }: ClientCallOptions<Result>) {
    this.owner = owner
    this.#capabilities = capabilities
    // Deferred until there is a request to log to.
    this.result = Promise.resolve().then(() => {
      const help = mayBeTask ? { ...this.#help(), ...this.#watch() } : this.#help()
      return work(help, this.#controller.signal, () => this.#request)
    })
    this.result.catch(() => {})
  }

  /**
   * Resolves to the result, to ASKS if the client has to be asked something first, or to TAKES_LONG after `longAfterMs`
   * or when the tool's server says so.
   */
  async goOn(request: McpRequest, longAfterMs?: number): Promise<Result | typeof ASKS | typeof TAKES_LONG> {
    this.#request = request
    clearTimeout(this.#timer)
    const abort = () => this.giveUp(request.signal.reason)
    request.signal.addEventListener('abort', abort)
    if (request.signal.aborted) abort()
    const responses = (request.inputResponses ?? {}) as Record<string, unknown>
    for (const [key, { isHandedOut }] of this.#open) if (isHandedOut) this.#settle(key, responses[key])
    const asks = this.#untilAsked()
    const long = longAfterMs === undefined ? [] : [this.#untilLong(longAfterMs)]
    try {
      return await Promise.race([this.result, asks, ...long])
    } finally {
      clearTimeout(this.#timer)
      request.signal.removeEventListener('abort', abort)
      this.#request = this.#onQuestion = this.#onLong = undefined
    }
  }

  #untilAsked(): Promise<typeof ASKS> {
    return new Promise(resolve => {
      // Questions of the same turn are asked together.
      this.#onQuestion = () => setImmediate(resolve, ASKS)
      if (this.#open.size > 0) this.#onQuestion()
    })
  }

  #untilLong(afterMs: number): Promise<typeof TAKES_LONG> {
    return new Promise(resolve => {
      this.#onLong = () => resolve(TAKES_LONG)
      if (this.#isLong) this.#onLong()
      this.#timer = setTimeout(resolve, afterMs, TAKES_LONG)
    })
  }

  get isAsking(): boolean {
    return this.#open.size > 0
  }

  /** The open questions, as sent to the client. */
  handOut(): Record<string, OpenQuestion['request']> {
    for (const question of this.#open.values()) question.isHandedOut = true
    return Object.fromEntries([...this.#open].map(([key, { request }]) => [key, request]))
  }

  /** Sends the client every question it has not been sent yet, now and later, until the returned function is called. */
  askWith(send: (request: OpenQuestion['request']) => Promise<unknown>): () => void {
    const askAll = () => {
      for (const [key, question] of this.#open) {
        if (question.isHandedOut) continue
        question.isHandedOut = true
        send(question.request).then(
          response => this.#settle(key, response),
          () => this.#settle(key, undefined),
        )
      }
    }
    this.#onQuestion = askAll
    askAll()
    return () => {
      if (this.#onQuestion === askAll) this.#onQuestion = undefined
    }
  }

  /** Settles the questions that have an answer; the others stay open. */
  answer(responses: Record<string, unknown>): void {
    for (const key of [...this.#open.keys()])
      if (Object.hasOwn(responses, key)) this.#settle(key, responses[key])
  }

  expireIn(ms: number, forget: () => void): void {
    this.#timer = setTimeout(() => {
      forget()
      this.giveUp()
    }, ms).unref()
  }

  /** Aborts the work and leaves every question unanswered. */
  giveUp(reason?: unknown): void {
    this.#controller.abort(reason)
    for (const key of [...this.#open.keys()]) this.#settle(key, undefined)
  }

  #settle(key: string, response: unknown): void {
    const question = this.#open.get(key)
    if (!question || !this.#open.delete(key)) return
    question.settle(response)
    this.onChange?.()
  }

  #watch(): ClientHelp {
    return {
      onTask: () => {
        this.#isLong = true
        this.#onLong?.()
      },
      onProgress: progress => this.onChange?.(progress),
      onRun: id => {
        this.runId = id
      },
    }
  }

  #help(): ClientHelp {
    const { elicitation, sampling, roots } = this.#capabilities
    return {
      onLog: message => this.#request && logTo(this.#request, levelIn(this.#request))?.(message),
      ...(elicitation && {
        ask: async question => {
          if (!canShow(this.#capabilities, question)) return { action: 'decline', reason: CANNOT_SHOW }
          return answerOf(await this.#ask('elicitation/create', elicitParams(question), question))
        },
      }),
      ...(sampling && {
        sample: async (params, options) =>
          recordOf(await this.#ask('sampling/createMessage', params, options), 'write a message'),
      }),
      ...(roots && {
        roots: async options => recordOf(await this.#ask('roots/list', {}, options), 'list its roots'),
      }),
    }
  }

  /** Uses the server's own key for the question, if it is free. */
  #ask(method: string, params: object, { signal, key: given }: AskedBy): Promise<unknown> {
    const key = given !== undefined && !this.#open.has(given) ? given : `q${++this.#asked}`
    if (signal?.aborted || this.#controller.signal.aborted) return Promise.resolve(undefined)
    return new Promise(resolve => {
      this.#open.set(key, { request: { method, params }, isHandedOut: false, settle: resolve })
      signal?.addEventListener('abort', () => this.#settle(key, undefined), { once: true })
      this.#onQuestion?.()
      this.onChange?.()
    })
  }
}

function recordOf(response: unknown, what: string): Record<string, unknown> {
  if (!isRecord(response)) throw new Error(`The client did not ${what}`)
  return response
}
