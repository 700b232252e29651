import type { Logger } from '../logging/logger.ts'
import { MAX_ATTEMPTS, RETRY_BASE_DELAY_MS, RETRY_MAX_DELAY_MS } from './limits.ts'
import { ModelError, type ModelErrorCode } from './model-error.ts'
import type { TimeLimit } from './time-limit.ts'

interface RetryOptions {
  limit: TimeLimit
  /** Whether a failure is worth a retry. */
  mayPass: (code: ModelErrorCode) => boolean
  logger: Logger
}

/**
 * Retries a request while its failure may pass and time remains. Waits as long as the provider asks, else 1 s, 2 s,
 * 4 s … Rejects with the last failure.
 */
export async function retried<Value>(
  request: () => Promise<Value>,
  { limit, mayPass, logger }: RetryOptions,
): Promise<Value> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await request()
    } catch (error) {
      if (!(error instanceof ModelError) || !mayPass(error.code) || attempt >= MAX_ATTEMPTS) throw error
      const delayMs = error.retryAfterMs ?? backoffMs(attempt)
      if (delayMs >= limit.remainingMs) throw error
      logger.warn({ attempt, delay_ms: delayMs, code: error.code }, 'Retrying the model')
      await limit.wait(delayMs)
    }
  }
}

function backoffMs(attempt: number): number {
  return Math.min(RETRY_BASE_DELAY_MS * 2 ** (attempt - 1), RETRY_MAX_DELAY_MS)
}
