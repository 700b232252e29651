import type { ToolCall } from '../call/tool-call.ts'
import type { ToolResult } from '../call/tool-result.ts'
import type { CallContext, DryRun } from '../executor/context.ts'
import type { ToolExecutor } from '../executor/executor.ts'
import type { RunOptions } from '../executor/options.ts'
import type { Approval, Decision, SharedApprovals } from '../interceptors/index.ts'
import type { Logger } from '../logging/logger.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import type { Progress, ToolTraits } from '../tools/tool.ts'

/* Calls that survive a crash, as a project sees them. The engine is a separate package, `toolpost-durable`. */

type OptionalText<Name extends string> = Partial<Record<Name, string | undefined>>

/** `waiting`: accepted, but not started. `approval`: a person is being asked. The last three are final. */
export const RUN_STATES = ['waiting', 'approval', 'running', 'done', 'failed', 'cancelled'] as const
export type RunState = (typeof RUN_STATES)[number]

export type RunStep = Record<'name' | 'at', string> & OptionalText<'worker'>

/** A durable call. Arguments are shortened and redacted as in logs; times are ISO 8601. `worker`: the last one that ran it. */
export interface Run
  extends Record<'id' | 'tool' | 'created_at', string>,
    OptionalText<'started_at' | 'ended_at' | 'pool' | 'worker' | 'caller' | 'origin' | 'key'> {
  args: unknown
  state: RunState
  attempts: number
  steps: RunStep[]
  progress?: Progress | undefined
  result?: ToolResult | undefined
}

/** `before`: only runs older than the one with this id. */
export type RunFilter = OptionalText<'tool' | 'caller' | 'before'> &
  Partial<{ state: RunState | undefined; limit: number | undefined }>

export interface DurableWorker extends Record<'id' | 'pool' | 'host' | 'seen_at' | 'started_at', string> {
  role: 'worker' | 'gateway'
  pid: number
  state: 'live' | 'gone'
  tools: string[]
  running: number
}

/**
 * `key`: the same key and call from one caller is the same run; with another call it is refused. `pool`: whose workers may run it,
 * this process's own if left out; if empty, it is not started. `calledAs`: the caller's name for the tool. `approval`: a person
 * decides before it is queued. `approved`: one has.
 */
export interface DurableRunOptions extends RunOptions, OptionalText<'key' | 'pool' | 'calledAs'> {
  approval?: DryRun['asks'] | undefined
  approved?: boolean | undefined
}

/** A tool as a worker publishes it. `server`: its MCP server there. `fingerprint`: equal for equal definitions. */
export type PublishedTool = ToolTraits &
  Record<'name' | 'description' | 'fingerprint', string> & {
    server?: string | undefined
    schema: JsonSchema
    outputSchema?: JsonSchema | undefined
  }

/** A tool that other processes publish, or used to; `gone_since` (ISO 8601) the last of its live workers disappeared. */
export type OfferedTool = { pool: string; tool: PublishedTool; workers: number } & OptionalText<'gone_since'>

/**
 * `databaseUrl`: the PostgreSQL to use, or `dataDir`: the folder of an embedded one. `workerId`: identifies this process among all
 * others, also after a restart. A `gateway` leaves runs to workers. `concurrency`: how many runs it takes at once; with 0 only
 * those that it accepts itself. `limits`: by server (`local` for tools of none), shared by all machines of the pool. `days`: how
 * long runs and their keys are kept after they end. `handsOver`: whether a call becomes a run, under which name and in which pool.
 * `onNotice` gets lines for a person.
 */
export interface DurableOptions extends OptionalText<'databaseUrl' | 'dataDir' | 'workerId' | 'pool'> {
  executor: ToolExecutor
  role?: 'worker' | 'gateway' | undefined
  concurrency?: number | undefined
  limits?: Readonly<Record<string, { concurrency?: number; perMinute?: number }>> | undefined
  days?: number | undefined
  handsOver?: ((call: CallContext) => { name: string; pool?: string } | undefined) | undefined
  onChange?: ((change: DurableChange) => void) | undefined
  logger?: Logger | undefined
  onNotice?: ((text: string) => void) | undefined
}

export type CreateDurable = (options: DurableOptions) => Durable

/** It ends even if processes crash. With `approval`, it waits for the decision about that. */
export type AcceptedRun = { id: string; approval?: Approval | undefined; result: Promise<ToolResult> }

/** A conflict if the key was used for another call. */
export type RefusedRun = { refused: ToolResult; isConflict?: boolean }

/** `workers`: the workers or their tools changed. `approvals`: all approvals that runs are waiting for. */
export type DurableChange =
  | { type: 'run'; run: Run }
  | { type: 'workers' | 'state' }
  | { type: 'approvals'; approvals: readonly Approval[] }

/** `lost`: it was connected, and is reconnecting. `failed`: it could not be started. `text`: where the database is, or what is wrong. */
export type DurableStatus = { state: 'starting' | 'ready' | 'lost' | 'failed'; text: string }

export interface Durable {
  /** Resolves when it is connected or has failed; never rejects. */
  ready(): Promise<void>
  status(): DurableStatus
  /** Like `executor.run`, with `run_id` in the result; at the caller's deadline `timeout`, and the run goes on. Never rejects. */
  run(call: ToolCall, options?: DurableRunOptions): Promise<ToolResult>
  /** Resolves as soon as the run is journalled. */
  accept(call: ToolCall, options?: DurableRunOptions): Promise<AcceptedRun | RefusedRun>
  get(id: string): Promise<Run | undefined>
  /** With its original arguments: not safe to show. */
  callOf(id: string): Promise<{ call: ToolCall; options: DurableRunOptions } | undefined>
  list(filter?: RunFilter): Promise<Run[]>
  /** `false` if there is no such run or it has ended. */
  cancel(id: string): Promise<boolean>
  workers(): Promise<DurableWorker[]>
  /** The tools that this worker runs from now on, and those of others; of processes that are gone, until they are forgotten. */
  publish(tools: readonly PublishedTool[]): void
  offers(): readonly OfferedTool[]
  /** Unless its call was approved already, a run is taken back, and starts again once somebody has approved it. */
  requestApproval: SharedApprovals['request']
  /** Decides about a run of any process; `false` if no approval with this id is waiting. */
  decide(approvalId: string, decision: 'approve' | 'deny', about?: Decision): Promise<boolean>
  close(options?: { drainMs?: number }): Promise<void>
}
