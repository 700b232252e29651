import { randomUUID } from 'node:crypto'
import { INVALID_PARAMS, RpcError } from '../../mcp/peer.ts'
import { isRecord } from '../../util/guards.ts'
import { shortText } from '../../util/text.ts'
import { MAX_CLIENT_TASKS, MAX_TASK_MESSAGE, MAX_TASKS, TASK_POLL_MS, TASK_TTL_MS } from '../limits.ts'
import type { ClientCall } from './client-calls.ts'
import type { McpMethod } from './methods.ts'
import {
  capabilitiesOf,
  errorOf,
  invalid,
  type McpRequest,
  MISSING_CAPABILITY,
  type Params,
  TASKS_EXTENSION,
} from './protocol.ts'

/* The tasks extension of the newest protocol: a long call is answered with a task, which its client polls. */

interface Task {
  readonly id: string
  readonly owner: string | undefined
  readonly call: ClientCall
  readonly createdAt: string
  updatedAt: string
  message?: string
  /** How it ended. */
  end?: { status: 'completed' | 'failed' | 'cancelled'; result?: object; error?: object }
}

export function knowsTasks(request: McpRequest): boolean {
  return isRecord(capabilitiesOf(request).extensions?.[TASKS_EXTENSION])
}

/** The calls that became tasks, for as long as their clients may poll them. */
export class Tasks {
  /** The oldest first. */
  readonly #tasks = new Map<string, Task>()

  readonly methods: Record<string, McpMethod> = {
    'tasks/get': (params, request) => {
      const task = this.#find(params, request)
      const { end, call } = task
      return { ...view(task), ...end, ...(!end && call.isAsking && { inputRequests: call.handOut() }) }
    },
    'tasks/update': (params, request) => {
      this.#find(params, request).call.answer(isRecord(params.inputResponses) ? params.inputResponses : {})
      return {}
    },
    'tasks/cancel': (params, request) => {
      const task = this.#find(params, request)
      if (task.end) return {}
      end(task, { status: 'cancelled' })
      task.call.giveUp('cancelled')
      return {}
    },
  }

  /** The answer to a call that becomes a task; `undefined` if there is no room. */
  become({ client }: McpRequest, call: ClientCall): object | undefined {
    const owner = client?.name
    if (!this.#makeRoom(owner)) return undefined
    const now = new Date().toISOString()
    const task: Task = { id: randomUUID(), owner, call, createdAt: now, updatedAt: now }
    this.#tasks.set(task.id, task)
    call.onChange = progress => {
      if (progress?.message !== undefined) task.message = shortText(progress.message, MAX_TASK_MESSAGE)
      task.updatedAt = new Date().toISOString()
    }
    call.result.then(
      result => end(task, { status: 'completed', result }),
      error => end(task, { status: 'failed', error: errorOf(error) }),
    )
    setTimeout(() => this.#forget(task), TASK_TTL_MS).unref()
    return { resultType: 'task', ...view(task) }
  }

  /** A task still running when its time is up is not aborted. */
  #forget(task: Task): void {
    void task.call.result.catch(() => {}).then(() => this.#tasks.delete(task.id))
  }

  /** Throws if it does not exist or belongs to another client. */
  #find({ taskId }: Params, request: McpRequest): Task {
    if (!knowsTasks(request))
      throw new RpcError('Missing required client capability', {
        code: MISSING_CAPABILITY,
        data: { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
      })
    if (typeof taskId !== 'string') throw invalid("'taskId' must be a string")
    const task = this.#tasks.get(taskId)
    if (!task || task.owner !== request.client?.name)
      throw new RpcError('Task not found', { code: INVALID_PARAMS })
    return task
  }

  /** The oldest finished task makes room. */
  #makeRoom(owner: string | undefined): boolean {
    const all = [...this.#tasks.values()]
    const own = all.filter(task => task.owner === owner)
    if (own.length < MAX_CLIENT_TASKS && all.length < MAX_TASKS) return true
    const ended = (own.length < MAX_CLIENT_TASKS ? all : own).find(task => task.end)
    return ended !== undefined && this.#tasks.delete(ended.id)
  }
}

function end(task: Task, how: NonNullable<Task['end']>): void {
  task.end ??= how
  task.updatedAt = new Date().toISOString()
}

function view({ id, call, end, message, createdAt, updatedAt }: Task): object {
  return {
    taskId: id,
    status: end?.status ?? (call.isAsking ? 'input_required' : 'working'),
    ...(message !== undefined && { statusMessage: message }),
    createdAt,
    lastUpdatedAt: updatedAt,
    ttlMs: TASK_TTL_MS,
    pollIntervalMs: TASK_POLL_MS,
  }
}
