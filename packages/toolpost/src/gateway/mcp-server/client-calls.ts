import { randomUUID } from 'node:crypto'
import { fingerprint } from '../../interceptors/canonical.ts'
import { INVALID_PARAMS, RpcError } from '../../mcp/peer.ts'
import type { AskedBy, Caller, Question, QuestionAnswer } from '../../tools/caller.ts'
import type { Progress } from '../../tools/tool.ts'
import { isRecord } from '../../util/guards.ts'
import { Disconnected } from '../http.ts'
import { ELICITATION_MS, MAX_ELICITATIONS, TASK_AFTER_MS } from '../limits.ts'
import { capabilitiesOf, isNewest, type McpRequest, type Params, peerOf, wantsLog } from './protocol.ts'
import { knowsTasks, type Tasks } from './tasks.ts'

/*
 * What a tool's server can ask of the client that called the tool: its person, its model, its folders, its log. In the 2025
 * protocols the client is sent requests. In the newest it gets the questions in place of a result and returns with the
 * answers; the work continues from there, and is never restarted.
 */

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

type SendRequest = (method: string, params: object, by: AskedBy) => Promise<unknown>

/** Left out is what the client cannot do. A client that fails, is gone or answers nonsense has not decided. */
function helpOf(request: McpRequest, send: SendRequest, elicit = elicitParams): Caller {
  const { elicitation, sampling, roots } = capabilitiesOf(request)
  const record = async (what: string, answer: Promise<unknown>) => {
    const given = await answer
    if (!isRecord(given)) throw new Error(`The client did not ${what}`)
    return given
  }
  // Clients that predate other modes support forms implicitly.
  const canShow = ({ url }: Question) =>
    url === undefined ? elicitation?.form || !elicitation?.url : elicitation?.url !== undefined
  return {
    ...(elicitation && {
      ask: async question => {
        if (!canShow(question)) return { action: 'decline', reason: 'the client cannot show it' }
        return answerOf(await send('elicitation/create', elicit(question), question).catch(() => {}))
      },
    }),
    ...(sampling && {
      sample: (params, by) => record('write a message', send('sampling/createMessage', params, by)),
    }),
    ...(roots && { roots: by => record('list its roots', send('roots/list', {}, by)) }),
  }
}

/** A question as the params of `elicitation/create`. Without a schema, accepting is the whole answer. */
function elicitParams({ message, schema, url, server }: Question) {
  const shown = server === undefined ? message : `${server}: ${message}`
  if (url !== undefined) return { mode: 'url', message: shown, url, elicitationId: randomUUID() }
  return { mode: 'form', message: shown, requestedSchema: schema ?? { type: 'object', properties: {} } }
}

function answerOf(response: unknown): QuestionAnswer {
  const { action, content } = isRecord(response) ? response : {}
  if (action !== 'accept' && action !== 'decline') return { action: 'cancel' }
  return { action, ...(isRecord(content) && { content }) }
}

const MAX_LOGS_PER_SECOND = 100

/** Logs to the client, if its request wants messages of that level. A flood is cut: it would delay the client's other calls. */
function logTo(current: () => McpRequest | undefined): NonNullable<Caller['onLog']> {
  let since = 0
  let count = 0
  return message => {
    const request = current()
    if (!request || !wantsLog(request, message.level)) return
    const now = performance.now()
    if (now - since >= 1_000) [since, count] = [now, 0]
    if (++count <= MAX_LOGS_PER_SECOND) request.notify('notifications/message', { ...message })
    if (count !== MAX_LOGS_PER_SECOND + 1) return
    const data = `More than ${MAX_LOGS_PER_SECOND} log messages in a second: the rest are left out`
    request.notify('notifications/message', { level: 'warning', logger: 'toolpost', data })
  }
}

/** Work with the help of a client of a 2025 protocol, which can be sent requests during its own. */
async function run2025(request: McpRequest, work: Work): Promise<object> {
  const { caller, session } = request
  /** The client is told when it is done with a page to visit. */
  const followed = (question: Question) => {
    const params = elicitParams(question)
    const { elicitationId } = params
    const tell = () => session?.notify('notifications/elicitation/complete', { elicitationId })
    if (elicitationId !== undefined) void question.completed?.then(tell)
    return params
  }
  const send: SendRequest = async (method, params, { signal }) => {
    const signals = [caller.signal, AbortSignal.timeout(ELICITATION_MS), ...(signal ? [signal] : [])]
    return request.request?.(method, params, { signal: AbortSignal.any(signals) })
  }
  let pages: readonly Question[] = []
  const help: ClientHelp = {
    peer: session,
    onLog: logTo(() => request),
    ...helpOf(request, send, followed),
    // A client that can open pages gets those to visit first as an error, as its protocol specifies.
    ...(capabilitiesOf(request).elicitation?.url && {
      onAddresses: given => {
        pages = given
      },
    }),
  }
  const result = await work(help, caller, () => request)
  if (pages.length === 0) return result
  const elicitations = pages.filter(({ url }) => url !== undefined).map(followed)
  throw new RpcError('This request requires more information.', { code: -32_042, data: { elicitations } })
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
  /** Runs while it waits for its client to return. */
  timer: NodeJS.Timeout | undefined
  readonly #caller = new AbortController()
  readonly #open = new Map<string, OpenQuestion>()
  /** The request the client is waiting for now, if any. */
  #request: McpRequest | undefined
  #wake: (why: 'asks' | 'long') => void = () => {}
  #isLong = false
  #asked = 0

  constructor(owner: string, request: McpRequest, work: Work) {
    const current = () => this.#request
    const help: ClientHelp = {
      peer: peerOf(request.client, request),
      onLog: logTo(current),
      ...helpOf(request, (...asked) => this.#ask(...asked)),
      onTask: () => {
        this.#isLong = true
        this.#wake('long')
      },
      onProgress: progress => this.onChange?.(progress),
    }
    this.owner = owner
    // Deferred until there is a request to log to.
    this.result = Promise.resolve().then(() => work(help, this.#caller, current))
    this.result.catch(() => {})
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
    for (const key of Object.keys(responses)) this.#settle(key, responses[key])
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
  async #ask(method: string, params: object, { signal, key: given }: AskedBy): Promise<unknown> {
    const key = given !== undefined && !this.#open.has(given) ? given : `q${++this.#asked}`
    if (signal?.aborted || this.#caller.signal.aborted) return undefined
    return new Promise(resolve => {
      this.#open.set(key, { request: { method, params }, isHandedOut: false, settle: resolve })
      signal?.addEventListener('abort', () => this.#settle(key, undefined), { once: true })
      this.#wake('asks')
      this.onChange?.()
    })
  }
}

/** Runs work for requests, with the client's help in whichever way its protocol provides. */
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
    if (!isNewest(request)) return run2025(request, work)
    const { elicitation, sampling, roots } = capabilitiesOf(request)
    const isTask = mayBeTask && knowsTasks(request)
    if (!isTask && !elicitation && !sampling && !roots)
      return work({ peer: peerOf(client, request), onLog: logTo(() => request) }, caller, () => request)
    const { requestState: state, inputResponses } = request.params
    const owner = fingerprint([client?.name ?? '', request.method, about])
    const call = state === undefined ? new ClientCall(owner, request, work) : this.#take(String(state), owner)
    const responses = isRecord(inputResponses) ? inputResponses : {}
    let outcome = await call.next(request, responses, isTask ? TASK_AFTER_MS : 0)
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
    const drop = (state: string, dropped: ClientCall) => {
      this.#suspended.delete(state)
      dropped.giveUp(new Disconnected())
    }
    if (oldest && this.#suspended.size >= MAX_ELICITATIONS) drop(...oldest)
    const requestState = randomUUID()
    this.#suspended.set(requestState, call)
    // Even if it has finished by then: the result waits for the client.
    call.timer = setTimeout(() => drop(requestState, call), ELICITATION_MS).unref()
    return { resultType: 'input_required', inputRequests: call.handOut(), requestState }
  }
}
