import type { Logger } from '../logging/logger.ts'
import type { Clock } from '../runtime/clock.ts'

export interface HistoryOptions {
  file: string
  /** Older calls are removed. */
  days?: number | undefined
  /** If the file would become larger, the oldest calls are removed. */
  maxMb?: number | undefined
  /** The file is opened only then; calls that end before it wait. */
  after?: Promise<unknown> | undefined
  /** Told what a person should know: why calls are not kept, that a damaged file was set aside. */
  onNotice?: ((text: string) => void) | undefined
  logger?: Logger | undefined
  clock?: Clock | undefined
}

export interface HistoryStatus {
  /** `failed`: calls are not kept now, for the reason in `problem`; it is tried again. */
  state: 'opening' | 'open' | 'failed' | 'closed'
  file: string
  problem: string | undefined
  written: number
  /** Calls that are not in the file, because it could not be written, or not fast enough. */
  dropped: number
}
