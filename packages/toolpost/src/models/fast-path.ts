import type { Logger } from '../logging/logger.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import type { AiClient, Answer } from './ai-client.ts'
import { harmless } from './listener.ts'
import type { OfflineClient } from './offline-client.ts'

/** Names are short; longer runs of free text are left to the model. */
const MAX_FREE_WORDS = 4

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
      await offline.load()
      const { kind, free, isGuess } = offline.understand(prompt, options)
      const isPlain = (kind === 'act' || kind === 'tell') && free <= MAX_FREE_WORDS && !isGuess
      if (!isPlain) return client.ask(prompt, options)
      const quick = await offline.ask(prompt, { ...options, onToken: undefined })
      const [result] = quick.results
      if (quick.iterations === 0 || (result && !result.success && NOTHING_DONE.has(result.code)))
        return client.ask(prompt, options)
      harmless(options.onToken, quietLogger(logger))(quick.text)
      return quick
    },
  }
}
