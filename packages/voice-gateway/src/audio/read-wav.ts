import { isWav, likelyKind } from './file-kind.ts'
import { readSound } from './read-sound.ts'
import { AudioError } from './samples.ts'
import { findChunks } from './wav-chunks.ts'
import { readFormat } from './wav-format.ts'

/**
 * The sound of a WAV file, whatever its rate, channels and sample format, as 16 kHz mono samples. A truncated
 * file yields what it contains. Rejects only with an AudioError.
 */
export async function readWav(bytes: Uint8Array): Promise<Float32Array> {
  if (!isWav(bytes)) throw new AudioError(notWav(likelyKind(bytes)))
  const { format, data } = findChunks(bytes)
  if (!format) throw new AudioError('The WAV file is corrupt: its fmt chunk is missing')
  const samples = await readSound(data ?? new Uint8Array(0), readFormat(format))
  if (samples.length === 0) throw new AudioError('The WAV file contains no sound')
  return samples
}

/** `kind` as returned by `likelyKind`. */
export function notWav(kind: string): string {
  if (kind === 'empty') return 'The recording is empty'
  return `This is not a WAV file but ${kind}: convert it to WAV, for example with sox or ffmpeg, or to raw PCM (16 kHz, mono, 16 bits)`
}
