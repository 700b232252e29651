import { SAMPLE_RATE } from './samples.ts'
import { writePcm } from './write-pcm.ts'

const HEADER_BYTES = 44

/** 16 kHz mono samples as a WAV file of 16 bits. */
export function writeWav(samples: Float32Array): Uint8Array<ArrayBuffer> {
  const pcm = writePcm(samples)
  const file = new Uint8Array(HEADER_BYTES + pcm.length)
  const view = new DataView(file.buffer)
  const text = (offset: number, value: string) => new TextEncoder().encodeInto(value, file.subarray(offset))
  text(0, 'RIFF')
  view.setUint32(4, file.length - 8, true)
  text(8, 'WAVEfmt ')
  view.setUint32(16, 16, true)
  view.setUint16(20, 1, true)
  view.setUint16(22, 1, true)
  view.setUint32(24, SAMPLE_RATE, true)
  view.setUint32(28, SAMPLE_RATE * 2, true)
  view.setUint16(32, 2, true)
  view.setUint16(34, 16, true)
  text(36, 'data')
  view.setUint32(40, pcm.length, true)
  file.set(pcm, HEADER_BYTES)
  return file
}
