import { type Logger, silentLogger } from '../logging/logger.ts'
import type { AiClient, Answer, ConversationMessage } from './ai-client.ts'
import { harmless } from './listener.ts'
import { questionIn } from './offline/conversation-so-far.ts'
import type { OfflineClient, ToolMatch } from './offline/offline-client.ts'

/** Names are short; a longer run of unknown words is left to the model. */
const MAX_FREE_WORDS = 4
const MIN_SCORE = 0.5
/** Words that make two requests, or a condition, of one. */
const JOINTS = /\b(and|then|when|if|after|before|unless|until|while|because|but|or)\b/i

/** Failures after which nothing has been done: a model may find better arguments. */
const NOTHING_DONE = new Set(['unknown_tool', 'invalid_arguments', 'invalid_schema'])

/** Simple requests go straight to their tool, because a light must not wait for a language model; all others to `client`. */
export function withFastPath(
  offline: OfflineClient,
  client: AiClient,
  logger: Logger = silentLogger,
): AiClient {
  return {
    async ask(prompt, options = {}): Promise<Answer> {
      const match = offline.match(prompt, options)
      if (!match || !isPlain(match, prompt)) return client.ask(prompt, options)
      const quick = await offline.ask(prompt, { ...options, onToken: undefined })
      const [result] = quick.results
      if (result && !result.success && NOTHING_DONE.has(result.code)) return client.ask(prompt, options)
      harmless(options.onToken, logger)(quick.text)
      return quick
    },
  }
}

/** Whether there is no doubt about what is meant. */
function isPlain(match: ToolMatch, prompt: string | readonly ConversationMessage[]): boolean {
  if (match.score < MIN_SCORE || match.longestFree > MAX_FREE_WORDS) return false
  // If every word is known, "and" joins what is known too.
  return match.longestFree === 0 || !JOINTS.test(questionIn(prompt))
}
