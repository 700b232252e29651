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

/** How a client helps with what is done for it, and hears how far that is. */
export interface ClientHelp extends Caller {
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** Told of the durable run that the work became. */
  readonly onRun?: ((id: string) => void) | undefined
}

/** What is done for a client, with its help; ends when the signal aborts. `current` is the request that waits for it now. */
export type Work<Result> = (
  help: ClientHelp,
  signal: AbortSignal,
  current: () => McpRequest | undefined,
) => Promise<Result>

/** Whose work it is and what it is about: only the same may go on with it. */
export interface Owner {
  client: string
  about: string
}

export interface ClientCallOptions<Result> {
  owner: Owner
  capabilities: ClientCapabilities
  work: Work<Result>
  /** Whether its client may hear that it takes long. */
  mayBeTask?: boolean | undefined
}

interface OpenQuestion {
  request: { method: string; params: object }
  /** Whether the client knows of it. */
  isHandedOut: boolean
  settle(response: unknown): void
}

export const ASKS = Symbol('asks')
export const TAKES_LONG = Symbol('takes long')

/** Work that outlives the request that began it, with the questions to the client that are open meanwhile. */
export class ClientCall<Result = unknown> {
  readonly owner: Owner
  readonly result: Promise<Result>
  /** Told when a question opens or closes, and how far the work is. */
  onChange: ((progress?: Progress) => void) | undefined
  /** The durable run that it is, if it is one: any process can go on with it. */
  runId: string | undefined
  readonly #capabilities: ClientCapabilities
  readonly #controller = new AbortController()
  readonly #open = new Map<string, OpenQuestion>()
  /** The request that the client waits for now, if it does. */
  #request: McpRequest | undefined
  #onQuestion: (() => void) | undefined
  #onLong: (() => void) | undefined
  #isLong = false
  #timer: NodeJS.Timeout | undefined
  #asked = 0

  constructor({ owner, capabilities, work, mayBeTask }: ClientCallOptions<Result>) {
    this.owner = owner
    this.#capabilities = capabilities
    // Not before there is a request to log to.
    this.result = Promise.resolve().then(() => {
      const help = mayBeTask ? { ...this.#help(), ...this.#watch() } : this.#help()
      return work(help, this.#controller.signal, () => this.#request)
    })
    this.result.catch(() => {})
  }

  /**
   * Resolves to the result, to ASKS when the client is to be asked something first, or to TAKES_LONG after that time,
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
      // What is asked in the same turn is asked together.
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

  /** The questions that are open now, as the client gets them. */
  handOut(): Record<string, OpenQuestion['request']> {
    for (const question of this.#open.values()) question.isHandedOut = true
    return Object.fromEntries([...this.#open].map(([key, { request }]) => [key, request]))
  }

  /** Has the client asked what it does not know of yet, now and later, until the function that is returned is called. */
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

  /** Takes the answers that there are; the other questions stay open. */
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

  /** Ends the work. Every question has its answer now: none. */
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

  /** Under the name that the server has for it, if that is free. */
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
