import { randomUUID } from 'node:crypto'
import type { ClientCapabilities } from '@modelcontextprotocol/server'
import { INVALID_PARAMS, RpcError } from '../../mcp/peer.ts'
import { isRecord } from '../../runtime/guards.ts'
import { shortText } from '../../runtime/short-text.ts'
import type { Client } from '../clients.ts'
import {
  MAX_CLIENT_TASKS,
  MAX_TASK_BYTES,
  MAX_TASK_MESSAGE,
  MAX_TASKS,
  TASK_POLL_MS,
  TASK_TTL_MS,
} from '../limits.ts'
import type { DurableSource } from '../routes/runs.ts'
import type { Work } from './call-tool.ts'
import { ClientCall } from './client-call.ts'
import type { McpMethod } from './methods.ts'
import {
  capabilitiesOf,
  errorOf,
  type McpRequest,
  MISSING_CAPABILITY,
  type Params,
  TASKS_EXTENSION,
} from './protocol.ts'

/* The tasks extension of the newest protocol: a long call is answered with a task, which its client polls. */

export function knowsTasks({ extensions }: ClientCapabilities): boolean {
  return isRecord(extensions?.[TASKS_EXTENSION])
}

/** A call whose client polls for the result. */
class Task {
  /** Unguessable; for a durable run, the run's id, which every process knows. */
  readonly id: string
  readonly owner: string
  readonly call: ClientCall
  readonly createdAt = new Date().toISOString()
  updatedAt = this.createdAt
  message: string | undefined
  result: object | undefined
  error: ReturnType<typeof errorOf> | undefined
  isCancelled = false
  /** The approximate size of the result. */
  bytes = 0
  /** Whether its client has seen how it ended. */
  isDelivered = false

  constructor(owner: string, call: ClientCall) {
    this.owner = owner
    this.id = call.runId ?? randomUUID()
    this.call = call
    call.onChange = progress => {
      if (progress?.message !== undefined) this.message = shortText(progress.message, MAX_TASK_MESSAGE)
      this.updatedAt = new Date().toISOString()
    }
  }

  get isEnded(): boolean {
    return this.isCancelled || this.result !== undefined || this.error !== undefined
  }

  get status(): 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled' {
    if (this.isCancelled) return 'cancelled'
    if (this.error) return 'failed'
    if (this.result) return 'completed'
    return this.call.isAsking ? 'input_required' : 'working'
  }

  /** Resolves when the work has ended, even after a cancellation. Never rejects. */
  async settled(): Promise<void> {
    try {
      this.result = await this.call.result
      this.bytes = JSON.stringify(this.result).length
    } catch (error) {
      this.error = errorOf(error)
    }
    this.updatedAt = new Date().toISOString()
  }

  cancel(): void {
    if (this.isEnded) return
    this.isCancelled = true
    this.call.giveUp('cancelled')
    this.updatedAt = new Date().toISOString()
  }

  view(): object {
    const { id, status, message, createdAt, updatedAt } = this
    return {
      taskId: id,
      status,
      ...(message !== undefined && { statusMessage: message }),
      createdAt,
      lastUpdatedAt: updatedAt,
      ttlMs: TASK_TTL_MS,
      pollIntervalMs: TASK_POLL_MS,
    }
  }
}

/** The calls that became tasks, for as long as their clients may poll them. */
export class Tasks {
  /** The oldest first. */
  readonly #tasks = new Map<string, Task>()

  /** The answer to a call that becomes a task; `undefined` if there is no room. */
  become(request: McpRequest, call: ClientCall): object | undefined {
    const task = this.add(ownerOf(request), call)
    return task && { resultType: 'task', ...task.view() }
  }

  add(owner: string, call: ClientCall): Task | undefined {
    if (!this.#hasRoom(owner)) return undefined
    const task = new Task(owner, call)
    this.#tasks.set(task.id, task)
    const expired = new Promise(resolve => {
      setTimeout(resolve, TASK_TTL_MS).unref()
    })
    const settled = task.settled().then(() => this.#keepSmall())
    // A task still running by then is not aborted.
    void Promise.all([expired, settled]).then(() => this.#tasks.delete(task.id))
    return task
  }

  /** Throws if it does not exist or has another owner. */
  get(id: string, owner: string): Task {
    const task = this.#tasks.get(id)
    if (task?.owner !== owner) throw new RpcError('Task not found', { code: INVALID_PARAMS })
    return task
  }

  has(id: string): boolean {
    return this.#tasks.has(id)
  }

  /** Finished tasks make room, those already delivered first, then oldest first. */
  #hasRoom(owner: string): boolean {
    const all = [...this.#tasks.values()]
    const mine = all.filter(task => task.owner === owner)
    const isFull = mine.length >= MAX_CLIENT_TASKS || all.length >= MAX_TASKS
    if (!isFull) return true
    const [first] = endedOf(mine.length >= MAX_CLIENT_TASKS ? mine : all)
    return first !== undefined && this.#tasks.delete(first.id)
  }

  #keepSmall(): void {
    const all = [...this.#tasks.values()]
    let bytes = all.reduce((sum, task) => sum + task.bytes, 0)
    // The one that ended last stays, however large it is.
    for (const task of endedOf(all).slice(0, -1)) {
      if (bytes <= MAX_TASK_BYTES) return
      bytes -= task.bytes
      this.#tasks.delete(task.id)
    }
  }
}

function endedOf(tasks: readonly Task[]): Task[] {
  const ended = tasks.filter(({ isEnded }) => isEnded)
  return [...ended.filter(({ isDelivered }) => isDelivered), ...ended.filter(each => !each.isDelivered)]
}

function ownerOf({ client }: McpRequest): string {
  return `client ${client?.name}`
}

interface RunCall {
  name: string
  args: Params
  key: string
}

export function taskMethods(
  tasks: Tasks,
  source: DurableSource | undefined,
  workOf: (call: RunCall, request: McpRequest) => Work<object>,
): Record<string, McpMethod> {
  const find = async ({ taskId }: Params, request: McpRequest) => {
    const capabilities = capabilitiesOf(request)
    if (!knowsTasks(capabilities))
      throw new RpcError('Missing required client capability', {
        code: MISSING_CAPABILITY,
        data: { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
      })
    if (typeof taskId !== 'string')
      throw new RpcError("Invalid params: 'taskId' must be a string", { code: INVALID_PARAMS })
    const run = tasks.has(taskId) ? undefined : await callOfRun(taskId, request.client, source)
    // Another request may have added it meanwhile.
    if (run && !tasks.has(taskId)) {
      const call = new ClientCall({ capabilities, work: workOf(run, request), mayBeTask: true })
      call.runId = taskId
      tasks.add(ownerOf(request), call)
    }
    return tasks.get(taskId, ownerOf(request))
  }
  return {
    'tasks/get': async (params, request) => {
      const task = await find(params, request)
      const { status, result, error, call } = task
      task.isDelivered ||= task.isEnded
      return {
        ...task.view(),
        ...(status === 'completed' && { result }),
        ...(status === 'failed' && { error }),
        ...(status === 'input_required' && { inputRequests: call.handOut() }),
      }
    },
    'tasks/update': async (params, request) => {
      const { call } = await find(params, request)
      call.answer(isRecord(params.inputResponses) ? params.inputResponses : {})
      return {}
    },
    'tasks/cancel': async (params, request) => {
      const task = await find(params, request)
      task.cancel()
      return {}
    },
  }
}

/** The call behind a durable run with a key, if it is that client's: it can be awaited again. */
async function callOfRun(
  id: string,
  client: Client | undefined,
  source: DurableSource | undefined,
): Promise<RunCall | undefined> {
  const runs = source?.durable?.()
  try {
    const run = await runs?.durable.get(id)
    if (!runs || run?.key === undefined || run.origin !== 'mcp' || run.caller !== client?.caller)
      return undefined
    const found = await runs.durable.callOf(id)
    return found && { name: runs.nameOf(run), args: found.call.args as Params, key: run.key }
  } catch {
    // The database is unreachable, and so is the task, for now.
    return undefined
  }
}
