import { decodeSamples } from './decode-samples.ts'
import { isWav, likelyKind } from './file-kind.ts'
import { resample } from './resample.ts'
import { AudioError } from './samples.ts'
import { findChunks } from './wav-chunks.ts'
import { readFormat } from './wav-format.ts'

/**
 * The sound of a WAV file, whatever its rate, channels and sample format, as 16 kHz mono samples. Of a file that
 * was cut off it gives what there is. Throws an AudioError, and nothing else.
 */
export function readWav(bytes: Uint8Array): Float32Array {
  if (!isWav(bytes)) throw new AudioError(notWav(likelyKind(bytes)))
  const { format: formatChunk, data } = findChunks(bytes)
  if (!formatChunk) throw new AudioError('The WAV file is broken: it does not say how its samples are stored')
  const format = readFormat(formatChunk)
  const samples = data ? decodeSamples(data, format) : new Float32Array(0)
  if (samples.length === 0) throw new AudioError('The WAV file contains no sound')
  return resample(samples, format.rate)
}

/** `kind` as of `likelyKind`. */
export function notWav(kind: string): string {
  return `This is not a WAV file but ${kind}: send WAV, or raw PCM (16 kHz, mono, 16 bits)`
}
