import type { ConversationMessage } from './ai-client.ts'
import { Conversation } from './conversation.ts'
import { ModelError } from './model-error.ts'
import { isCutOff } from './read-reply.ts'
import type { WritingRequest, WritingStyle, WrittenMessage } from './settings.ts'
import { TimeIsUp, TimeLimit } from './time-limit.ts'
import { askModel, type Setup, withinLimit } from './turn.ts'

/** What is given of a style, in the names of ChatAnthropic and ChatOpenAI. */
export function styleOptions(style: Partial<WritingStyle> = {}) {
  const { maxTokens, temperature, stopSequences } = style
  return {
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(stopSequences !== undefined && stopSequences.length > 0 && { stopSequences: [...stopSequences] }),
  }
}

/** One message from one model, within its time limit. Unlike an answer, it may end at the token limit. */
export async function writeMessage(request: WritingRequest, setup: Setup): Promise<WrittenMessage> {
  const { provider, clock } = setup
  const { messages, timeLimitMs, signal } = request
  const limit = new TimeLimit({ limitMs: timeLimitMs, signal, clock })
  try {
    const conversation = await Conversation.from(messages as ConversationMessage[], provider.packages)
    const model = await withinLimit(limit, provider, () => provider.open([], request))
    const hasImages = messages.some(
      ({ content }) => typeof content !== 'string' && content.some(({ type }) => type === 'image_url'),
    )
    if (hasImages && !model.takesImages)
      throw new ModelError('rejected', `${provider.who} does not accept images here`)
    const options = { offersTools: false, mayBeCut: true, onToken: () => {}, onStatus: () => {} }
    const { text, stopReason: why } = await askModel(model, conversation.messages, options, {
      ...setup,
      limit,
    })
    const ended = why === 'stop_sequence' ? 'stopSequence' : 'endTurn'
    const stopReason = isCutOff(why) ? 'maxTokens' : ended
    return { text, model: provider.identity.model ?? 'unknown', stopReason }
  } catch (error) {
    if (error instanceof TimeIsUp)
      throw new ModelError('stopped', `No message within ${timeLimitMs / 1_000} s`)
    throw error
  } finally {
    limit.close()
  }
}
