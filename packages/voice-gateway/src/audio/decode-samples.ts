import type { WavFormat } from './wav-format.ts'

type ReadSample = (view: DataView, offset: number) => number

/** Stored sound mixed down to one channel, at its own rate. An incomplete last frame is dropped. */
export interface SampleSource {
  readonly length: number
  /** Fills `target` with the samples from `start` on; silence outside the sound. */
  read(target: Float32Array, start: number): void
}

export function sampleSource(data: Uint8Array, format: WavFormat): SampleSource {
  const length = Math.floor(data.length / (format.channels * format.sampleBytes))
  const decode = frameDecoder(data, format)
  return {
    length,
    read(target, start) {
      const begin = Math.min(Math.max(-start, 0), target.length)
      const end = Math.max(begin, Math.min(length - start, target.length))
      target.fill(0, 0, begin).fill(0, end)
      decode(target.subarray(begin, end), start + begin)
    },
  }
}

type DecodeFrames = (target: Float32Array, start: number) => void

function frameDecoder(data: Uint8Array, format: WavFormat): DecodeFrames {
  const { channels, sampleBytes } = format
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  const read = sampleReader(format)
  return (target, start) => {
    let offset = start * channels * sampleBytes
    for (let frame = 0; frame < target.length; frame++) {
      let sum = 0
      for (let channel = 0; channel < channels; channel++, offset += sampleBytes) sum += read(view, offset)
      target[frame] = sum / channels
    }
  }
}

function sampleReader({ encoding, sampleBytes }: WavFormat): ReadSample {
  if (encoding === 'alaw') return tableReader(fromALaw)
  if (encoding === 'mulaw') return tableReader(fromMuLaw)
  return (encoding === 'float' ? floatReaders[sampleBytes] : pcmReaders[sampleBytes]) ?? (() => 0)
}

const pcmReaders: Record<number, ReadSample> = {
  1: (view, offset) => (view.getUint8(offset) - 128) / 128,
  2: (view, offset) => view.getInt16(offset, true) / 32_768,
  3: (view, offset) => (view.getUint16(offset, true) + view.getInt8(offset + 2) * 65_536) / 8_388_608,
  4: (view, offset) => view.getInt32(offset, true) / 2_147_483_648,
}

const floatReaders: Record<number, ReadSample> = {
  4: (view, offset) => within(view.getFloat32(offset, true)),
  8: (view, offset) => within(view.getFloat64(offset, true)),
}

/** Clamps to -1..1; NaN becomes 0. */
function within(value: number): number {
  if (value >= -1 && value <= 1) return value
  return value > 1 ? 1 : value < -1 ? -1 : 0
}

function tableReader(decode: (byte: number) => number): ReadSample {
  const table = Float32Array.from({ length: 256 }, (_, byte) => decode(byte) / 32_768)
  return (view, offset) => table[view.getUint8(offset)] ?? 0
}

/** ITU-T G.711. */
function fromALaw(byte: number): number {
  const bits = byte ^ 0x55
  const exponent = (bits >> 4) & 7
  const mantissa = ((bits & 15) << 4) + 8
  const magnitude = exponent === 0 ? mantissa : (mantissa + 256) << (exponent - 1)
  return bits & 0x80 ? magnitude : -magnitude
}

/** ITU-T G.711. */
function fromMuLaw(byte: number): number {
  const bits = ~byte & 0xff
  const magnitude = ((((bits & 15) << 3) + 132) << ((bits >> 4) & 7)) - 132
  return bits & 0x80 ? -magnitude : magnitude
}
