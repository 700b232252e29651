import { randomUUID } from 'node:crypto'
import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { shortText } from '../../runtime/short-text.ts'
import {
  MAX_CLIENT_TASKS,
  MAX_TASK_BYTES,
  MAX_TASK_MESSAGE,
  MAX_TASK_TTL_MS,
  MAX_TASKS,
  MIN_TASK_TTL_MS,
  TASK_TTL_MS,
} from '../limits.ts'
import type { ClientCall } from './client-call.ts'

/** A call whose client polls for the result. */
export class Task {
  /** Unguessable; for a durable run, the run's id, which every process knows. */
  readonly id: string
  readonly owner: unknown
  readonly call: ClientCall<CallToolResult>
  readonly createdAt = new Date().toISOString()
  readonly ttlMs: number
  updatedAt = this.createdAt
  message: string | undefined
  result: CallToolResult | undefined
  error: { code: number; message: string } | undefined
  isCancelled = false
  /** The approximate size of the result. */
  bytes = 0
  /** Whether its client has seen how it ended. */
  isDelivered = false
  /** Called after its status changed. */
  onStatus: (() => void) | undefined
  #status = ''

  constructor(owner: unknown, call: ClientCall<CallToolResult>, ttlMs: number) {
    this.owner = owner
    this.id = call.runId ?? randomUUID()
    this.call = call
    this.ttlMs = ttlMs
    call.onChange = progress => {
      if (progress?.message !== undefined) this.message = shortText(progress.message, MAX_TASK_MESSAGE)
      this.#changed()
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
      const result = await this.call.result
      this.bytes = JSON.stringify(result).length
      this.result = result
    } catch (error) {
      const { code, message } = error as { code?: unknown; message?: unknown }
      this.error = {
        code: Number.isSafeInteger(code) ? (code as number) : ProtocolErrorCode.InternalError,
        message: String(message ?? 'Internal error'),
      }
    }
    this.#changed()
  }

  cancel(): void {
    if (this.isEnded) return
    this.isCancelled = true
    this.call.giveUp('cancelled')
    this.#changed()
  }

  #changed(): void {
    this.updatedAt = new Date().toISOString()
    if (this.#status === this.status) return
    this.#status = this.status
    this.onStatus?.()
  }
}

/** The calls that became tasks, for as long as their clients may poll them. */
export class Tasks {
  /** The oldest first. */
  readonly #tasks = new Map<string, Task>()

  /** `undefined` if there is no room. */
  add(owner: unknown, call: ClientCall<CallToolResult>, ttlMs = TASK_TTL_MS): Task | undefined {
    if (!this.#hasRoom(owner)) return undefined
    const task = new Task(owner, call, Math.min(Math.max(ttlMs, MIN_TASK_TTL_MS), MAX_TASK_TTL_MS))
    this.#tasks.set(task.id, task)
    const expired = new Promise(resolve => {
      setTimeout(resolve, task.ttlMs).unref()
    })
    const settled = task.settled().then(() => this.#keepSmall())
    // A task still running by then is not aborted, and its result is kept for a little while.
    void Promise.all([expired, settled]).then(() => {
      setTimeout(() => this.#tasks.delete(task.id), MIN_TASK_TTL_MS).unref()
    })
    return task
  }

  /** Throws if it does not exist or has another owner. */
  get(id: string, owner: unknown): Task {
    const task = this.#tasks.get(id)
    if (!task || task.owner !== owner)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Task not found')
    return task
  }

  has(id: string): boolean {
    return this.#tasks.has(id)
  }

  of(owner: unknown): Task[] {
    return [...this.#tasks.values()].filter(task => task.owner === owner)
  }

  /** For when their client is gone for good. */
  endAll(owner: unknown): void {
    for (const task of this.of(owner)) {
      task.cancel()
      this.#tasks.delete(task.id)
    }
  }

  #hasRoom(owner: unknown): boolean {
    const mine = this.of(owner)
    if (mine.length >= MAX_CLIENT_TASKS && !this.#removeOne(mine)) return false
    return this.#tasks.size < MAX_TASKS || this.#removeOne([...this.#tasks.values()])
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

  #removeOne(tasks: readonly Task[]): boolean {
    const [first] = endedOf(tasks)
    return first !== undefined && this.#tasks.delete(first.id)
  }
}

/** Finished tasks, those already delivered first, then oldest first. */
function endedOf(tasks: readonly Task[]): Task[] {
  const ended = tasks.filter(({ isEnded }) => isEnded)
  return [...ended.filter(({ isDelivered }) => isDelivered), ...ended.filter(each => !each.isDelivered)]
}
