import type { BaseMessage } from '@langchain/core/messages'
import type { Logger } from '../logging/logger.ts'
import type { Clock } from '../util/clock.ts'
import { describeThrown, quietly } from '../util/quietly.ts'
import type { OnReply } from './cassette.ts'
import { MAX_ATTEMPTS, RETRY_BASE_DELAY_MS, RETRY_MAX_DELAY_MS } from './limits.ts'
import type { OpenModel, Provider } from './model-client.ts'
import { explainFailure, ModelError } from './model-error.ts'
import { type ReadOptions, type Reply, readReply } from './read-reply.ts'
import type { TimeLimit } from './time-limit.ts'

/** What every question to a model needs. */
export interface Setup {
  provider: Provider
  logger: Logger
  clock?: Clock | undefined
  /** Called with every reply. */
  onReply?: OnReply | undefined
}

type TurnOptions = ReadOptions & Omit<Parameters<OpenModel['stream']>[1], 'signal'>

/**
 * One request to the model and its whole reply. Retried while the failure may pass, no token has been passed on, and time
 * remains: waits as long as the provider asks, else 1 s, 2 s, 4 s … Rejects with the last failure.
 */
export async function askModel(
  model: OpenModel,
  messages: readonly BaseMessage[],
  options: TurnOptions,
  { provider, logger, limit, onReply }: Setup & { limit: TimeLimit },
): Promise<Reply> {
  const { signal } = limit
  const { endsWithReason } = provider
  let hasSpoken = false
  const onToken = (token: string) => {
    hasSpoken = true
    options.onToken(token)
  }
  for (let attempt = 1; ; attempt++) {
    try {
      return await withinLimit(limit, provider, async () => {
        const stream = await model.stream([...messages], { ...options, signal })
        const reply = await readReply(stream, { endsWithReason, ...options, onToken })
        const original = { ...reply, calls: reply.calls.map(call => model.original(call)) }
        quietly(
          () => onReply?.(messages, original),
          error => logger.warn({ error: describeThrown(error) }, 'A reply could not be recorded'),
        )
        return original
      })
    } catch (error) {
      if (!(error instanceof ModelError) || !provider.passing.includes(error.code)) throw error
      const delayMs =
        error.retryAfterMs ?? Math.min(RETRY_BASE_DELAY_MS * 2 ** (attempt - 1), RETRY_MAX_DELAY_MS)
      if (hasSpoken || attempt >= MAX_ATTEMPTS || delayMs >= limit.remainingMs) throw error
      logger.warn({ attempt, delay_ms: delayMs, code: error.code }, 'Retrying the model')
      await limit.wait(delayMs)
    }
  }
}

/** The provider's work within the time limit. A timeout or an abort can surface as any kind of error. */
export async function withinLimit<Value>(
  limit: TimeLimit,
  provider: Provider,
  work: () => Promise<Value>,
): Promise<Value> {
  try {
    return await limit.hold(work())
  } catch (error) {
    if (limit.signal.aborted) throw limit.signal.reason
    throw error instanceof ModelError ? error : explainFailure(error, provider)
  }
}
