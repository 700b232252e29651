import { sampleSource } from './decode-samples.ts'
import { tooLong } from './recording-length.ts'
import { resample } from './resample.ts'
import { AudioError } from './samples.ts'
import type { WavFormat } from './wav-format.ts'

/**
 * Stored sound as 16 kHz mono samples. Its length follows from its size: one that is too long is refused with an
 * AudioError before any of it is read. Yields regularly while reading a long recording.
 */
export async function readSound(data: Uint8Array, format: WavFormat): Promise<Float32Array> {
  const source = sampleSource(data, format)
  const refusal = tooLong(source.length / format.rate)
  if (refusal) throw new AudioError(refusal)
  return resample(source, format)
}
