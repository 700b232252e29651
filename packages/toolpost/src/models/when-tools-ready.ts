import { unlessAborted } from '../runtime/unless-aborted.ts'
import type { AiClient } from './ai-client.ts'
import type { ChosenClient } from './choose-client.ts'
import { stopped } from './time-limit.ts'

/** A sentence that matches so well needs no server to be asked whether it has a better one. */
const PLAINLY_ANSWERED = 0.75

/**
 * A client whose questions wait for the tools that they may need: what the time is, is answered without. `ready`
 * resolves when every tool that is still to come is there, or has failed.
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
