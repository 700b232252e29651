import { setTimeout as pause } from 'node:timers/promises'
import type { Requester } from '../tools/caller.ts'
import { isRecord } from '../util/guards.ts'
import { shortText } from '../util/short-text.ts'
import type { Connection } from './connection.ts'
import { MAX_INPUT_ROUNDS, REQUEST_TIMEOUT_MS } from './limits.ts'
import type { McpServer } from './mcp-server.ts'
import { RpcError, rpcErrorOf } from './peer.ts'
import { OUTCOME_UNKNOWN } from './server-failure.ts'
import { answersTo } from './server-requests.ts'

/** The extension of protocol 2026-07-28. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'

const STATUSES = ['working', 'input_required', 'completed', 'failed', 'cancelled'] as const
const MAX_MESSAGE_CHARACTERS = 1_000
/** How often a task is polled if its server does not say; otherwise as often as it says, within these bounds. */
const POLL_MS = 500
const MIN_POLL_MS = 100
const MAX_POLL_MS = 10_000

interface Task {
  id: string
  status: (typeof STATUSES)[number]
  message: string | undefined
  pollMs: number
  /** As the server describes it: with the result, the error or the input requests. */
  given: Readonly<Record<string, unknown>>
}

/** A task as its server describes it. Throws if it is malformed. */
export function taskOf(described: unknown): Task {
  const given = isRecord(described) ? described : {}
  const { taskId: id, statusMessage, pollIntervalMs } = given
  const status = STATUSES.find(each => each === given.status)
  if (!status) throw malformed('it has no valid status')
  if (typeof id !== 'string' || id === '') throw malformed('it has no id')
  const message =
    typeof statusMessage === 'string' ? shortText(statusMessage, MAX_MESSAGE_CHARACTERS) : undefined
  const pollMs = typeof pollIntervalMs === 'number' ? pollIntervalMs || MIN_POLL_MS : POLL_MS
  return { id, status, message, pollMs: Math.min(Math.max(pollMs, MIN_POLL_MS), MAX_POLL_MS), given }
}

function malformed(problem: string): RpcError {
  return new RpcError(`Malformed MCP task: ${problem}`)
}

export interface FollowOptions {
  server: McpServer
  /** The connection the task was created on. */
  connection: Connection
  from: Requester
  onProgress: ((params: Readonly<Record<string, unknown>>) => void) | undefined
  /** Aborts when the caller gives up. */
  signal: AbortSignal | undefined
}

/** The tasks that calls wait for, by server and id, and how to have a look at one at once. */
const followed = new WeakMap<McpServer, Map<string, () => void>>()

/** The server reports that a task changed. */
export function onTaskChange(server: McpServer, id: unknown): void {
  followed.get(server)?.get(String(id))?.()
}

/**
 * Waits for a task, and cancels it if the caller gives up. Resolves to the raw result of the call; rejects with the server's
 * own message. The tool is never called again: a server that forgot the task may have executed it.
 */
export async function followTask(created: unknown, options: FollowOptions): Promise<unknown> {
  const { server, connection, from, onProgress, signal = new AbortController().signal } = options
  let task = taskOf(created)
  const ids = followed.get(server) ?? new Map<string, () => void>()
  // Results must not be shared.
  if (ids.has(task.id)) throw malformed('its id belongs to another pending call')
  let changed = new AbortController()
  ids.set(task.id, () => changed.abort())
  followed.set(server, ids)
  const answered = new Set<string>()
  let [rounds, steps, isFirstWait, told] = [0, 0, true, '']
  try {
    for (;;) {
      signal.throwIfAborted()
      const { status, message, given } = task
      const news = `${given.lastUpdatedAt} ${message}`
      if (told !== news) onProgress?.({ progress: ++steps, message })
      told = news
      if (status === 'completed') return given.result
      if (status === 'failed') throw rpcErrorOf(given.error ?? { message })
      if (status === 'cancelled')
        throw new RpcError(`The server cancelled the task${message === undefined ? '' : `: ${message}`}`)
      if (status === 'input_required') await giveInput(given.inputRequests)
      await untilDue()
      task = await poll()
    }
  } catch (error) {
    if (task.status === 'working' || task.status === 'input_required') cancelTask(connection, task.id)
    throw error
  } finally {
    ids.delete(task.id)
  }

  /** As long as the server says, or until it reports a change. The first wait is short: many tasks are. */
  async function untilDue(): Promise<void> {
    const either = AbortSignal.any([signal, changed.signal])
    await pause(isFirstWait ? MIN_POLL_MS : task.pollMs, undefined, { signal: either }).catch(() => {})
    signal.throwIfAborted()
    isFirstWait = false
    changed = new AbortController()
  }

  async function giveInput(inputRequests: unknown): Promise<void> {
    const asked = isRecord(inputRequests) ? Object.entries(inputRequests) : []
    const fresh = asked.filter(([key]) => !answered.has(key))
    if (fresh.length === 0) return
    if (++rounds > MAX_INPUT_ROUNDS)
      throw new Error(`The server asked for input more than ${MAX_INPUT_ROUNDS} times`)
    const { requests } = server
    const inputResponses = await answersTo(Object.fromEntries(fresh), { requests, from, signal })
    for (const [key] of fresh) answered.add(key)
    await request('tasks/update', { inputResponses })
  }

  async function poll(): Promise<Task> {
    try {
      const now = taskOf(await request('tasks/get'))
      if (now.id !== task.id) throw malformed('the server described another task')
      return now
    } catch (error) {
      if (!(error instanceof RpcError) || error.rpcCode === undefined) throw error
      throw new RpcError(`The server no longer knows the task: ${error.message}${OUTCOME_UNKNOWN}`)
    }
  }

  function request(method: string, params: object = {}): Promise<unknown> {
    return connection.request(method, { taskId: task.id, ...params }, { from, signal })
  }
}

/** For a task that nobody is waiting for any more. */
export function cancelTask(connection: Connection, taskId: string): void {
  const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
  // It may have ended by then, or the server may be gone.
  connection.request('tasks/cancel', { taskId }, { signal }).catch(() => {})
}
