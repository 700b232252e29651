import type { ToolCall } from '../call/tool-call.ts'
import type { ToolResult } from '../call/tool-result.ts'
import type { RunOptions } from '../executor/options.ts'

/*
 * Calls that survive a crash, as a project sees them. The engine is a package of its own (`toolpost-durable`), found by
 * name and loaded only when a configuration asks for it.
 */

/** `waiting`: accepted, not begun. `approval`: a person is being asked. The last three are ends. */
export const RUN_STATES = ['waiting', 'approval', 'running', 'done', 'failed', 'cancelled'] as const
export type RunState = (typeof RUN_STATES)[number]

/** A step of a run, in the order in which they were journalled. */
export interface RunStep {
  name: string
  at: string
  worker?: string | undefined
}

/** A durable call. Arguments are as they stand in logs; times are ISO 8601, by the database's clock. */
export interface Run {
  id: string
  tool: string
  args: unknown
  state: RunState
  attempts: number
  created_at: string
  started_at?: string | undefined
  ended_at?: string | undefined
  pool?: string | undefined
  /** The process that runs it, or ran it last. */
  worker?: string | undefined
  caller?: string | undefined
  origin?: string | undefined
  /** The idempotency key it came with. */
  key?: string | undefined
  steps: RunStep[]
  result?: ToolResult | undefined
}

export interface RunFilter {
  state?: RunState | undefined
  tool?: string | undefined
  caller?: string | undefined
  /** Only runs that were accepted before this one: the next page. */
  before?: string | undefined
  limit?: number | undefined
}

/** A process that runs durable calls, or offers them. */
export interface DurableWorker {
  id: string
  pool: string
  role: 'worker' | 'gateway'
  host: string
  pid: number
  state: 'live' | 'gone'
  /** When it was last heard of; for one that is gone, since when. */
  seen_at: string
  started_at: string
  tools: string[]
  running: number
}

export interface DurableRunOptions extends RunOptions {
  /** The same key and call of one caller is the same run; the same key and another call is refused. */
  key?: string | undefined
}

/** An accepted run: it will end, whatever crashes. */
export interface AcceptedRun {
  id: string
  result: Promise<ToolResult>
}

export type DurableChange = { type: 'run'; run: Run } | { type: 'workers' } | { type: 'state' }

export interface Durable {
  /** Resolves when it is connected, or cannot be; never rejects. */
  ready(): Promise<void>
  status(): { state: 'starting' | 'ready' | 'lost' | 'failed'; text: string }
  /** Like `executor.run`, with `run_id` in the result. Never rejects. */
  run(call: ToolCall, options?: DurableRunOptions): Promise<ToolResult>
  /** Resolves as soon as the run is journalled; with a failed result if it cannot be accepted. */
  accept(call: ToolCall, options?: DurableRunOptions): Promise<AcceptedRun | { refused: ToolResult }>
  get(id: string): Promise<Run | undefined>
  /** The newest first. */
  list(filter?: RunFilter): Promise<Run[]>
  /** `false` if there is no such run, or it has ended. */
  cancel(id: string): Promise<boolean>
  workers(): Promise<DurableWorker[]>
  onChange(listener: (change: DurableChange) => void): () => void
  close(options?: { drainMs?: number }): Promise<void>
}
