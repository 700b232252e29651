import { randomUUID } from 'node:crypto'
import {
  type ClientCapabilities,
  type InputRequiredResult,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server'
import type { Caller } from '../../tools/caller.ts'
import { ELICITATION_MS, MAX_ELICITATIONS } from '../limits.ts'
import {
  answerOf,
  CANNOT_SHOW,
  canShow,
  elicitParams,
  levelIn,
  logTo,
  type McpRequest,
} from './client-peer.ts'

/** What is done for a client, with its help; ends when the signal aborts. */
type Work<Result> = (peer: Caller, signal: AbortSignal) => Promise<Result>

interface OpenQuestion {
  request: object
  /** Whether the client knows of it. */
  isHandedOut: boolean
  settle(response: unknown): void
}

/**
 * Requests of the newest protocol, which has none from a server to its client: the client is handed the questions in
 * place of a result, and comes again with the answers. The work goes on from there; it is never begun again.
 */
export class SuspendedCalls {
  /** By the state that the client brings back; the oldest first. */
  readonly #suspended = new Map<string, SuspendedCall<unknown>>()

  /** `owner` says whose request it is and what it is about: only the same may go on with it. */
  async run<Result>(
    request: McpRequest,
    { owner, capabilities, work }: { owner: string; capabilities: ClientCapabilities; work: Work<Result> },
  ): Promise<Result | InputRequiredResult> {
    const state = request.requestState<string>()
    const call = state === undefined ? new SuspendedCall(owner, capabilities, work) : this.#take(state, owner)
    const outcome = await call.goOn(request)
    return outcome === ASKS ? this.#suspend(call) : (outcome as Result)
  }

  #take(state: string, owner: string): SuspendedCall<unknown> {
    const call = this.#suspended.get(state)
    if (call?.owner !== owner)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'This question is no longer open: call again')
    this.#suspended.delete(state)
    return call
  }

  #suspend(call: SuspendedCall<unknown>): InputRequiredResult {
    const [oldest] = this.#suspended
    if (oldest && this.#suspended.size >= MAX_ELICITATIONS) {
      this.#suspended.delete(oldest[0])
      oldest[1].giveUp()
    }
    const requestState = randomUUID()
    this.#suspended.set(requestState, call)
    // Also when it is over by then: what came of it waits for the client.
    call.expireIn(ELICITATION_MS, () => this.#suspended.delete(requestState))
    return inputRequired({ inputRequests: call.handOut() as never, requestState })
  }
}

const ASKS = Symbol('asks')

class SuspendedCall<Result> {
  readonly owner: string
  readonly #capabilities: ClientCapabilities
  readonly #controller = new AbortController()
  readonly #open = new Map<string, OpenQuestion>()
  readonly #result: Promise<Result>
  /** The request that the client waits for now, if it does. */
  #request: McpRequest | undefined
  #onQuestion: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined
  #asked = 0

  constructor(owner: string, capabilities: ClientCapabilities, work: Work<Result>) {
    this.owner = owner
    this.#capabilities = capabilities
    // Not before there is a request to log to.
    this.#result = Promise.resolve().then(() => work(this.#peer(), this.#controller.signal))
    this.#result.catch(() => {})
  }

  /** Resolves to the result, or to ASKS when the client is to be asked something first. */
  async goOn(request: McpRequest): Promise<Result | typeof ASKS> {
    this.#request = request
    clearTimeout(this.#timer)
    const abort = () => this.giveUp()
    request.signal.addEventListener('abort', abort)
    if (request.signal.aborted) abort()
    this.#answer(request.inputResponses as Record<string, unknown> | undefined)
    const asks = new Promise<typeof ASKS>(resolve => {
      // What is asked in the same turn is asked together.
      this.#onQuestion = () => setImmediate(resolve, ASKS)
    })
    if (this.#open.size > 0) this.#onQuestion?.()
    try {
      return await Promise.race([this.#result, asks])
    } finally {
      request.signal.removeEventListener('abort', abort)
      this.#request = this.#onQuestion = undefined
    }
  }

  /** The questions that are open now, as the client gets them. */
  handOut(): Record<string, object> {
    for (const question of this.#open.values()) question.isHandedOut = true
    return Object.fromEntries([...this.#open].map(([key, { request }]) => [key, request]))
  }

  expireIn(ms: number, forget: () => void): void {
    this.#timer = setTimeout(() => {
      forget()
      this.giveUp()
    }, ms).unref()
  }

  giveUp(): void {
    this.#controller.abort()
    this.handOut()
    this.#answer({})
  }

  /** Every question that the client knows of has its answer now, also if that is none. */
  #answer(responses: Record<string, unknown> = {}): void {
    for (const [key, { isHandedOut, settle }] of this.#open) {
      if (!isHandedOut) continue
      this.#open.delete(key)
      settle(responses[key])
    }
  }

  #peer(): Caller {
    const { elicitation, sampling } = this.#capabilities
    return {
      onLog: message => this.#request && logTo(this.#request, levelIn(this.#request))?.(message),
      ...(elicitation && {
        ask: async question => {
          if (!canShow(this.#capabilities, question)) return { action: 'decline', reason: CANNOT_SHOW }
          return answerOf(await this.#ask('elicitation/create', elicitParams(question), question.signal))
        },
      }),
      ...(sampling && {
        sample: async (params, { signal }) => {
          const response = await this.#ask('sampling/createMessage', params, signal)
          if (typeof response !== 'object' || response === null)
            throw new Error('The client did not write a message')
          return response as Record<string, unknown>
        },
      }),
    }
  }

  #ask(method: string, params: object, signal: AbortSignal | undefined): Promise<unknown> {
    const key = `q${++this.#asked}`
    return new Promise(resolve => {
      this.#open.set(key, { request: { method, params }, isHandedOut: false, settle: resolve })
      signal?.addEventListener('abort', () => this.#open.delete(key) && resolve(undefined), { once: true })
      this.#onQuestion?.()
    })
  }
}
