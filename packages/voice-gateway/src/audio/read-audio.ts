import { isWav, knownKind } from './file-kind.ts'
import { readPcm } from './read-pcm.ts'
import { notWav, readWav } from './read-wav.ts'
import { AudioError } from './samples.ts'

/**
 * The sound of an utterance as 16 kHz mono samples. What was sent as raw PCM and is a WAV file is read as one;
 * what is plainly another kind of file is refused, because as sound it would be noise. Throws an AudioError.
 */
export function readAudio(utterance: { wav: Uint8Array } | { pcm: Uint8Array }): Float32Array {
  if ('wav' in utterance) return readWav(utterance.wav)
  const { pcm } = utterance
  if (isWav(pcm)) return readWav(pcm)
  const kind = knownKind(pcm)
  if (kind) throw new AudioError(notWav(kind))
  return readPcm(pcm)
}
