import type { Logger } from '../logging/logger.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Caller } from '../tools/caller.ts'
import type { Progress, Tool } from '../tools/tool.ts'
import type { ToolOutput } from '../tools/tool-output.ts'

export const DEFAULT_TIMEOUT_MS = 30_000
export const DEFAULT_SLOW_MS = 1_000
export const DEFAULT_MAX_TEXT_BYTES = 100_000

export interface ExecutorOptions {
  /** How long a tool may take that has no limit of its own. */
  timeoutMs?: number | undefined
  /** Calls that take longer are logged as slow. */
  slowMs?: number | undefined
  /** Longer texts for a model are cut in the middle. */
  maxTextBytes?: number | undefined
  logger?: Logger | undefined
  clock?: Clock | undefined
}

/** A call of one's own program: it does not compile with arguments that the tool does not take. */
export interface TypedCall<Args extends object, Result> {
  id?: string | undefined
  tool: Tool<Args, Result>
  args: NoInfer<Args>
}

/** What `result` is for a tool that returns `Result`. */
export type ValueOf<Result> = Result extends ToolOutput<infer Value> ? Value : Result

export interface RunOptions extends Caller {
  signal?: AbortSignal | undefined
  timeoutMs?: number | undefined
  /** Put right what is certain in the arguments: for calls that a model or a person typed. */
  repair?: boolean | undefined
  onProgress?: ((progress: Progress) => void) | undefined
  /** Where the call comes from: `cli`, `http`, `mcp`, `chat`, `voice`, `worker` … */
  origin?: string | undefined
  /** Who asks, if that is known. Callers share what is scarce, such as child processes, fairly. */
  caller?: string | undefined
  /** Which conversation it belongs to, if it does: long results that are kept for one are not for another. */
  conversation?: string | undefined
  /** What goes along to the tool: `_meta` of an MCP call, such as `traceparent`. */
  meta?: Readonly<Record<string, unknown>> | undefined
  /** The only tools that may be found: what a model was offered. All of them if left out. */
  among?: readonly Tool[] | undefined
  /** Tools for this call that the manager does not have. */
  also?: readonly Tool[] | undefined
}

/** What `execute` takes of it. */
export type ExecuteOptions = Pick<RunOptions, 'signal' | 'timeoutMs'>

/** Who makes a call, and how they are reached: what everything between a caller and the executor hands on. */
export type CallerOptions = Pick<RunOptions, 'origin' | 'caller' | 'conversation' | 'meta' | keyof Caller>

export function callerOptions(options: CallerOptions): CallerOptions {
  const { origin, caller, conversation, peer, ask, sample, onLog, meta } = options
  return { origin, caller, conversation, peer, ask, sample, onLog, meta }
}
