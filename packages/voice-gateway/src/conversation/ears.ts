import type { Turn } from './turn.ts'
import { type Hear, type Understood, understand } from './understand.ts'

/** What was said, why it was dropped, or what went wrong. */
export type HeardTurn = Understood | { failure: unknown }

/** Transcribes one utterance after another, even while an earlier one is still being answered. Never rejects. */
export function ears(
  hear: (samples: Float32Array, conversation: string) => ReturnType<Hear>,
): (turn: Turn) => Promise<HeardTurn> {
  let previous: Promise<unknown> = Promise.resolve()
  return turn => {
    const work = () => understand(turn.utterance, samples => hear(samples, turn.conversation))
    const heard = previous
      .then(() => (turn.source === 'audio' ? turn.timed('transcribeMs', work) : work()))
      .catch((failure: unknown) => ({ failure }))
    previous = heard
    return heard
  }
}
