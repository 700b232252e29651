import type { Logger } from '../logging/logger.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import type { AiClient, Answer, ConversationMessage } from './ai-client.ts'
import { harmless } from './listener.ts'
import { questionIn } from './offline/conversation-so-far.ts'
import type { OfflineClient, ToolMatch } from './offline/offline-client.ts'

/** Names are short; longer runs of unknown words are left to the model. */
const MAX_FREE_WORDS = 4
const MIN_SCORE = 0.5
/** Words that turn one request into two, or into a condition. */
const JOINTS = /\b(and|then|when|if|after|before|unless|until|while|because|but|or)\b/i

/** Failures before the tool ran: a model may find better arguments. */
const NOTHING_DONE = new Set(['unknown_tool', 'invalid_arguments', 'invalid_schema'])

/** Sends simple requests straight to their tool, since a light should not wait for a language model; the rest to `client`. */
export function withFastPath(
  offline: OfflineClient,
  client: AiClient,
  logger?: Logger | undefined,
): AiClient {
  return {
    async ask(prompt, options = {}): Promise<Answer> {
      const match = offline.match(prompt, options)
      if (!match || !isPlain(match, prompt)) return client.ask(prompt, options)
      const quick = await offline.ask(prompt, { ...options, onToken: undefined })
      const [result] = quick.results
      if (result && !result.success && NOTHING_DONE.has(result.code)) return client.ask(prompt, options)
      harmless(options.onToken, quietLogger(logger))(quick.text)
      return quick
    },
  }
}

/** Whether the meaning is beyond doubt. */
function isPlain(match: ToolMatch, prompt: string | readonly ConversationMessage[]): boolean {
  if (match.score < MIN_SCORE || match.longestFree > MAX_FREE_WORDS) return false
  // If every word is known, so is what an "and" joins.
  return match.longestFree === 0 || !JOINTS.test(questionIn(prompt))
}
