import { reasonToDrop } from '../audio/judge-audio.ts'
import { readAudio } from '../audio/read-audio.ts'
import { AudioError } from '../audio/samples.ts'
import type { Transcriber } from '../speech-to-text/transcriber.ts'
import type { Utterance } from '../utterance.ts'
import { MAX_TEXT_LENGTH } from './limits.ts'

/** What was said, or why there is nothing to ask. */
export type Understood = { text: string } | { dropped: string }

/** The words of an utterance. Audio without words in it never reaches a model. Rejects with a TranscriberError. */
export async function understand(
  utterance: Utterance,
  transcriber: Transcriber,
  signal?: AbortSignal,
): Promise<Understood> {
  if ('text' in utterance) return checkedText(utterance.text)
  try {
    const samples = await readAudio(utterance)
    const reason = await reasonToDrop(samples)
    if (reason !== undefined) return { dropped: reason }
    const text = (await transcriber.transcribe(samples, { signal })).trim()
    return text === '' ? { dropped: 'nobody speaks in the recording' } : { text }
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
