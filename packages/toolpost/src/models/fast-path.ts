import type { Logger } from '../logging/logger.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import { unlessAborted } from '../util/clock.ts'
import type { AiClient } from './ai-client.ts'
import type { ChosenClient } from './choose-client.ts'
import type { OfflineClient, Understood } from './offline-client.ts'
import { harmless, stopped } from './tool-loop.ts'

/** Names are short; longer runs of free text are left to the model, or may be meant for a tool that is not there yet. */
const MAX_FREE_WORDS = { fastPath: 4, early: 3 }
/** Failures before the tool ran: a model may find better arguments. */
const NOTHING_DONE = ['unknown_tool', 'invalid_arguments', 'invalid_schema']

function isPlain({ kind, free, isGuess }: Understood, maxFree: number): boolean {
  return (kind === 'act' || kind === 'tell') && free <= maxFree && !isGuess
}

/** Sends simple requests straight to their tool, since a light should not wait for a language model; the rest to `client`. */
export function withFastPath(offline: OfflineClient, client: AiClient, logger?: Logger): AiClient {
  return {
    async ask(prompt, options = {}) {
      await offline.load()
      if (!options.meaning && !isPlain(offline.understand(prompt, options), MAX_FREE_WORDS.fastPath))
        return client.ask(prompt, options)
      const quick = await offline.ask(prompt, { ...options, onToken: undefined })
      const [result] = quick.results
      const isUndone = result?.success === false && NOTHING_DONE.includes(result.code)
      if (quick.iterations === 0 || isUndone) return client.ask(prompt, options)
      harmless(options.onToken, quietLogger(logger))(quick.text)
      return quick
    },
  }
}

/**
 * A client whose questions wait for the tools they may need; "what time is it" does not wait. `ready` resolves when
 * every pending tool has arrived or failed.
 */
export function whenToolsReady(
  { client, sentences }: Pick<ChosenClient, 'client' | 'sentences'>,
  ready: () => Promise<unknown>,
): AiClient {
  return {
    async ask(prompt, options = {}) {
      await sentences?.load()
      const understood = sentences?.understand(prompt, options)
      const { signal = new AbortController().signal } = options
      if (!understood || !isPlain(understood, MAX_FREE_WORDS.early))
        await unlessAborted(ready(), signal).catch(error => {
          throw signal.aborted ? stopped() : error
        })
      return client.ask(prompt, options)
    },
  }
}
