import type { ToolCall } from '../call/tool-call.ts'
import type { ToolResult } from '../call/tool-result.ts'
import type { InterceptedCall, Interceptor } from '../executor/intercept.ts'
import type { RunOptions } from '../executor/options.ts'
import type { ToolExecutor } from '../executor/tool-executor.ts'
import type { Approval, Decision } from '../interceptors/index.ts'
import type { Logger } from '../logging/logger.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import type { Progress } from '../tools/tool.ts'

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
  /** How far it is, as the tool last said. */
  progress?: Progress | undefined
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
  /** The pool whose workers may run it; this process's own if left out. Only workers that publish the tool may. */
  pool?: string | undefined
  /** A person is asked before it runs, and it waits for that durably. */
  approval?: { because?: string | undefined; timeoutMs?: number | undefined } | undefined
}

/** A tool as a worker publishes it: everything that others need to offer it as their own. */
export interface PublishedTool {
  name: string
  title?: string | undefined
  description: string
  schema: JsonSchema
  outputSchema?: JsonSchema | undefined
  timeoutMs?: number | undefined
  maxTimeoutMs?: number | undefined
  readOnly?: boolean | undefined
  idempotent?: boolean | undefined
  destructive?: boolean | undefined
  openWorld?: boolean | undefined
  sentences?: readonly string[] | undefined
  /** The same for the same definition. */
  fingerprint: string
}

/** A tool that workers of other processes publish, or published. */
export interface OfferedTool {
  pool: string
  tool: PublishedTool
  /** How many live workers run it. */
  workers: number
  /** ISO 8601: since when the last of them is gone. */
  gone_since?: string | undefined
}

/** What came of asking a person about a run. */
export interface RunVerdict {
  approved: boolean
  /** Why not. */
  reason: string
  by?: string | undefined
}

/** What `createDurable` of `toolpost-durable` takes. */
export interface DurableOptions {
  executor: ToolExecutor
  /** A PostgreSQL to use … */
  databaseUrl?: string | undefined
  /** … or the folder of an embedded one, which is started. */
  dataDir?: string | undefined
  /** Names this process among all others, and stays the same over restarts. */
  workerId?: string | undefined
  /** `gateway`: accepts runs, and leaves them to workers. */
  role?: 'worker' | 'gateway' | undefined
  pool?: string | undefined
  /** How many runs this worker has under way at once; with 0 it runs what it accepts itself, and nothing of others. */
  concurrency?: number | undefined
  /** By pattern, with `*` and `?`: limits of a tool that hold across all machines of a pool. */
  limits?: Readonly<Record<string, { concurrency?: number; perMinute?: number }>> | undefined
  /** How many days runs, and with them their keys, are kept after their end; 30 if left out. */
  days?: number | undefined
  /** Puts an interceptor around every call, inside of all others; `executor.use` if left out. */
  use?: ((interceptor: Interceptor) => () => void) | undefined
  logger?: Logger | undefined
  /** Told what a person should know, a line each: that the database is made, is gone, is back. */
  onNotice?: ((text: string) => void) | undefined
}

export type CreateDurable = (options: DurableOptions) => Durable

/** An accepted run: it will end, whatever crashes. */
export interface AcceptedRun {
  id: string
  result: Promise<ToolResult>
}

/** A run that was not accepted. */
export interface RefusedRun {
  refused: ToolResult
  /** The key was used for another call. */
  isConflict?: boolean | undefined
}

/** `workers`: what they offer has changed, too. `approvals`: all that runs wait for. */
export type DurableChange =
  | { type: 'run'; run: Run }
  | { type: 'workers' }
  | { type: 'state' }
  | { type: 'approvals'; approvals: readonly Approval[] }

/** `lost`: it was there, and is tried again. `failed`: it cannot be used as it is configured. */
export interface DurableStatus {
  state: 'starting' | 'ready' | 'lost' | 'failed'
  /** Where it is, or what is wrong and what to do. */
  text: string
}

export interface Durable {
  /** Resolves when it is connected, or cannot be; never rejects. */
  ready(): Promise<void>
  status(): DurableStatus
  /** Like `executor.run`, with `run_id` in the result. Never rejects. */
  run(call: ToolCall, options?: DurableRunOptions): Promise<ToolResult>
  /** Resolves as soon as the run is journalled; with a failed result if it cannot be accepted. */
  accept(call: ToolCall, options?: DurableRunOptions): Promise<AcceptedRun | RefusedRun>
  get(id: string): Promise<Run | undefined>
  /** The call of a run with its arguments as they came, to run it again: not to be shown. */
  callOf(id: string): Promise<{ call: ToolCall; options: DurableRunOptions } | undefined>
  /** Whether a call on its way through this process's executor is that of a run. */
  isRun(call: InterceptedCall): boolean
  /** The newest first. */
  list(filter?: RunFilter): Promise<Run[]>
  /** `false` if there is no such run, or it has ended. */
  cancel(id: string): Promise<boolean>
  workers(): Promise<DurableWorker[]>
  /** Tells the others which tools this worker runs, from now on. */
  publish(tools: readonly PublishedTool[]): void
  /** What other processes offer, as far as it is known now; those that went away stay until the others forget them. */
  offers(): readonly OfferedTool[]
  /**
   * Asks about the call of a run, in the database, where every gateway sees it; the run is in `approval` meanwhile.
   * The same run is asked about once: after a restart it goes on waiting, or has its answer. `undefined` if the call is
   * not that of a run.
   */
  requestApproval(call: InterceptedCall, asked: Approval): Promise<RunVerdict> | undefined
  /** Decides about a run of any process; `false` if nothing waits by that id. */
  decide(approvalId: string, decision: 'approve' | 'deny', about?: Decision): Promise<boolean>
  onChange(listener: (change: DurableChange) => void): () => void
  close(options?: { drainMs?: number }): Promise<void>
}
