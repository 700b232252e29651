import { randomUUID } from 'node:crypto'
import type { ClientCapabilities } from '@modelcontextprotocol/server'
import { fingerprint } from '../../interceptors/canonical.ts'
import { INVALID_PARAMS, RpcError } from '../../mcp/peer.ts'
import type { AskedBy, Caller } from '../../tools/caller.ts'
import type { Progress } from '../../tools/tool.ts'
import { isRecord } from '../../util/guards.ts'
import { Disconnected } from '../http.ts'
import { ELICITATION_MS, MAX_ELICITATIONS, TASK_AFTER_MS } from '../limits.ts'
import { helpedBy2025, helpOf, logTo } from './client-help.ts'
import {
  capabilitiesOf,
  isNewest,
  type McpRequest,
  type Params,
  peerOf,
  TASKS_EXTENSION,
} from './protocol.ts'
import type { Tasks } from './tasks.ts'

/** How a client helps with work done for it, and follows its progress. */
export interface ClientHelp extends Caller {
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

/** Work done for a client, with its help, until `caller` aborts. `current` is the request now waiting for it. */
export type Work = (
  help: ClientHelp,
  caller: AbortController,
  current: () => McpRequest | undefined,
) => Promise<object>

export function knowsTasks({ extensions }: ClientCapabilities): boolean {
  return isRecord(extensions?.[TASKS_EXTENSION])
}

interface OpenQuestion {
  request: { method: string; params: object }
  /** Whether it was sent to the client. */
  isHandedOut: boolean
  settle(response: unknown): void
}

/** Work for a client of the newest protocol that outlives the request that started it, with its open questions. */
export class ClientCall {
  /** Whose work it is and what it is about: only the same client may continue it, with the same request. */
  readonly owner: string
  readonly result: Promise<object>
  /** Called when a question opens or closes, and on progress. */
  onChange: ((progress?: Progress) => void) | undefined
  readonly #caller = new AbortController()
  readonly #open = new Map<string, OpenQuestion>()
  /** The request the client is waiting for now, if any. */
  #request: McpRequest | undefined
  #wake: (why: 'asks' | 'long') => void = () => {}
  #isLong = false
  #timer: NodeJS.Timeout | undefined
  #asked = 0

  constructor(owner: string, request: McpRequest, work: Work) {
    const help: ClientHelp = {
      peer: peerOf(request.client, request),
      onLog: message => this.#request && logTo(this.#request)(message),
      ...helpOf(capabilitiesOf(request), (...asked) => this.#ask(...asked)),
      onTask: () => {
        this.#isLong = true
        this.#wake('long')
      },
      onProgress: progress => this.onChange?.(progress),
    }
    this.owner = owner
    // Deferred until there is a request to log to.
    this.result = Promise.resolve().then(() => work(help, this.#caller, () => this.#request))
    this.result.catch(() => {})
  }

  /**
   * Resolves to the result, to `asks` if the client has to be asked something first, or to `long` after `longAfterMs` or
   * when the tool's server says so.
   */
  async next(
    request: McpRequest,
    responses: Params,
    longAfterMs?: number,
  ): Promise<object | 'asks' | 'long'> {
    const { signal } = request.caller
    const abort = () => this.giveUp(signal.reason)
    this.#request = request
    clearTimeout(this.#timer)
    signal.addEventListener('abort', abort)
    if (signal.aborted) abort()
    for (const [key, { isHandedOut }] of this.#open) if (isHandedOut) this.#settle(key, responses[key])
    const woken = new Promise<'asks' | 'long'>(resolve => {
      // Questions of the same turn are asked together.
      this.#wake = why => (why === 'asks' ? setImmediate(resolve, why) : longAfterMs && resolve(why))
    })
    if (this.#open.size > 0) this.#wake('asks')
    if (this.#isLong) this.#wake('long')
    const timer = longAfterMs && setTimeout(() => this.#wake('long'), longAfterMs)
    try {
      return await Promise.race([this.result, woken])
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
      this.#request = undefined
      this.#wake = () => {}
    }
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
    this.#caller.abort(reason)
    for (const key of [...this.#open.keys()]) this.#settle(key, undefined)
  }

  #settle(key: string, response: unknown): void {
    const question = this.#open.get(key)
    if (!question || !this.#open.delete(key)) return
    question.settle(response)
    this.onChange?.()
  }

  /** Uses the server's own key for the question, if it is free. */
  #ask(method: string, params: object, { signal, key: given }: AskedBy): Promise<unknown> {
    const key = given !== undefined && !this.#open.has(given) ? given : `q${++this.#asked}`
    if (signal?.aborted || this.#caller.signal.aborted) return Promise.resolve(undefined)
    return new Promise(resolve => {
      this.#open.set(key, { request: { method, params }, isHandedOut: false, settle: resolve })
      signal?.addEventListener('abort', () => this.#settle(key, undefined), { once: true })
      this.#wake('asks')
      this.onChange?.()
    })
  }
}

/**
 * Runs work for a request, with the client's help in whichever way its protocol provides. In the newest, servers cannot send
 * requests: the client gets the questions in place of a result and returns with the answers. The work continues from there;
 * it is never restarted.
 */
export class ClientCalls {
  readonly #tasks: Tasks
  /** By the state that the client sends back; oldest first. */
  readonly #suspended = new Map<string, ClientCall>()

  constructor(tasks: Tasks) {
    this.#tasks = tasks
  }

  /** `about` must be the same when the client returns; `mayBeTask` if it may be polled for once it takes long. */
  async run(request: McpRequest, about: unknown, work: Work, mayBeTask = false): Promise<object> {
    const { caller, client } = request
    if (!isNewest(request)) return helpedBy2025(request, help => work(help, caller, () => request))
    const capabilities = capabilitiesOf(request)
    const { elicitation, sampling, roots } = capabilities
    const isTask = mayBeTask && knowsTasks(capabilities)
    if (!isTask && !elicitation && !sampling && !roots)
      return work({ peer: peerOf(client, request), onLog: logTo(request) }, caller, () => request)
    const { requestState: state, inputResponses } = request.params
    const owner = fingerprint([client?.name ?? '', request.method, about])
    const call = state === undefined ? new ClientCall(owner, request, work) : this.#take(String(state), owner)
    const responses = isRecord(inputResponses) ? inputResponses : {}
    let outcome = await call.next(request, responses, isTask ? TASK_AFTER_MS : undefined)
    if (outcome === 'long') outcome = this.#tasks.become(request, call) ?? (await call.next(request, {}))
    return outcome === 'asks' ? this.#suspend(call) : (outcome as object)
  }

  #take(state: string, owner: string): ClientCall {
    const call = this.#suspended.get(state)
    if (call?.owner !== owner)
      throw new RpcError('This question is no longer open: call again', { code: INVALID_PARAMS })
    this.#suspended.delete(state)
    return call
  }

  #suspend(call: ClientCall): object {
    const [oldest] = this.#suspended
    if (oldest && this.#suspended.size >= MAX_ELICITATIONS) {
      this.#suspended.delete(oldest[0])
      oldest[1].giveUp()
    }
    const requestState = randomUUID()
    this.#suspended.set(requestState, call)
    // Even if it has finished by then: the result waits for the client.
    call.expireIn(ELICITATION_MS, () => this.#suspended.delete(requestState))
    return { resultType: 'input_required', inputRequests: call.handOut(), requestState }
  }
}
