import { randomUUID } from 'node:crypto'
import { CLIENT_INFO_META_KEY, LOG_LEVEL_META_KEY } from '@modelcontextprotocol/server'
import type { RunOptions } from '../../executor/options.ts'
import { fingerprint } from '../../interceptors/canonical.ts'
import { errorOf, INVALID_PARAMS, type Params, RpcError } from '../../mcp/peer.ts'
import type { Ask, AskedBy, Caller, Question, QuestionAnswer, Sample } from '../../tools/caller.ts'
import { unlessAborted } from '../../util/clock.ts'
import { isRecord } from '../../util/guards.ts'
import { Disconnected } from '../http.ts'
import * as limits from '../limits.ts'
import * as protocol from './protocol.ts'

type McpRequest = protocol.McpRequest

/*
 * What a tool's server can ask of the client that called the tool: its person, its model, its folders, its log. In the 2025
 * protocols the client is sent requests. In the newest it gets the questions in place of a result and returns with the
 * answers, or polls the call as a task; the work continues from there, and is never restarted.
 */

/** How work reaches its client. */
export interface Help extends Caller {
  /** Set if the client wants to hear of progress. */
  readonly onProgress: RunOptions['onProgress']
}

/** Work done for a client, with its help, until `caller` aborts. */
type Work = (help: Help, caller: AbortController) => Promise<object>

type SendRequest = (method: string, params: object, by: AskedBy) => Promise<unknown>

/**
 * Left out is what the client cannot do. A client that fails, is gone or answers nonsense has not decided. `current` is
 * the request that waits for the work now, if any.
 */
function helpOf(request: McpRequest, send: SendRequest, current: () => McpRequest | undefined): Help {
  const { elicitation, sampling, roots } = protocol.capabilitiesOf(request)
  const { client, session, meta } = request
  const record = async (what: string, answer: Promise<unknown>) => {
    const given = await answer
    if (!isRecord(given)) throw new Error(`The client did not ${what}`)
    return given
  }
  // Only the newest protocol shows pages. Clients that predate other modes support forms implicitly.
  const canShow = ({ url }: Question) =>
    url === undefined ? elicitation?.form || !elicitation?.url : !session && elicitation?.url
  const ask: Ask = async question => {
    // A client that may not approve calls is not asked about its own.
    if (question.about && client?.approves === false) return { action: 'cancel' }
    if (!canShow(question)) return { action: 'decline', reason: 'the client cannot show it' }
    return answerOf(await send('elicitation/create', elicitParams(question), question).catch(() => {}))
  }
  const sample: Sample = (params, by) => record('write a message', send('sampling/createMessage', params, by))
  const listRoots: Caller['roots'] = by => record('list its roots', send('roots/list', {}, by))
  const onProgress = (progress: object) => {
    const { progressToken } = current()?.meta ?? {}
    if (progressToken !== undefined)
      current()?.notify('notifications/progress', { progressToken, ...progress })
  }
  const name = client?.isNamed ? client.name : `mcp ${JSON.stringify(meta[CLIENT_INFO_META_KEY])}`
  return {
    // Identifies the client: by its session, its configured name, or its own info.
    peer: session ?? name,
    onLog: logTo(current),
    onProgress: meta.progressToken === undefined ? undefined : onProgress,
    ask: elicitation && ask,
    sample: sampling && sample,
    roots: roots && listRoots,
  }
}

/** A question as the params of `elicitation/create`. Without a schema, accepting is the whole answer. */
function elicitParams({ message, schema, url, server }: Question): object {
  const shown = server === undefined ? message : `${server}: ${message}`
  if (url !== undefined) return { mode: 'url', message: shown, url, elicitationId: randomUUID() }
  return { mode: 'form', message: shown, requestedSchema: schema ?? { type: 'object', properties: {} } }
}

/** Logs to the client, from the level it wants. A flood is cut: it would delay the client's other calls. */
function logTo(current: () => McpRequest | undefined): NonNullable<Caller['onLog']> {
  let since = 0
  let count = 0
  const rank = (level: unknown) => protocol.LOG_LEVELS.indexOf(String(level))
  return message => {
    const request = current()
    const lowest = rank(request?.session?.level ?? request?.meta[LOG_LEVEL_META_KEY])
    if (!request || lowest < 0 || rank(message.level) < lowest) return
    const now = performance.now()
    if (now - since >= 1_000) {
      since = now
      count = 0
    }
    if (++count <= limits.MAX_LOGS_PER_SECOND) request.notify('notifications/message', { ...message })
  }
}

function answerOf(response: unknown): QuestionAnswer {
  const { action, content } = isRecord(response) ? response : {}
  if (action !== 'accept' && action !== 'decline') return { action: 'cancel' }
  return { action, ...(isRecord(content) && { content }) }
}

/** Work for a client of the newest protocol that outlives the request that started it, with its open questions. */
class ClientCall {
  /** Whose work it is and what it is about: only the same client may continue it, with the same request. */
  readonly owner: string
  readonly client: string | undefined
  readonly result: Promise<object>
  readonly createdAt = new Date().toISOString()
  /** How it ended, as a task. */
  end: { status: 'completed' | 'failed' | 'cancelled'; result?: object; error?: object } | undefined
  /** Runs while it waits for its client to return. */
  timer: NodeJS.Timeout | undefined
  /** Whether the tool's server made it a task. */
  isLong = false
  readonly #caller = new AbortController()
  readonly #open = new Map<string, { request: object; settle(response?: unknown): void }>()
  /** The request the client is waiting for now, if any, and how to answer it before the work is done. */
  #request: McpRequest | undefined
  #interrupt = () => {}
  #asked = 0

  constructor(owner: string, request: McpRequest, work: Work) {
    const send: SendRequest = (...asked) => this.#ask(...asked)
    const onTask = () => {
      this.isLong = true
      this.#interrupt()
    }
    const help = { ...helpOf(request, send, () => this.#request), onTask }
    this.owner = owner
    this.client = request.client?.name
    // Deferred until there is a request to log to.
    this.result = Promise.resolve().then(() => work(help, this.#caller))
    this.result.then(
      result => {
        this.end ??= { status: 'completed', result }
      },
      error => {
        this.end ??= { status: 'failed', error: errorOf(error) }
      },
    )
  }

  /**
   * Resolves to the result; to nothing if the client has to be asked something first, or if it `mayBeTask` and takes long.
   * Gives up if the client goes away meanwhile.
   */
  async next(request: McpRequest, mayBeTask: boolean): Promise<object | undefined> {
    const { signal } = request.caller
    this.#request = request
    clearTimeout(this.timer)
    let timer: NodeJS.Timeout | undefined
    const interrupted = new Promise<undefined>(resolve => {
      this.#interrupt = () => {
        if (this.#open.size > 0 || (mayBeTask && this.isLong)) resolve(undefined)
      }
      if (mayBeTask) timer = setTimeout(resolve, limits.TASK_AFTER_MS, undefined)
    })
    // Questions that were left open are asked again.
    if (this.#open.size > 0 || this.isLong) setImmediate(this.#interrupt)
    try {
      return await unlessAborted(Promise.race([this.result, interrupted]), signal)
    } finally {
      clearTimeout(timer)
      if (signal.aborted) this.giveUp(signal.reason)
      this.#request = undefined
      this.#interrupt = () => {}
    }
  }

  /** The open questions, as sent to the client; `undefined` if there are none. */
  get questions(): object | undefined {
    const open = [...this.#open].map(([key, { request }]) => [key, request])
    return open.length > 0 ? Object.fromEntries(open) : undefined
  }

  /** Settles the questions that have an answer; the others stay open. */
  answer(responses: unknown): void {
    const given = isRecord(responses) ? responses : {}
    for (const [key, { settle }] of [...this.#open]) if (Object.hasOwn(given, key)) settle(given[key])
  }

  /** Aborts the work and leaves every question unanswered. */
  giveUp(reason?: unknown): void {
    this.#caller.abort(reason)
    for (const { settle } of [...this.#open.values()]) settle()
  }

  /** Uses the server's own key for the question, if it is free. */
  async #ask(method: string, params: object, { signal, key: given }: AskedBy): Promise<unknown> {
    const key = given !== undefined && !this.#open.has(given) ? given : `q${++this.#asked}`
    if (signal?.aborted || this.#caller.signal.aborted) return undefined
    return new Promise(resolve => {
      const settle = (response?: unknown) => {
        this.#open.delete(key)
        resolve(response)
      }
      this.#open.set(key, { request: { method, params }, settle })
      signal?.addEventListener('abort', () => settle(), { once: true })
      // Questions of the same turn are asked together.
      setImmediate(() => this.#interrupt())
    })
  }
}

/** Runs work for requests, with the client's help in whichever way its protocol provides. */
export class ClientCalls {
  /** By the state that the client sends back, or by the id of the task that it polls; oldest first. */
  readonly #kept = new Map<string, ClientCall>()

  readonly methods = {
    'tasks/get': (params: Params, request: McpRequest): object => {
      const [id, call] = this.#task(params, request)
      return { ...viewOf(id, call), ...(call.end ?? { inputRequests: call.questions }) }
    },
    'tasks/update': (params: Params, request: McpRequest): object => {
      this.#task(params, request)[1].answer(params.inputResponses)
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
    const { elicitation, sampling, roots } = protocol.capabilitiesOf(request)
    const isTask = mayBeTask && knowsTasks(request)
    if (session || !(isTask || elicitation || sampling || roots)) {
      const current = () => request
      const send: SendRequest = async (method, params, { signal = caller.signal }) => {
        const signals = [caller.signal, signal, AbortSignal.timeout(limits.ELICITATION_MS)]
        return request.request?.(method, params, { signal: AbortSignal.any(signals) })
      }
      return work(helpOf(request, send, current), caller)
    }
    const { requestState: state, inputResponses } = request.params
    const owner = fingerprint([client?.name ?? '', request.method, about])
    const call = state === undefined ? new ClientCall(owner, request, work) : this.#take(String(state), owner)
    call.answer(inputResponses)
    const result = await call.next(request, isTask)
    // Only a call that takes long becomes a task; one that asks first does not.
    return result ?? this.#keep(call, isTask && (call.isLong || !call.questions))
  }

  /** Keeps a call for its client to return to: to answer its questions, or to poll it as a task. */
  #keep(call: ClientCall, isTask: boolean): object | Promise<object> {
    const id = randomUUID()
    const drop = async () => {
      // A task still running when its time is up is not aborted.
      if (isTask) await call.result.catch(() => {})
      else call.giveUp(new Disconnected())
      this.#kept.delete(id)
    }
    const own = [...this.#kept].filter(([, { client }]) => client === call.client)
    const [oldest] = own.find(([, { end }]) => end) ?? []
    if (own.length >= limits.MAX_CLIENT_CALLS && oldest === undefined) {
      // It may have changed something already: its client waits for it.
      if (isTask) return call.result
      call.giveUp()
      throw new RpcError('Too many calls of this client are waiting')
    }
    if (own.length >= limits.MAX_CLIENT_CALLS) this.#kept.delete(oldest as string)
    this.#kept.set(id, call)
    // Even if it has finished by then: the result waits for the client.
    call.timer = setTimeout(drop, isTask ? limits.TASK_TTL_MS : limits.ELICITATION_MS).unref()
    if (isTask) return { resultType: 'task', ...viewOf(id, call) }
    return { resultType: 'input_required', inputRequests: call.questions ?? {}, requestState: id }
  }

  #take(state: string, owner: string): ClientCall {
    const call = this.#kept.get(state)
    if (call?.owner !== owner)
      throw new RpcError('This question is no longer open: call again', { code: INVALID_PARAMS })
    this.#kept.delete(state)
    return call
  }

  /** Throws if it does not exist or belongs to another client. */
  #task({ taskId: id }: Params, request: McpRequest): [string, ClientCall] {
    if (!knowsTasks(request)) {
      const data = { requiredCapabilities: { extensions: { [protocol.TASKS_EXTENSION]: {} } } }
      throw new RpcError('Missing required client capability', { code: protocol.MISSING_CAPABILITY, data })
    }
    if (typeof id !== 'string') throw protocol.invalid("'taskId' must be a string")
    const call = this.#kept.get(id)
    if (call && call.client === request.client?.name) return [id, call]
    throw new RpcError('Task not found', { code: INVALID_PARAMS })
  }
}

function knowsTasks(request: McpRequest): boolean {
  return isRecord(protocol.capabilitiesOf(request).extensions?.[protocol.TASKS_EXTENSION])
}

function viewOf(taskId: string, { questions, end, createdAt }: ClientCall): object {
  return {
    taskId,
    status: end?.status ?? (questions ? 'input_required' : 'working'),
    createdAt,
    lastUpdatedAt: new Date().toISOString(),
    ttlMs: limits.TASK_TTL_MS,
    pollIntervalMs: limits.TASK_POLL_MS,
  }
}
