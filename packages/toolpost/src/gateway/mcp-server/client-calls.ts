import { randomUUID } from 'node:crypto'
import { fingerprint } from '../../interceptors/canonical.ts'
import { INVALID_PARAMS, type Params, RpcError } from '../../mcp/peer.ts'
import type { AskedBy, Caller, Question, QuestionAnswer } from '../../tools/caller.ts'
import { isRecord } from '../../util/guards.ts'
import { Disconnected } from '../http.ts'
import * as limits from '../limits.ts'
import {
  capabilitiesOf,
  errorOf,
  invalid,
  type McpRequest,
  MISSING_CAPABILITY,
  peerOf,
  TASKS_EXTENSION,
  wantsLog,
} from './protocol.ts'

/*
 * What a tool's server can ask of the client that called the tool: its person, its model, its folders, its log. In the 2025
 * protocols the client is sent requests. In the newest it gets the questions in place of a result and returns with the
 * answers, or polls the call as a task; the work continues from there, and is never restarted.
 */

/** Work done for a client, with its help, until `caller` aborts. `current` is the request now waiting for it. */
export type Work = (
  help: Caller,
  caller: AbortController,
  current: () => McpRequest | undefined,
) => Promise<object>

type SendRequest = (method: string, params: object, by: AskedBy) => Promise<unknown>

/** Left out is what the client cannot do. A client that fails, is gone or answers nonsense has not decided. */
function helpOf(request: McpRequest, send: SendRequest, current: () => McpRequest | undefined): Caller {
  const { elicitation, sampling, roots } = capabilitiesOf(request)
  const record = async (what: string, answer: Promise<unknown>) => {
    const given = await answer
    if (!isRecord(given)) throw new Error(`The client did not ${what}`)
    return given
  }
  // Only the newest protocol shows pages. Clients that predate other modes support forms implicitly.
  const canShow = ({ url }: Question) =>
    url === undefined ? elicitation?.form || !elicitation?.url : !request.session && elicitation?.url
  return {
    // Read only by servers that ask.
    get peer() {
      return peerOf(request)
    },
    onLog: logTo(current),
    ...(elicitation && {
      ask: async question => {
        if (!canShow(question)) return { action: 'decline', reason: 'the client cannot show it' }
        return answerOf(await send('elicitation/create', elicitParams(question), question).catch(() => {}))
      },
    }),
    ...(sampling && {
      sample: (params, by) => record('write a message', send('sampling/createMessage', params, by)),
    }),
    ...(roots && { roots: by => record('list its roots', send('roots/list', {}, by)) }),
  }
}

/** A question as the params of `elicitation/create`. Without a schema, accepting is the whole answer. */
function elicitParams({ message, schema, url, server }: Question): object {
  const shown = server === undefined ? message : `${server}: ${message}`
  if (url !== undefined) return { mode: 'url', message: shown, url, elicitationId: randomUUID() }
  return { mode: 'form', message: shown, requestedSchema: schema ?? { type: 'object', properties: {} } }
}

/** Logs to the client. A flood is cut: it would delay the client's other calls. */
function logTo(current: () => McpRequest | undefined): NonNullable<Caller['onLog']> {
  let [since, count] = [0, 0]
  return message => {
    const request = current()
    if (!request || !wantsLog(request, message.level)) return
    const now = performance.now()
    if (now - since >= 1_000) [since, count] = [now, 0]
    if (++count <= limits.MAX_LOGS_PER_SECOND) request.notify('notifications/message', { ...message })
  }
}

function answerOf(response: unknown): QuestionAnswer {
  const { action, content } = isRecord(response) ? response : {}
  if (action !== 'accept' && action !== 'decline') return { action: 'cancel' }
  return { action, ...(isRecord(content) && { content }) }
}

interface OpenQuestion {
  request: { method: string; params: object }
  /** Whether it was sent to the client. */
  isHandedOut: boolean
  settle(response: unknown): void
}

/** Work for a client of the newest protocol that outlives the request that started it, with its open questions. */
class ClientCall {
  /** Whose work it is and what it is about: only the same client may continue it, with the same request. */
  readonly owner: string
  readonly client: string | undefined
  readonly result: Promise<object>
  /** Runs while it waits for its client to return. */
  timer: NodeJS.Timeout | undefined
  /** Of a task: how it ended. */
  end: { status: 'completed' | 'failed' | 'cancelled'; result?: object; error?: object } | undefined
  readonly createdAt = new Date().toISOString()
  readonly #caller = new AbortController()
  readonly #open = new Map<string, OpenQuestion>()
  /** The request the client is waiting for now, if any. */
  #request: McpRequest | undefined
  #wake: (why: 'asks' | 'long') => void = () => {}
  #isLong = false
  #asked = 0

  constructor(owner: string, request: McpRequest, work: Work) {
    const current = () => this.#request
    const help: Caller = {
      ...helpOf(request, (...asked) => this.#ask(...asked), current),
      onTask: () => {
        this.#isLong = true
        this.#wake('long')
      },
    }
    this.owner = owner
    this.client = request.client?.name
    // Deferred until there is a request to log to.
    this.result = Promise.resolve().then(() => work(help, this.#caller, current))
    this.result.then(
      result => {
        this.end ??= { status: 'completed', result }
      },
      error => {
        this.end ??= { status: 'failed', error: errorOf(error) }
      },
    )
  }

  get isAsking(): boolean {
    return this.#open.size > 0
  }

  /**
   * Resolves to the result, to `asks` if the client has to be asked something first, or to `long` after `longAfterMs` or
   * when the tool's server says so.
   */
  async next(request: McpRequest, responses: Params, longAfterMs = 0): Promise<object | 'asks' | 'long'> {
    const { signal } = request.caller
    const abort = () => this.giveUp(signal.reason)
    this.#request = request
    clearTimeout(this.timer)
    signal.addEventListener('abort', abort)
    if (signal.aborted) abort()
    for (const [key, { isHandedOut }] of this.#open) if (isHandedOut) this.#settle(key, responses[key])
    const woken = new Promise<'asks' | 'long'>(resolve => {
      // Questions of the same turn are asked together.
      this.#wake = why => (why === 'asks' ? setImmediate(resolve, why) : longAfterMs && resolve(why))
    })
    if (this.isAsking) this.#wake('asks')
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

  /** The open questions, as sent to the client. */
  handOut(): Record<string, OpenQuestion['request']> {
    for (const question of this.#open.values()) question.isHandedOut = true
    return Object.fromEntries([...this.#open].map(([key, { request }]) => [key, request]))
  }

  /** Settles the questions that have an answer; the others stay open. */
  answer(responses: Params): void {
    for (const key of Object.keys(responses)) this.#settle(key, responses[key])
  }

  /** Aborts the work and leaves every question unanswered. */
  giveUp(reason?: unknown): void {
    this.#caller.abort(reason)
    for (const key of [...this.#open.keys()]) this.#settle(key, undefined)
  }

  #settle(key: string, response: unknown): void {
    this.#open.get(key)?.settle(response)
    this.#open.delete(key)
  }

  /** Uses the server's own key for the question, if it is free. */
  async #ask(method: string, params: object, { signal, key: given }: AskedBy): Promise<unknown> {
    const key = given !== undefined && !this.#open.has(given) ? given : `q${++this.#asked}`
    if (signal?.aborted || this.#caller.signal.aborted) return undefined
    return new Promise(resolve => {
      this.#open.set(key, { request: { method, params }, isHandedOut: false, settle: resolve })
      signal?.addEventListener('abort', () => this.#settle(key, undefined), { once: true })
      this.#wake('asks')
    })
  }
}

/** Runs work for requests, with the client's help in whichever way its protocol provides. */
export class ClientCalls {
  /** By the state that the client sends back; oldest first. */
  readonly #suspended = new Map<string, ClientCall>()
  /** The tasks extension: calls that their clients poll, by id, oldest first. */
  readonly #tasks = new Map<string, ClientCall>()

  readonly methods = {
    'tasks/get': (params: Params, request: McpRequest): object => {
      const [id, call] = this.#task(params, request)
      const { end } = call
      return { ...viewOf(id, call), ...end, ...(!end && call.isAsking && { inputRequests: call.handOut() }) }
    },
    'tasks/update': (params: Params, request: McpRequest): object => {
      this.#task(params, request)[1].answer(isRecord(params.inputResponses) ? params.inputResponses : {})
      return {}
    },
    'tasks/cancel': (params: Params, request: McpRequest): object => {
      const [, call] = this.#task(params, request)
      call.end ??= { status: 'cancelled' }
      call.giveUp('cancelled')
      return {}
    },
  }

  /** `about` must be the same when the client returns; `mayBeTask` if it may be polled for once it takes long. */
  async run(request: McpRequest, about: unknown, work: Work, mayBeTask = false): Promise<object> {
    const { caller, client, session } = request
    const current = () => request
    const { elicitation, sampling, roots } = capabilitiesOf(request)
    const isTask = mayBeTask && knowsTasks(request)
    if (session || !(isTask || elicitation || sampling || roots)) {
      const send: SendRequest = async (method, params, { signal }) => {
        const signals = [
          caller.signal,
          AbortSignal.timeout(limits.ELICITATION_MS),
          ...(signal ? [signal] : []),
        ]
        return request.request?.(method, params, { signal: AbortSignal.any(signals) })
      }
      return work(helpOf(request, send, current), caller, current)
    }
    const { requestState: state, inputResponses } = request.params
    const owner = fingerprint([client?.name ?? '', request.method, about])
    const call = state === undefined ? new ClientCall(owner, request, work) : this.#take(String(state), owner)
    const responses = isRecord(inputResponses) ? inputResponses : {}
    let outcome = await call.next(request, responses, isTask ? limits.TASK_AFTER_MS : 0)
    if (outcome === 'long') outcome = this.#becomeTask(call) ?? (await call.next(request, {}))
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
    const drop = (state: string, dropped: ClientCall) => {
      this.#suspended.delete(state)
      dropped.giveUp(new Disconnected())
    }
    if (oldest && this.#suspended.size >= limits.MAX_ELICITATIONS) drop(...oldest)
    const requestState = randomUUID()
    this.#suspended.set(requestState, call)
    // Even if it has finished by then: the result waits for the client.
    call.timer = setTimeout(() => drop(requestState, call), limits.ELICITATION_MS).unref()
    return { resultType: 'input_required', inputRequests: call.handOut(), requestState }
  }

  /** The answer to a call that becomes a task; `undefined` if there is no room. The oldest finished task makes room. */
  #becomeTask(call: ClientCall): object | undefined {
    const own = [...this.#tasks].filter(([, { client }]) => client === call.client)
    const ended = own.find(([, { end }]) => end)
    if (own.length >= limits.MAX_CLIENT_TASKS && !ended) return undefined
    if (own.length >= limits.MAX_CLIENT_TASKS && ended) this.#tasks.delete(ended[0])
    const id = randomUUID()
    this.#tasks.set(id, call)
    // A task still running when its time is up is not aborted.
    const forget = () => void call.result.catch(() => {}).then(() => this.#tasks.delete(id))
    setTimeout(forget, limits.TASK_TTL_MS).unref()
    return { resultType: 'task', ...viewOf(id, call) }
  }

  /** Throws if it does not exist or belongs to another client. */
  #task({ taskId: id }: Params, request: McpRequest): [string, ClientCall] {
    if (!knowsTasks(request)) {
      const data = { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } }
      throw new RpcError('Missing required client capability', { code: MISSING_CAPABILITY, data })
    }
    if (typeof id !== 'string') throw invalid("'taskId' must be a string")
    const call = this.#tasks.get(id)
    if (call && call.client === request.client?.name) return [id, call]
    throw new RpcError('Task not found', { code: INVALID_PARAMS })
  }
}

function knowsTasks(request: McpRequest): boolean {
  return isRecord(capabilitiesOf(request).extensions?.[TASKS_EXTENSION])
}

function viewOf(taskId: string, { isAsking, end, createdAt }: ClientCall): object {
  return {
    taskId,
    status: end?.status ?? (isAsking ? 'input_required' : 'working'),
    createdAt,
    lastUpdatedAt: new Date().toISOString(),
    ttlMs: limits.TASK_TTL_MS,
    pollIntervalMs: limits.TASK_POLL_MS,
  }
}
