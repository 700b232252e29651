import { SAMPLE_RATE } from './samples.ts'
import { wavHeader } from './wav-header.ts'
import { writePcm } from './write-pcm.ts'

/** 16 kHz mono samples as a 16-bit WAV file. */
export function writeWav(samples: Float32Array): Uint8Array<ArrayBuffer> {
  const pcm = writePcm(samples)
  const header = wavHeader(plainFormat(), pcm.length)
  const file = new Uint8Array(header.length + pcm.length)
  file.set(header)
  file.set(pcm, header.length)
  return file
}

function plainFormat(): Uint8Array {
  const view = new DataView(new ArrayBuffer(16))
  const [pcm, channels, sampleBytes] = [1, 1, 2]
  view.setUint16(0, pcm, true)
  view.setUint16(2, channels, true)
  view.setUint32(4, SAMPLE_RATE, true)
  view.setUint32(8, SAMPLE_RATE * sampleBytes, true)
  view.setUint16(12, sampleBytes, true)
  view.setUint16(14, sampleBytes * 8, true)
  return new Uint8Array(view.buffer)
}
