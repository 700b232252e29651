import type { Logger } from '../logging/logger.ts'
import type { Clock } from '../runtime/clock.ts'

export interface HistoryOptions {
  file: string
  /** Older calls are removed. */
  days?: number | undefined
  /** If the file would become larger, the oldest calls are removed. */
  maxMb?: number | undefined
  /** The file is opened only after this settles; calls that end earlier wait. */
  after?: Promise<unknown> | undefined
  /** Receives what a person should know: why calls are not kept, that a damaged file was set aside. */
  onNotice?: ((text: string) => void) | undefined
  logger?: Logger | undefined
  clock?: Clock | undefined
}

export interface HistoryStatus {
  /** `failed`: calls are currently not kept, for the reason in `problem`; retried later. */
  state: 'opening' | 'open' | 'failed' | 'closed'
  file: string
  problem: string | undefined
  written: number
  /** Calls missing from the file because it could not be written, or not fast enough. */
  dropped: number
}
