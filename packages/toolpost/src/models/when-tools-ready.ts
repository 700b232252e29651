import { unlessAborted } from '../runtime/unless-aborted.ts'
import type { AiClient } from './ai-client.ts'
import type { ChosenClient } from './choose-client.ts'
import { stopped } from './time-limit.ts'

/** A match this good need not wait for a server that might have a better one. */
const PLAINLY_ANSWERED = 0.75

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
      const score = sentences?.match(prompt, options)?.score ?? 0
      const { signal } = options
      if (score < PLAINLY_ANSWERED)
        await (signal ? unlessAborted(ready(), signal) : ready()).catch(error => {
          throw signal?.aborted ? stopped() : error
        })
      return client.ask(prompt, options)
    },
  }
}
