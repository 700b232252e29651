import { isRecord } from '../runtime/guards.ts'
import { McpCallError } from './call-result.ts'
import type { Requester } from './server-link.ts'
import { RELATED_TASK } from './task-state.ts'

/** A call waiting for a task. */
export interface TaskFollower {
  /** The caller. */
  from: Requester
  /** The server reports that the task changed. */
  onChange(): void
}

const NOTICES = new Set(['notifications/tasks/status', 'notifications/tasks'])

/** The tasks of one server that calls wait for. */
export class ServerTasks {
  readonly #followers = new Map<string, TaskFollower>()

  /** Returns a function that stops following. Throws if another call waits for the same task, since results must not be shared. */
  follow(id: string, follower: TaskFollower): () => void {
    if (this.#followers.has(id))
      throw new McpCallError('Malformed MCP task: its id belongs to another pending call')
    this.#followers.set(id, follower)
    return () => void this.#followers.delete(id)
  }

  /** Handles a notification if it is about tasks; returns whether it did. */
  notice(method: string, { taskId }: Readonly<Record<string, unknown>>): boolean {
    if (!NOTICES.has(method)) return false
    this.#followers.get(taskId as string)?.onChange()
    return true
  }

  /** The caller for whom a server asks something, if it says so. */
  requesterOf({ _meta }: Record<string, unknown>): Requester | undefined {
    const related = isRecord(_meta) ? _meta[RELATED_TASK] : undefined
    return isRecord(related) ? this.#followers.get(related.taskId as string)?.from : undefined
  }
}
