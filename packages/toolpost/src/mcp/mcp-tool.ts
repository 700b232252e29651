import { isRecord } from '../runtime/guards.ts'
import type { InvokeOptions, Tool } from '../tools/tool.ts'
import { ToolFailureError } from '../tools/tool-failure-error.ts'
import { callMeta } from './call-meta.ts'
import { isTask, needsInput, valueOfResult } from './call-result.ts'
import { type InputAnswers, inputRounds } from './input-rounds.ts'
import { TASK_FROM_MS, TASK_TTL_MS } from './limits.ts'
import { ProgressRelay } from './progress-relay.ts'
import type { ServerEntry } from './server-entry.ts'
import { NeedsLoginError, OUTCOME_UNKNOWN, ServerLostError, UnusableAnswerError } from './server-failure.ts'
import type { PendingCall, ServerLink } from './server-link.ts'
import type { ServerRequests } from './server-requests.ts'
import { followTask } from './task-run.ts'
import { createdTask } from './task-state.ts'
import type { McpToolDefinition } from './tool-definition.ts'

/** What a tool needs from its server. */
export interface ToolServer {
  readonly entry: ServerEntry
  /** Answers the server's own requests. */
  readonly requests: ServerRequests
  /** The current connection, if any. */
  readonly link: ServerLink | undefined
  /** The server that replaced this one, if any: `reconnected` then returns its connection. */
  readonly successor?: ToolServer | undefined
  /** The connection after the current attempt to reconnect; `undefined` if that fails. */
  reconnected(): Promise<ServerLink | undefined>
  /** The error for a call that could not be made or finished because of `cause`; by default, the server's own failure. */
  unavailable(cause?: string): ToolFailureError
}

const CALLER_GAVE_UP = 'The caller gave up'
const NO_OPTIONS: Partial<InvokeOptions> = {}

/** A tool of an MCP server. It belongs to the server, not to a connection, so it survives a restart. */
export function mcpTool(definition: McpToolDefinition, server: ToolServer): Tool {
  const { name, inputSchema, outputSchema, annotations } = definition
  const { timeoutMs, maxTimeoutMs, sentences } = server.entry
  const title = definition.title ?? annotations?.title
  const [readOnly, idempotent] = [hint(annotations?.readOnlyHint), hint(annotations?.idempotentHint)]
  const calls = new ToolCalls(definition, server, !readOnly && !idempotent)
  return {
    name,
    description: definition.description ?? title,
    schema: inputSchema,
    title,
    outputSchema,
    timeoutMs,
    maxTimeoutMs,
    readOnly,
    idempotent,
    destructive: hint(annotations?.destructiveHint),
    openWorld: hint(annotations?.openWorldHint),
    passedOn: passedOn(definition),
    sentences: sentences && Object.hasOwn(sentences, name) ? sentences[name] : undefined,
    invoke: (args, options) => calls.invoke(args, options),
  }
}

function passedOn({ icons, annotations, _meta }: McpToolDefinition): Tool['passedOn'] {
  if (!icons && !annotations && !_meta) return undefined
  return { ...(icons && { icons }), ...(annotations && { annotations }), ...(_meta && { _meta }) }
}

class ToolCalls {
  readonly #definition: McpToolDefinition
  readonly #server: ToolServer
  /** Neither read-only nor idempotent: must not run twice. */
  readonly #isWrite: boolean

  constructor(definition: McpToolDefinition, server: ToolServer, isWrite: boolean) {
    this.#definition = definition
    this.#server = server
    this.#isWrite = isWrite
  }

  /** Calls the tool on its server. Rejects with the server's own message, or with `unavailable` while it is down. */
  invoke(args: object, options: Partial<InvokeOptions> = NO_OPTIONS): Promise<unknown> {
    const { link } = this.#server
    return link ? this.#invokeOn(link, args, options) : this.#invokeElsewhere(args, options)
  }

  #invokeOn(link: ServerLink, args: object, options: Partial<InvokeOptions>): Promise<unknown> {
    return this.#callOn(link, args, options).then(
      result => this.#valueOf(result, link, args, options),
      error => this.#recover(error, args, options),
    )
  }

  /** The server was just reconfigured: the call waits for its replacement. */
  async #invokeElsewhere(args: object, options: Partial<InvokeOptions>): Promise<unknown> {
    const link = this.#server.successor ? await this.#server.reconnected() : undefined
    if (!link || isAborted(options)) throw this.#server.unavailable()
    return this.#invokeOn(link, args, options)
  }

  #valueOf(result: unknown, link: ServerLink, args: object, options: Partial<InvokeOptions>): unknown {
    const isLast = !needsInput(result) && !isTask(result)
    return isLast ? valueOfResult(result) : this.#goOn(result, link, args, options)
  }

  /** The server needs input first, or returned a task. */
  async #goOn(
    result: unknown,
    link: ServerLink,
    args: object,
    options: Partial<InvokeOptions>,
  ): Promise<unknown> {
    const again = (answers: InputAnswers) => this.#callOn(link, args, options, answers)
    const rounds = { requests: this.#server.requests, from: options, isOver: () => isAborted(options) }
    try {
      const answer = await inputRounds(result, again, rounds)
      return valueOfResult(isTask(answer) ? await this.#follow(answer, link, options) : answer)
    } catch (error) {
      if (error instanceof ServerLostError) throw this.#server.unavailable(lossOf(error, OUTCOME_UNKNOWN))
      throw await rounds.requests.afterVisits(error, options)
    }
  }

  /** Waits for the result of a task. */
  async #follow(answer: unknown, link: ServerLink, options: Partial<InvokeOptions>): Promise<unknown> {
    const created = createdTask(answer)
    options.onTask?.()
    const relay = relayOf(options)
    const signal = signalOf(options)
    const onProgress = relay?.report
    try {
      return await followTask(created, { server: this.#server, link, from: options, onProgress, signal })
    } finally {
      relay?.flush()
    }
  }

  /** In protocol 2025-11-25 the client decides what becomes a task; in the newest one the server does. */
  #asTask({ about }: ServerLink): { ttl: number } | undefined {
    const support = this.#definition.execution?.taskSupport
    if (support !== 'required' && support !== 'optional') return undefined
    const { timeoutMs = 0, maxTimeoutMs = 0 } = this.#server.entry
    const mayTakeLong = Math.max(timeoutMs, maxTimeoutMs) >= TASK_FROM_MS
    return takesTasks(about) && (support === 'required' || mayTakeLong) ? { ttl: TASK_TTL_MS } : undefined
  }

  #callOn(
    link: ServerLink,
    args: object,
    options: Partial<InvokeOptions>,
    answers?: InputAnswers,
  ): Promise<unknown> {
    const relay = relayOf(options)
    const answer = link.call({
      tool: this.#definition,
      args,
      task: this.#asTask(link),
      answers,
      from: options,
      onProgress: relay?.report,
      meta: options.meta && callMeta(options.meta),
      onRequest: options.onRequest,
    })
    if (options.onAbort) options.onAbort(() => answer.cancel(CALLER_GAVE_UP))
    const isWatched = !options.onAbort && options.signal
    const result = isWatched ? untilAborted(answer, isWatched) : answer.result
    return relay ? result.finally(() => relay.flush()) : result
  }

  /** A call whose server was lost is repeated once if that is safe. */
  async #recover(error: unknown, args: object, options: Partial<InvokeOptions>): Promise<unknown> {
    if (this.#isWrite && error instanceof UnusableAnswerError)
      throw new Error(`${error.message}${OUTCOME_UNKNOWN}`)
    if (error instanceof NeedsLoginError)
      throw new ToolFailureError('denied', `Tool '${this.#definition.name}' was denied: ${error.message}`)
    if (!(error instanceof ServerLostError)) throw await this.#server.requests.afterVisits(error, options)
    if (this.#isWrite) throw this.#server.unavailable(lossOf(error, OUTCOME_UNKNOWN))
    const link = await this.#server.reconnected()
    if (!link || isAborted(options)) throw this.#server.unavailable(lossOf(error))
    try {
      return await this.#valueOf(await this.#callOn(link, args, options), link, args, options)
    } catch (again) {
      throw again instanceof ServerLostError ? this.#server.unavailable(lossOf(again)) : again
    }
  }
}

/** Only a real `true` may allow a call to run twice, whatever a server sends. */
function hint(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined
}

function lossOf({ message, neverSent }: ServerLostError, consequence = ''): string {
  return neverSent ? message : `${message} during the call${consequence}`
}

function takesTasks({ capabilities: { tasks } }: ServerLink['about']): boolean {
  const { requests } = isRecord(tasks) ? tasks : {}
  return isRecord(requests) && isRecord(requests.tools) && isRecord(requests.tools.call)
}

function relayOf(options: Partial<InvokeOptions>): ProgressRelay | undefined {
  return options.wantsProgress ? new ProgressRelay(progress => options.reportProgress?.(progress)) : undefined
}

/** Avoids the call's own signal, which is created only when it is read. */
function signalOf(options: Partial<InvokeOptions>): AbortSignal {
  if (!options.onAbort && options.signal) return options.signal
  const controller = new AbortController()
  options.onAbort?.(() => controller.abort(new Error(CALLER_GAVE_UP)))
  return controller.signal
}

function isAborted(options: Partial<InvokeOptions>): boolean {
  let aborted = false
  if (options.onAbort) {
    options.onAbort(() => {
      aborted = true
    })
    return aborted
  }
  return options.signal?.aborted === true
}

/** For callers other than the executor, which gives up through `onAbort`. */
function untilAborted(answer: PendingCall, signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      answer.cancel(CALLER_GAVE_UP)
      reject(signal.reason)
    }
    if (signal.aborted) return giveUp()
    signal.addEventListener('abort', giveUp, { once: true })
    answer.result.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp))
  })
}
