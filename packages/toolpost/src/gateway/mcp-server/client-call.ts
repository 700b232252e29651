import { randomUUID } from 'node:crypto'
import type { ClientCapabilities } from '@modelcontextprotocol/server'
import { fingerprint } from '../../interceptors/canonical.ts'
import { INVALID_PARAMS, RpcError } from '../../mcp/peer.ts'
import { isRecord } from '../../runtime/guards.ts'
import type { AskedBy } from '../../tools/caller.ts'
import type { Progress } from '../../tools/tool.ts'
import { Disconnected } from '../http.ts'
import { ELICITATION_MS, MAX_ELICITATIONS, TASK_AFTER_MS } from '../limits.ts'
import {
  answerOf,
  CANNOT_SHOW,
  type ClientHelp,
  canShow,
  elicitParams,
  logTo,
  type Work,
} from './call-tool.ts'
import type { McpRequest, Params } from './protocol.ts'

/** Whose work it is and what it is about: only the same client may continue it, with the same request. */
interface Owner {
  client: string
  about: string
}

export interface ClientCallOptions {
  owner?: Owner
  capabilities: ClientCapabilities
  work: Work<object>
  /** Whether it may become a task if it takes long. */
  mayBeTask?: boolean | undefined
}

interface OpenQuestion {
  request: { method: string; params: object }
  /** Whether it was sent to the client. */
  isHandedOut: boolean
  settle(response: unknown): void
}

const ASKS = Symbol('asks')
const TAKES_LONG = Symbol('takes long')

/** Work for a client of the newest protocol that outlives the request that started it, with its open questions. */
export class ClientCall {
  readonly owner: Owner | undefined
  readonly result: Promise<object>
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

  constructor({ owner, capabilities, work, mayBeTask }: ClientCallOptions) {
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
  async goOn(
    request: McpRequest,
    responses: Params,
    longAfterMs?: number,
  ): Promise<object | typeof ASKS | typeof TAKES_LONG> {
    this.#request = request
    clearTimeout(this.#timer)
    const abort = () => this.giveUp(request.signal.reason)
    request.signal.addEventListener('abort', abort)
    if (request.signal.aborted) abort()
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

  /** Settles the questions that have an answer; the others stay open. */
  answer(responses: Params): void {
    for (const key of [...this.#open.keys()])
      if (Object.hasOwn(responses, key)) this.#settle(key, responses[key])
  }

  expireIn(ms: number, forget: () => void): void {
    this.#timer = setTimeout(() => {
      forget()
      this.giveUp(new Disconnected())
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
      onLog: message => this.#request && logTo(this.#request)?.(message),
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

export interface SuspendableWork extends Pick<ClientCallOptions, 'capabilities' | 'work'> {
  /** Whose request it is: only this client may continue it, … */
  client: string
  /** … with the same request. */
  about: unknown
  /** Turns a long call into a task, if the client knows tasks and there is room. */
  toTask?: ((call: ClientCall) => object | undefined) | undefined
}

/**
 * Requests of the newest protocol, in which servers cannot send requests: the client gets the questions in place of a
 * result and returns with the answers. The work continues from there; it is never restarted.
 */
export class SuspendedCalls {
  /** By the state that the client sends back; oldest first. */
  readonly #suspended = new Map<string, ClientCall>()

  async run(request: McpRequest, { client, about, toTask, ...options }: SuspendableWork): Promise<object> {
    const { requestState: state, inputResponses } = request.params
    const owner: Owner = { client, about: fingerprint(about) }
    const responses = isRecord(inputResponses) ? inputResponses : {}
    const call =
      state === undefined
        ? new ClientCall({ ...options, owner, mayBeTask: toTask !== undefined })
        : this.#take(String(state), owner)
    let outcome = await call.goOn(request, responses, toTask && TASK_AFTER_MS)
    if (outcome === TAKES_LONG) outcome = toTask?.(call) ?? (await call.goOn(request, {}))
    return outcome === ASKS ? this.#suspend(call) : (outcome as object)
  }

  #take(state: string, { client, about }: Owner): ClientCall {
    const call = this.#suspended.get(state)
    if (call?.owner?.client !== client || call.owner.about !== about)
      throw new RpcError('This question is no longer open: call again', { code: INVALID_PARAMS })
    this.#suspended.delete(state)
    return call
  }

  #suspend(call: ClientCall): object {
    if (this.#suspended.size >= MAX_ELICITATIONS) this.#makeRoom()
    const requestState = randomUUID()
    this.#suspended.set(requestState, call)
    // Even if it has finished by then: the result waits for the client.
    call.expireIn(ELICITATION_MS, () => this.#suspended.delete(requestState))
    return { resultType: 'input_required', inputRequests: call.handOut(), requestState }
  }

  /** Drops the oldest of the client with the most, so that no client can push out another's. */
  #makeRoom(): void {
    const counts = new Map<string, number>()
    for (const { owner } of this.#suspended.values())
      counts.set(owner?.client ?? '', (counts.get(owner?.client ?? '') ?? 0) + 1)
    const most = Math.max(...counts.values())
    const oldest = [...this.#suspended].find(([, { owner }]) => counts.get(owner?.client ?? '') === most)
    if (!oldest) return
    this.#suspended.delete(oldest[0])
    oldest[1].giveUp()
  }
}
