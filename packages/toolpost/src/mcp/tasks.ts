import { setTimeout as pause } from 'node:timers/promises'
import { isRecord } from '../runtime/guards.ts'
import { shortText } from '../runtime/short-text.ts'
import type { Requester } from '../tools/caller.ts'
import type { Connection } from './connection.ts'
import {
  MAX_INPUT_ROUNDS,
  MAX_TASK_ID_CHARACTERS,
  MAX_TASK_MESSAGE_CHARACTERS,
  REQUEST_TIMEOUT_MS,
  TASK_MAX_POLL_MS,
  TASK_MIN_POLL_MS,
  TASK_POLL_MS,
  TASK_RECONNECT_MS,
} from './limits.ts'
import type { McpServer } from './mcp-server.ts'
import { RpcError, rpcErrorOf } from './peer.ts'
import { OUTCOME_UNKNOWN, ServerLostError } from './server-failure.ts'
import { answersTo } from './server-requests.ts'

/** The extension of protocol 2026-07-28. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'

const STATUSES = ['working', 'input_required', 'completed', 'failed', 'cancelled'] as const

interface Task {
  id: string
  status: (typeof STATUSES)[number]
  message: string | undefined
  updatedAt: unknown
  pollMs: number
  /** How it ended, or what the server needs to know first. */
  result: unknown
  error: unknown
  inputRequests: unknown
}

/** A task as its server describes it. Throws if it is malformed. */
export function taskOf(given: unknown): Task {
  const {
    taskId: id,
    status,
    statusMessage,
    lastUpdatedAt,
    pollIntervalMs,
    ...rest
  } = isRecord(given) ? given : {}
  const known = STATUSES.find(each => each === status)
  if (!known) throw malformed('it has no valid status')
  if (typeof id !== 'string' || id === '') throw malformed('it has no id')
  if (id.length > MAX_TASK_ID_CHARACTERS)
    throw malformed(`its id is longer than ${MAX_TASK_ID_CHARACTERS} characters`)
  const pollMs = typeof pollIntervalMs === 'number' ? pollIntervalMs || TASK_MIN_POLL_MS : TASK_POLL_MS
  return {
    id,
    status: known,
    message:
      typeof statusMessage === 'string' ? shortText(statusMessage, MAX_TASK_MESSAGE_CHARACTERS) : undefined,
    updatedAt: lastUpdatedAt,
    pollMs: Math.min(Math.max(pollMs, TASK_MIN_POLL_MS), TASK_MAX_POLL_MS),
    result: rest.result,
    error: rest.error,
    inputRequests: rest.inputRequests,
  }
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
  signal: AbortSignal
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
  const { server, from, signal, onProgress } = options
  let { connection } = options
  let task = taskOf(created)
  const ids = followed.get(server) ?? new Map<string, () => void>()
  // Results must not be shared.
  if (ids.has(task.id)) throw malformed('its id belongs to another pending call')
  let changed = new AbortController()
  followed.set(
    server,
    ids.set(task.id, () => changed.abort()),
  )
  const answered = new Set<string>()
  let [rounds, steps, polls, told, lost] = [0, 0, 0, '', '']
  try {
    for (;;) {
      signal.throwIfAborted()
      tellProgress()
      if (task.status === 'completed') return task.result
      if (task.status === 'failed') throw rpcErrorOf(task.error ?? { message: task.message })
      if (task.status === 'cancelled')
        throw new RpcError(
          `The server cancelled the task${task.message === undefined ? '' : `: ${task.message}`}`,
        )
      if (task.status === 'input_required') await giveInput()
      await untilDue()
      task = await poll()
    }
  } catch (error) {
    if (task.status === 'working' || task.status === 'input_required') cancelTask(connection, task.id)
    throw error
  } finally {
    ids.delete(task.id)
  }

  function tellProgress(): void {
    const { message, updatedAt } = task
    if (told === `${updatedAt} ${message}`) return
    told = `${updatedAt} ${message}`
    onProgress?.({ progress: ++steps, message })
  }

  /** As long as the server says, or until it reports a change. The first wait is short: many tasks are. */
  async function untilDue(): Promise<void> {
    await pause(TASK_MIN_POLL_MS, undefined, { signal })
    const restMs = polls++ === 0 ? 0 : task.pollMs - TASK_MIN_POLL_MS
    const either = AbortSignal.any([signal, changed.signal])
    if (restMs > 0) await pause(restMs, undefined, { signal: either }).catch(() => {})
    signal.throwIfAborted()
    changed = new AbortController()
  }

  async function giveInput(): Promise<void> {
    const asked = isRecord(task.inputRequests) ? Object.entries(task.inputRequests) : []
    const fresh = asked.filter(([key]) => !answered.has(key))
    if (fresh.length === 0) return
    if (++rounds > MAX_INPUT_ROUNDS)
      throw new Error(`The server asked for input more than ${MAX_INPUT_ROUNDS} times`)
    const inputResponses = await answersTo(Object.fromEntries(fresh), {
      requests: server.requests,
      from,
      signal,
    })
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
      if (lost) throw server.unavailable(`${lost} during the call${OUTCOME_UNKNOWN}`)
      throw new RpcError(`The server no longer knows the task: ${error.message}${OUTCOME_UNKNOWN}`)
    }
  }

  async function request(method: string, params: object = {}): Promise<unknown> {
    for (;;) {
      try {
        return await connection.request(method, { taskId: task.id, ...params }, { from, signal })
      } catch (error) {
        if (!(error instanceof ServerLostError)) throw error
        lost = error.message
        connection = await nextConnection()
      }
    }
  }

  /** If the server comes back soon. */
  async function nextConnection(): Promise<Connection> {
    const until = performance.now() + TASK_RECONNECT_MS
    while (performance.now() < until) {
      await pause(TASK_MIN_POLL_MS, undefined, { signal })
      const next = await server.reconnected()
      if (next) return next
    }
    throw server.unavailable(`${lost} during the call${OUTCOME_UNKNOWN}`)
  }
}

/** For a task that nobody is waiting for any more. */
export function cancelTask(connection: Connection, taskId: string): void {
  const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
  // It may have ended by then, or the server may be gone.
  connection.request('tasks/cancel', { taskId }, { signal }).catch(() => {})
}
