import { setTimeout as pause } from 'node:timers/promises'
import { isRecord } from '../runtime/guards.ts'
import type { InvokeOptions, Progress } from '../tools/tool.ts'
import { McpCallError, refusalOf } from './call-result.ts'
import { answersTo } from './input-rounds.ts'
import {
  MAX_INPUT_ROUNDS,
  MAX_SERVER_REQUESTS,
  REQUEST_TIMEOUT_MS,
  TASK_MIN_POLL_MS,
  TASK_RECONNECT_MS,
} from './limits.ts'
import type { ToolServer } from './mcp-tool.ts'
import { OUTCOME_UNKNOWN, ServerLostError } from './server-failure.ts'
import type { ServerLink } from './server-link.ts'
import { readTask, type TaskState } from './task-state.ts'

export interface TaskRunOptions {
  server: ToolServer
  /** The connection the task was created on. */
  link: ServerLink
  from: Partial<InvokeOptions>
  onProgress: ((progress: Progress) => void) | undefined
  /** Aborts when the caller gives up. */
  signal: AbortSignal
}

/**
 * Waits for a task, and cancels it if the caller gives up. Resolves to the raw result of the call; rejects with the server's
 * own message. The tool is never called again: a server that forgot the task may have executed it.
 */
export async function followTask(created: TaskState, options: TaskRunOptions): Promise<unknown> {
  const run = new TaskRun(created, options)
  const { tasks } = options.server.requests
  const stop = tasks.follow(created.id, { from: options.from, onChange: () => run.wake() })
  try {
    return await run.untilEnded()
  } catch (error) {
    if (!run.isEnded) run.cancel()
    throw error
  } finally {
    stop()
  }
}

/*
 * Not the client of `@modelcontextprotocol/ext-tasks`: it sends through the SDK's client, bypassing our limits on messages
 * and our cancellation; it does not reconnect, and it loads zod.
 */
class TaskRun {
  readonly #options: TaskRunOptions
  readonly #answered = new Set<string>()
  #state: TaskState
  #link: ServerLink
  #lost: ServerLostError | undefined
  #isNew = true
  #rounds = 0
  #told = ''
  #steps = 0
  #waiting = new AbortController()

  constructor(created: TaskState, options: TaskRunOptions) {
    this.#state = created
    this.#options = options
    this.#link = options.link
  }

  get isEnded(): boolean {
    return this.#state.status !== 'working' && this.#state.status !== 'input_required'
  }

  /** Polls the task again soon. */
  wake(): void {
    this.#waiting.abort()
  }

  async untilEnded(): Promise<unknown> {
    for (;;) {
      this.#options.signal.throwIfAborted()
      this.#tellProgress()
      if (this.isEnded) return this.#outcome()
      if (this.#state.status === 'input_required') {
        const result = await this.#giveInput()
        if (result !== undefined) return result
      }
      await this.#pause()
      this.#state = await this.#look()
    }
  }

  async #outcome(): Promise<unknown> {
    const { status, isNewest, message, result, error } = this.#state
    if (status === 'cancelled') throw new McpCallError(withReason('The server cancelled the task', message))
    if (isNewest && status === 'completed') return result
    if (isNewest) throw refusalOf(error ?? { message })
    const answer = await this.#request('tasks/result')
    if (status === 'completed' || !isRecord(answer)) return answer
    const content = answer.content ?? [{ type: 'text', text: withReason('The task failed', message) }]
    return { ...answer, content, isError: true }
  }

  /** Answers the server's questions; resolves to the result if the server returns it. */
  async #giveInput(): Promise<unknown> {
    const { isNewest, inputRequests } = this.#state
    const asked = isNewest && isRecord(inputRequests) ? Object.entries(inputRequests) : []
    const fresh = asked.filter(([key]) => !this.#answered.has(key)).slice(0, MAX_SERVER_REQUESTS)
    if (isNewest && fresh.length === 0) return undefined
    if (++this.#rounds > MAX_INPUT_ROUNDS)
      throw new Error(`The server asked for input more than ${MAX_INPUT_ROUNDS} times`)
    // In the older protocol, the server asks while we wait for the result.
    if (!isNewest) return this.#request('tasks/result').catch(unlessRefused)
    const { server, from, signal } = this.#options
    const { requests } = server
    const inputResponses = await answersTo(Object.fromEntries(fresh), { requests, from, signal })
    for (const [key] of fresh) this.#answered.add(key)
    await this.#request('tasks/update', { inputResponses })
    return undefined
  }

  /**
   * Waits as long as the server says, or until it reports a change, but never so briefly as to be a burden. The first wait is
   * short: many tasks are, and changes reported before we listened are lost.
   */
  async #pause(): Promise<void> {
    const { signal } = this.#options
    await pause(TASK_MIN_POLL_MS, undefined, { signal })
    const woken = this.#waiting.signal
    const restMs = this.#isNew ? 0 : this.#state.pollMs - TASK_MIN_POLL_MS
    this.#isNew = false
    if (restMs > 0 && !woken.aborted)
      await pause(restMs, undefined, { signal: AbortSignal.any([signal, woken]) }).catch(() => {})
    signal.throwIfAborted()
    this.#waiting = new AbortController()
  }

  async #look(): Promise<TaskState> {
    try {
      const state = readTask(await this.#request('tasks/get'), this.#state.isNewest)
      if (state.id === this.#state.id) return state
      throw new McpCallError('Malformed MCP task: the server described another task')
    } catch (error) {
      if (!isRefusal(error)) throw error
      if (this.#lost) throw this.#options.server.unavailable(lossOf(this.#lost))
      throw new McpCallError(`The server no longer knows the task: ${error.message}${OUTCOME_UNKNOWN}`)
    }
  }

  async #request(method: string, params: object = {}): Promise<unknown> {
    const { from, signal } = this.#options
    for (;;) {
      try {
        return await this.#link.request(method, { taskId: this.#state.id, ...params }, { from, signal })
      } catch (error) {
        if (!(error instanceof ServerLostError)) throw error
        this.#link = await this.#linkAfter(error)
      }
    }
  }

  /** The next connection, if the server comes back soon. */
  async #linkAfter(lost: ServerLostError): Promise<ServerLink> {
    const { server, signal } = this.#options
    this.#lost = lost
    const until = performance.now() + TASK_RECONNECT_MS
    while (performance.now() < until) {
      await pause(TASK_MIN_POLL_MS, undefined, { signal })
      const link = await server.reconnected()
      if (link) return link
    }
    throw server.unavailable(lossOf(lost))
  }

  #tellProgress(): void {
    const { message, updatedAt } = this.#state
    const told = `${updatedAt} ${message}`
    if (told === this.#told) return
    this.#told = told
    this.#options.onProgress?.({ progress: ++this.#steps, ...(message !== undefined && { message }) })
  }

  cancel(): void {
    cancelTask(this.#link, this.#state.id)
  }
}

/** For a task that nobody is waiting for any more. */
export function cancelTask(link: ServerLink, taskId: string): void {
  const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
  // It may have ended by then, or the server may be gone.
  link.request('tasks/cancel', { taskId }, { signal }).catch(() => {})
}

/** The call was sent, even if the last poll was not. */
function lossOf({ message }: ServerLostError): string {
  return `${message} during the call${OUTCOME_UNKNOWN}`
}

function isRefusal(error: unknown): error is McpCallError {
  return error instanceof McpCallError && error.rpcCode !== undefined
}

/** The result is requested again when the status says that the task has ended. */
function unlessRefused(error: unknown): undefined {
  if (!isRefusal(error)) throw error
}

function withReason(text: string, reason: string | undefined): string {
  return reason === undefined ? text : `${text}: ${reason}`
}
