import type { AiClient } from './ai-client.ts'
import type { ChosenClient } from './choose-client.ts'
import { ModelError } from './model-error.ts'

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
      if (score < PLAINLY_ANSWERED) await unlessAborted(ready(), options.signal)
      return client.ask(prompt, options)
    },
  }
}

async function unlessAborted(work: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) return void (await work)
  let stop = () => {}
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(new ModelError('stopped', 'The question was stopped'))
  })
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop, { once: true })
  try {
    await Promise.race([work, stopped])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
