import { type Logger, silentLogger } from '../logging/logger.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import type { Caller } from '../tools/caller.ts'
import type { Progress, Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import type { ToolOutput } from '../tools/tool-output.ts'
import { type Clock, systemClock } from '../util/clock.ts'
import { logCall } from './log.ts'
import { Observers } from './observers.ts'
import { Deadlines, limitOf } from './time-box.ts'

export const DEFAULT_TIMEOUT_MS = 30_000
export const DEFAULT_SLOW_MS = 1_000
export const DEFAULT_MAX_TEXT_BYTES = 100_000

export interface ExecutorOptions {
  /** Deadline for tools without their own. */
  timeoutMs?: number | undefined
  /** Calls that take longer are logged as slow. */
  slowMs?: number | undefined
  /** Longer texts for a model are cut in the middle. */
  maxTextBytes?: number | undefined
  logger?: Logger | undefined
  clock?: Clock | undefined
}

export type Services = ReturnType<typeof servicesOf>

/** What the calls of an executor share. */
export function servicesOf(tools: ToolManager, options: ExecutorOptions) {
  const { clock = systemClock } = options
  // A logger that fails, say on a full disk, must not turn a result into a failure.
  const logger = quietLogger(options.logger)
  return {
    tools,
    clock,
    logger,
    log: logger === silentLogger ? undefined : logCall,
    timeoutMs: limitOf(options.timeoutMs) ?? DEFAULT_TIMEOUT_MS,
    slowMs: limitOf(options.slowMs) ?? DEFAULT_SLOW_MS,
    maxTextBytes: limitOf(options.maxTextBytes) ?? DEFAULT_MAX_TEXT_BYTES,
    deadlines: new Deadlines(clock),
    observers: new Observers(),
  }
}

/** A call from the program's own code: arguments that the tool does not accept do not compile. */
export interface TypedCall<Args extends object, Result> {
  id?: string | undefined
  tool: Tool<Args, Result>
  args: NoInfer<Args>
}

/** The type of `result` for a tool that returns `Result`. */
export type ValueOf<Result> = Result extends ToolOutput<infer Value> ? Value : Result

export interface RunOptions extends Caller {
  signal?: AbortSignal | undefined
  timeoutMs?: number | undefined
  /** When the call began, on the executor's clock, if that was earlier: reading its request counts against the deadline. */
  startedAt?: number | undefined
  /** Repair the arguments if the repair is certain: for calls written by a model or typed by a person. */
  repair?: boolean | undefined
  onProgress?: ((progress: Progress) => void) | undefined
  /** Where the call comes from: `cli`, `http`, `mcp`, `chat`, `voice`, `worker` … */
  origin?: string | undefined
  /** Who makes the call, if known. Callers share scarce resources, such as child processes, fairly. */
  caller?: string | undefined
  /** The conversation it belongs to, if any: long results kept for one cannot be read in another. */
  conversation?: string | undefined
  /** Metadata passed on to the tool: `_meta` of an MCP call, such as `traceparent`. */
  meta?: Readonly<Record<string, unknown>> | undefined
  /** The only tools that may be found: those a model was offered. All if left out. */
  among?: readonly Tool[] | undefined
  /** Extra tools for this call, which the manager does not have. */
  also?: readonly Tool[] | undefined
}

export type ExecuteOptions = Pick<RunOptions, 'signal' | 'timeoutMs'>

/** Who makes a call and how to reach them. */
export type CallerOptions = Pick<RunOptions, 'origin' | 'caller' | 'conversation' | 'meta' | keyof Caller>
