import type { ToolCall } from '../call/tool-call.ts'
import type { ToolResult } from '../call/tool-result.ts'
import type { Interceptor } from '../executor/chain.ts'
import type { CallContext, DryRun } from '../executor/context.ts'
import type { ToolExecutor } from '../executor/executor.ts'
import type { RunOptions } from '../executor/options.ts'
import type { SharedApprovals } from '../interceptors/approval.ts'
import type { Approval, Decision } from '../interceptors/index.ts'
import type { Logger } from '../logging/logger.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import type { Progress, ToolTraits } from '../tools/tool.ts'

/*
 * Calls that survive a crash, as a project sees them. The engine is a separate package (`toolpost-durable`), found by name
 * and loaded only when a configuration asks for it.
 */

type OptionalText<Name extends string> = Partial<Record<Name, string | undefined>>

/** `waiting`: accepted, but not started. `approval`: a person is being asked. The last three are final. */
export const RUN_STATES = ['waiting', 'approval', 'running', 'done', 'failed', 'cancelled'] as const
export type RunState = (typeof RUN_STATES)[number]

/** A journalled step of a run. */
export interface RunStep extends Record<'name' | 'at', string>, OptionalText<'worker'> {}

/**
 * A durable call. Arguments are shortened and redacted as in logs; times are ISO 8601. `worker`: the one that runs it, or ran it
 * last. `key`: the idempotency key it came with.
 */
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

/** `before`: only runs accepted before the one with this id, for paging. */
export interface RunFilter extends OptionalText<'tool' | 'caller' | 'before'> {
  state?: RunState | undefined
  limit?: number | undefined
}

/** A process that runs or accepts durable calls. */
export interface DurableWorker extends Record<'id' | 'pool' | 'host' | 'seen_at' | 'started_at', string> {
  role: 'worker' | 'gateway'
  pid: number
  state: 'live' | 'gone'
  tools: string[]
  running: number
}

/**
 * `key`: the same key and call from one caller is the same run; the same key with another call is refused. `pool`: whose workers
 * may run it, if they publish the tool; this process's own if left out; if empty, it is not started. `calledAs`: the caller's
 * name for the tool, if its workers have another one for it.
 */
export interface DurableRunOptions extends RunOptions, OptionalText<'key' | 'pool' | 'calledAs'> {
  /** A person decides before it is queued; the wait is durable, too. */
  approval?: DryRun['asks'] | undefined
  /** A person has approved it: it is not asked about again. */
  approved?: boolean | undefined
}

/** A tool as a worker publishes it. `server`: its MCP server there. `fingerprint`: equal for equal definitions. */
export interface PublishedTool
  extends ToolTraits,
    Record<'name' | 'description' | 'fingerprint', string>,
    OptionalText<'server'> {
  schema: JsonSchema
  outputSchema?: JsonSchema | undefined
}

/** A tool that other processes publish, or used to; `gone_since` (ISO 8601) the last of its live workers disappeared. */
export interface OfferedTool extends OptionalText<'gone_since'> {
  pool: string
  tool: PublishedTool
  workers: number
}

/**
 * The options of `createDurable` in `toolpost-durable`. `databaseUrl`: the PostgreSQL to use, or `dataDir`: the folder of an
 * embedded one, which is started. `workerId`: identifies this process among all others, also after a restart.
 */
export interface DurableOptions extends OptionalText<'databaseUrl' | 'dataDir' | 'workerId' | 'pool'> {
  executor: ToolExecutor
  /** `gateway`: accepts runs, but leaves them to workers. */
  role?: 'worker' | 'gateway' | undefined
  /** How many runs this worker takes at once; with 0 it runs only what it accepts itself. */
  concurrency?: number | undefined
  /** The MCP servers whose tools this worker has. */
  servers?: readonly string[] | undefined
  /** By server (`local` for tools of none): limits shared by all machines of a pool. */
  limits?: Readonly<Record<string, { concurrency?: number; perMinute?: number }>> | undefined
  /** How many days runs and their keys are kept after they end; 30 if left out. */
  days?: number | undefined
  /** Adds an interceptor inside all others; `executor.use` if left out. */
  use?: ((interceptor: Interceptor) => () => void) | undefined
  /** Whether a call of the executor becomes a run: under which name and in which pool. */
  handsOver?: ((call: CallContext) => { name: string; pool?: string } | undefined) | undefined
  onChange?: ((change: DurableChange) => void) | undefined
  logger?: Logger | undefined
  /** Receives notices for a person, one line each: the database is being created, is gone, is back. */
  onNotice?: ((text: string) => void) | undefined
}

export type CreateDurable = (options: DurableOptions) => Durable

/** An accepted run: it ends even if processes crash. With `approval`, it waits for the decision about that. */
export interface AcceptedRun {
  id: string
  approval?: Approval | undefined
  result: Promise<ToolResult>
}

/** A run that was not accepted; a conflict if the key was used for another call. */
export interface RefusedRun {
  refused: ToolResult
  isConflict?: boolean | undefined
}

/** `workers`: the workers or their tools changed. `approvals`: all approvals that runs are waiting for. */
export type DurableChange =
  | { type: 'run'; run: Run }
  | { type: 'workers' | 'state' }
  | { type: 'approvals'; approvals: readonly Approval[] }

/**
 * `lost`: it was connected, and is reconnecting. `failed`: it could not be started. `text`: where the database is, or what is
 * wrong, what to do, and whether it is retried.
 */
export interface DurableStatus {
  state: 'starting' | 'ready' | 'lost' | 'failed'
  text: string
}

export interface Durable {
  /** Resolves when it is connected or has failed; never rejects. */
  ready(): Promise<void>
  status(): DurableStatus
  /** Like `executor.run`, with `run_id` in the result; at the caller's deadline `timeout`, and the run goes on. Never rejects. */
  run(call: ToolCall, options?: DurableRunOptions): Promise<ToolResult>
  /** Resolves as soon as the run is journalled, or to a failed result if it cannot be accepted. */
  accept(call: ToolCall, options?: DurableRunOptions): Promise<AcceptedRun | RefusedRun>
  get(id: string): Promise<Run | undefined>
  /** The call of a run with its original arguments, for running it again; not safe to show. */
  callOf(id: string): Promise<{ call: ToolCall; options: DurableRunOptions } | undefined>
  /** Newest first. */
  list(filter?: RunFilter): Promise<Run[]>
  /** `false` if there is no such run or it has ended. */
  cancel(id: string): Promise<boolean>
  workers(): Promise<DurableWorker[]>
  /** Publishes the tools that this worker runs from now on. */
  publish(tools: readonly PublishedTool[]): void
  /** What other processes currently offer; tools of processes that are gone stay until they are forgotten. */
  offers(): readonly OfferedTool[]
  /**
   * Asks about the call of a run, in the database, where every gateway sees it. Unless that was done already, the run is
   * taken back, and starts again once somebody has approved it. `undefined` if the call does not belong to a run.
   */
  requestApproval: SharedApprovals['request']
  /** Decides about a run of any process; `false` if no approval with this id is waiting. */
  decide(approvalId: string, decision: 'approve' | 'deny', about?: Decision): Promise<boolean>
  close(options?: { drainMs?: number }): Promise<void>
}
