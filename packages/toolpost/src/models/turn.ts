import type { BaseMessage } from '@langchain/core/messages'
import type { Logger } from '../logging/logger.ts'
import { type Clock, systemClock, type Timer, unlessAborted } from '../util/clock.ts'
import { describeThrown, quietly } from '../util/quietly.ts'
import type { ConversationMessage } from './ai-client.ts'
import { Conversation } from './conversation.ts'
import { MAX_ATTEMPTS, RETRY_BASE_DELAY_MS, RETRY_MAX_DELAY_MS } from './limits.ts'
import type { OpenModel, Provider } from './model-client.ts'
import { explainFailure, ModelError } from './model-error.ts'
import { isCutOff, type ReadOptions, type Reply, readReply } from './read-reply.ts'
import type { WritingRequest, WrittenMessage } from './settings.ts'

export interface Setup {
  provider: Provider
  logger: Logger
  clock?: Clock | undefined
  onReply?: ((messages: readonly BaseMessage[], reply: Reply) => void) | undefined
}

/** Thrown when time is up; the loop turns it into an answer. */
export class TimeIsUp extends Error {
  override name = 'TimeIsUp'
}

/** Ends a question at its time limit or the caller's abort, whichever comes first. */
export class TimeLimit {
  /** Aborts with a TimeIsUp or a ModelError as the reason. */
  readonly signal: AbortSignal
  readonly close: () => void
  readonly #clock: Clock
  readonly #endsAt: number

  constructor(limitMs: number, signal: AbortSignal | undefined, clock: Clock = systemClock) {
    const controller = new AbortController()
    this.signal = controller.signal
    this.#clock = clock
    this.#endsAt = clock.now() + limitMs
    const end = () => controller.abort(new TimeIsUp(`No answer after ${limitMs} ms`))
    const timer = clock.setTimer(end, limitMs)
    const stop = () => controller.abort(stopped())
    signal?.addEventListener('abort', stop, { once: true })
    if (signal?.aborted) stop()
    this.close = () => {
      timer.cancel()
      signal?.removeEventListener('abort', stop)
    }
  }

  /** Waits, and resolves to whether there was time for that. Rejects when the limit is reached. */
  async wait(delayMs: number): Promise<boolean> {
    if (delayMs >= this.#endsAt - this.#clock.now()) return false
    let timer: Timer | undefined
    const over = new Promise<boolean>(resolve => {
      timer = this.#clock.setTimer(() => resolve(true), delayMs)
    })
    return unlessAborted(over, this.signal).finally(() => timer?.cancel())
  }

  /** The provider's work, no later than the limit. A timeout or an abort can surface as any kind of error. */
  async hold<Value>(provider: Provider, work: () => Promise<Value>): Promise<Value> {
    try {
      return await unlessAborted(work(), this.signal)
    } catch (error) {
      if (this.signal.aborted) throw this.signal.reason
      throw error instanceof ModelError ? error : explainFailure(error, provider)
    }
  }
}

export function stopped(): ModelError {
  return new ModelError('stopped', 'The question was stopped')
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
  let hasSpoken = false
  const onToken = (token: string) => {
    hasSpoken = true
    options.onToken(token)
  }
  const ask = async () => {
    const stream = await model.stream([...messages], { ...options, signal: limit.signal })
    const reply = await readReply(stream, { endsWithReason: provider.endsWithReason, ...options, onToken })
    return { ...reply, calls: reply.calls.map(call => model.original(call)) }
  }
  for (let attempt = 1; ; attempt++) {
    try {
      const reply = await limit.hold(provider, ask)
      quietly(
        () => onReply?.(messages, reply),
        error => logger.warn({ error: describeThrown(error) }, 'A reply could not be recorded'),
      )
      return reply
    } catch (error) {
      if (!(error instanceof ModelError) || !provider.passing.includes(error.code)) throw error
      const usual = Math.min(RETRY_BASE_DELAY_MS * 2 ** (attempt - 1), RETRY_MAX_DELAY_MS)
      const delayMs = error.retryAfterMs ?? usual
      if (hasSpoken || attempt >= MAX_ATTEMPTS || !(await limit.wait(delayMs))) throw error
      logger.warn({ attempt, delay_ms: delayMs, code: error.code }, 'Retrying the model')
    }
  }
}

/** One message from one model, within its time limit. Unlike an answer, it may end at the token limit. */
export async function writeMessage(request: WritingRequest, setup: Setup): Promise<WrittenMessage> {
  const { provider, clock } = setup
  const { messages, timeLimitMs, signal } = request
  const limit = new TimeLimit(timeLimitMs, signal, clock)
  try {
    const conversation = await Conversation.from(messages as ConversationMessage[], provider.packages)
    const model = await limit.hold(provider, () => provider.open([], request))
    const blocks = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content))
    if (blocks.some(({ type }) => type === 'image_url') && !model.takesImages)
      throw new ModelError('rejected', `${provider.who} does not accept images here`)
    const options = { offersTools: false, mayBeCut: true, onToken: () => {}, onStatus: () => {} }
    const reply = await askModel(model, conversation.messages, options, { ...setup, limit })
    const ended = reply.stopReason === 'stop_sequence' ? 'stopSequence' : 'endTurn'
    const stopReason = isCutOff(reply.stopReason) ? 'maxTokens' : ended
    return { text: reply.text, model: provider.identity.model ?? 'unknown', stopReason }
  } catch (error) {
    const late = new ModelError('stopped', `No message within ${timeLimitMs / 1_000} s`)
    throw error instanceof TimeIsUp ? late : error
  } finally {
    limit.close()
  }
}
