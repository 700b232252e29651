import fc from 'fast-check'
import { readAudio } from '../../packages/voice-gateway/dist/audio/read-audio.js'

/** A WAV header that may lie, and some bytes. */
const wav = fc
  .record({
    format: fc.constantFrom(1, 3, 6, 7, 0xfffe, 85),
    channels: fc.nat(0xffff),
    rate: fc.nat(0xffffffff),
    bits: fc.constantFrom(0, 1, 8, 12, 16, 24, 32, 64, 65535),
    riffSize: fc.nat(0xffffffff),
    dataSize: fc.nat(0xffffffff),
    data: fc.uint8Array({ maxLength: 2_000 }),
    cutAt: fc.option(fc.nat(60), { nil: undefined }),
  })
  .map(({ format, channels, rate, bits, riffSize, dataSize, data, cutAt }) => {
    const header = Buffer.alloc(44)
    header.write('RIFF', 0)
    header.writeUInt32LE(riffSize, 4)
    header.write('WAVEfmt ', 8)
    header.writeUInt32LE(16, 16)
    header.writeUInt16LE(format, 20)
    header.writeUInt16LE(channels, 22)
    header.writeUInt32LE(rate, 24)
    header.writeUInt16LE(bits, 34)
    header.write('data', 36)
    header.writeUInt32LE(dataSize, 40)
    return Buffer.concat([header, data]).subarray(0, cutAt)
  })

/** Every recording is read as finite samples, or refused with a reason. */
export const wavTarget = {
  name: 'wav',
  inputs: fc.oneof(
    wav.map(bytes => ({ wav: bytes })),
    wav.map(bytes => ({ pcm: bytes })),
    fc.uint8Array({ maxLength: 3_000 }).map(bytes => ({ pcm: bytes })),
  ),
  async check(utterance) {
    try {
      const samples = await readAudio(utterance)
      if (!samples.every(Number.isFinite)) throw new Error('a sample is not a finite number')
    } catch (error) {
      if (error.name !== 'AudioError') throw error
    }
  },
}
