import { AudioError, reasonToDrop } from '../audio/samples.ts'
import { readAudio } from '../audio/wav.ts'
import type { HeardSpeech } from '../listening/listening.ts'
import type { Utterance } from '../utterance.ts'
import { MAX_TEXT_LENGTH } from './limits.ts'
import type { Turn } from './turn.ts'

/** What was said, or why it was dropped. */
export type Understood = HeardSpeech | { dropped: string }

/** What was said, why it was dropped, or what went wrong. */
export type HeardTurn = Understood | { failure: unknown }

/** The words of an utterance. Audio without speech never reaches a model. Rejects with a TranscriberError. */
export async function understand(
  utterance: Utterance,
  hear: (samples: Float32Array) => Promise<HeardSpeech>,
): Promise<Understood> {
  if ('text' in utterance) return checkedText(utterance.text)
  try {
    const samples = await readAudio(utterance)
    const reason = reasonToDrop(samples)
    if (reason !== undefined) return { dropped: reason }
    const heard = await hear(samples)
    return heard.text === '' ? { dropped: 'the recording contains no speech' } : heard
  } catch (error) {
    if (error instanceof AudioError) return { dropped: error.message }
    throw error
  }
}

function checkedText(text: string): Understood {
  const words = text.trim()
  if (words === '') return { dropped: 'the utterance is empty' }
  if (words.length > MAX_TEXT_LENGTH)
    return { dropped: `the text has more than ${MAX_TEXT_LENGTH} characters` }
  return { text: words }
}

/** Transcribes one utterance after another, even while an earlier one is still being answered. Never rejects. */
export function ears(
  hear: (samples: Float32Array, conversation: string) => Promise<HeardSpeech>,
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
