import { reasonToDrop } from '../audio/judge-audio.ts'
import { readAudio } from '../audio/read-audio.ts'
import { AudioError } from '../audio/samples.ts'
import type { HeardSpeech } from '../listening/listening.ts'
import type { Utterance } from '../utterance.ts'
import { MAX_TEXT_LENGTH } from './limits.ts'

/** What was said, or why it was dropped. */
export type Understood = HeardSpeech | { dropped: string }

/** Turns speech into words. Rejects with a TranscriberError. */
export type Hear = (samples: Float32Array) => Promise<HeardSpeech>

/** The words of an utterance. Audio without speech never reaches a model. Rejects with a TranscriberError. */
export async function understand(utterance: Utterance, hear: Hear): Promise<Understood> {
  if ('text' in utterance) return checkedText(utterance.text)
  try {
    const samples = await readAudio(utterance)
    const reason = await reasonToDrop(samples)
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
