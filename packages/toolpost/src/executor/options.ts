import type { Logger } from '../logging/logger.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Progress, Tool } from '../tools/tool.ts'

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

export interface RunOptions {
  signal?: AbortSignal | undefined
  timeoutMs?: number | undefined
  /** Put right what is certain in the arguments: for calls that a model or a person typed. */
  repair?: boolean | undefined
  onProgress?: ((progress: Progress) => void) | undefined
  /** Who asks, for those who watch: `http`, `mcp`, `chat` … */
  origin?: string | undefined
  /** The only tools that may be found: what a model was offered. */
  among?: readonly Tool[] | undefined
}

/** A limit in milliseconds; what is no such number counts as none given. */
export function limitOf(ms: number | undefined): number | undefined {
  return typeof ms === 'number' && ms >= 0 ? ms : undefined
}
