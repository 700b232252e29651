import { unlessAborted } from '../util/unless-aborted.ts'
import type { AiClient } from './ai-client.ts'
import type { ChosenClient } from './choose-client.ts'
import { stopped } from './time-limit.ts'

/** What has more free text may be meant for a tool that is not there yet. */
const MAX_FREE_WORDS = 3

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
      const { kind, free = 0, isGuess } = sentences?.understand(prompt, options) ?? {}
      const isAnswered = (kind === 'act' || kind === 'tell') && free <= MAX_FREE_WORDS && !isGuess
      const { signal } = options
      if (!isAnswered)
        await (signal ? unlessAborted(ready(), signal) : ready()).catch(error => {
          throw signal?.aborted ? stopped() : error
        })
      return client.ask(prompt, options)
    },
  }
}
