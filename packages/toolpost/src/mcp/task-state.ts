import { isRecord } from '../runtime/guards.ts'
import { shortText } from '../runtime/short-text.ts'
import { McpCallError } from './call-result.ts'
import {
  MAX_TASK_ID_CHARACTERS,
  MAX_TASK_MESSAGE_CHARACTERS,
  TASK_MAX_POLL_MS,
  TASK_MIN_POLL_MS,
  TASK_POLL_MS,
} from './limits.ts'

/** The extension of the newest protocol; in 2025-11-25, tasks were part of the protocol. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'
/** In the `_meta` of requests a server makes on behalf of a task, in 2025-11-25. */
export const RELATED_TASK = 'io.modelcontextprotocol/related-task'

const STATUSES = ['working', 'input_required', 'completed', 'failed', 'cancelled'] as const

/** A task as its server describes it, in either protocol. */
export interface TaskState {
  id: string
  isNewest: boolean
  status: (typeof STATUSES)[number]
  message: string | undefined
  updatedAt: unknown
  pollMs: number
  /** In the newest protocol: how it ended, or what the server needs to know first. */
  result: unknown
  error: unknown
  inputRequests: unknown
}

/** Throws if it is malformed. */
export function createdTask(result: unknown): TaskState {
  const { resultType, task } = isRecord(result) ? result : {}
  return resultType === 'task' ? readTask(result, true) : readTask(task, false)
}

export function readTask(value: unknown, isNewest: boolean): TaskState {
  const given = isRecord(value) ? value : {}
  const status = STATUSES.find(each => each === given.status)
  if (!status) throw malformed('it has no valid status')
  return {
    id: idOf(given.taskId),
    isNewest,
    status,
    message:
      typeof given.statusMessage === 'string'
        ? shortText(given.statusMessage, MAX_TASK_MESSAGE_CHARACTERS)
        : undefined,
    updatedAt: given.lastUpdatedAt,
    pollMs: pollMsOf(isNewest ? given.pollIntervalMs : given.pollInterval),
    result: given.result,
    error: given.error,
    inputRequests: given.inputRequests,
  }
}

function idOf(id: unknown): string {
  if (typeof id !== 'string' || id === '') throw malformed('it has no id')
  if (id.length > MAX_TASK_ID_CHARACTERS)
    throw malformed(`its id is longer than ${MAX_TASK_ID_CHARACTERS} characters`)
  return id
}

function pollMsOf(given: unknown): number {
  const wanted = typeof given === 'number' && !Number.isNaN(given) ? given : TASK_POLL_MS
  return Math.min(Math.max(wanted, TASK_MIN_POLL_MS), TASK_MAX_POLL_MS)
}

function malformed(problem: string): McpCallError {
  return new McpCallError(`Malformed MCP task: ${problem}`)
}
