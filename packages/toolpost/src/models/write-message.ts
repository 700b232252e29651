import type { Logger } from '../logging/logger.ts'
import type { Clock } from '../runtime/clock.ts'
import { Conversation } from './conversation.ts'
import { explainFailure } from './explain-failure.ts'
import { ModelError, type ModelErrorCode } from './model-error.ts'
import type { Provider } from './provider.ts'
import { isCutOff, type Reply, readReply } from './read-reply.ts'
import { retried } from './retry.ts'
import { TimeIsUp, TimeLimit } from './time-limit.ts'
import type { WritingRequest, WrittenMessage } from './writing.ts'

interface WritingSetup {
  provider: Provider
  logger: Logger
  clock?: Clock | undefined
}

/** One message from one model, within its time limit. Unlike an answer, it may end at the token limit. */
export async function writeMessage(request: WritingRequest, setup: WritingSetup): Promise<WrittenMessage> {
  const { provider, logger, clock } = setup
  const { messages, timeLimitMs, signal } = request
  checkImages(request, provider)
  const limit = new TimeLimit({ limitMs: timeLimitMs, signal, clock })
  const mayPass = (code: ModelErrorCode) => provider.passing.includes(code)
  try {
    const conversation = await Conversation.from(
      messages as Parameters<typeof Conversation.from>[0],
      setup.provider.packages,
    )
    const model = await provider.open([], request)
    const turn = { signal: limit.signal, offersTools: false, onStatus: () => {} }
    const read = async () =>
      readReply(await model.stream([...conversation.messages], turn), () => {}, { mayBeCut: true })
    const hold = () => limit.hold(read()).catch(error => Promise.reject(explained(error, limit, provider)))
    return written(await retried(hold, { limit, mayPass, logger }), provider)
  } catch (error) {
    if (error instanceof TimeIsUp)
      throw new ModelError('stopped', `No message within ${timeLimitMs / 1_000} s`)
    throw explained(error, limit, provider)
  } finally {
    limit.close()
  }
}

/** A timeout or an abort can surface as any kind of error. */
function explained(error: unknown, { signal }: TimeLimit, provider: Provider): unknown {
  if (signal.aborted) return signal.reason
  return error instanceof ModelError ? error : explainFailure(error, provider)
}

function checkImages({ messages }: WritingRequest, { who, takesImages }: Provider): void {
  const hasImages = messages.some(
    ({ content }) => typeof content !== 'string' && content.some(({ type }) => type === 'image_url'),
  )
  if (hasImages && !takesImages) throw new ModelError('rejected', `${who} does not accept images here`)
}

function written({ text, stopReason }: Reply, { identity }: Provider): WrittenMessage {
  const ended = stopReason === 'stop_sequence' ? 'stopSequence' : 'endTurn'
  return { text, model: identity.model ?? 'unknown', stopReason: isCutOff(stopReason) ? 'maxTokens' : ended }
}
