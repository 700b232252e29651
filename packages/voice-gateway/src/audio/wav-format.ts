import { AudioError } from './samples.ts'

type Encoding = 'pcm' | 'float' | 'alaw' | 'mulaw'

/** How the samples of a WAV file are stored. */
export interface WavFormat {
  encoding: Encoding
  channels: number
  rate: number
  /** Bytes per sample of one channel. */
  sampleBytes: number
}

const EXTENSIBLE = 0xfffe
const encodings: Record<number, Encoding> = { 1: 'pcm', 3: 'float', 6: 'alaw', 7: 'mulaw' }
const codecNames: Record<number, string> = {
  2: 'ADPCM',
  17: 'IMA ADPCM',
  49: 'GSM',
  80: 'MPEG',
  85: 'MP3',
  255: 'AAC',
}
const sampleSizes: Record<Encoding, number[]> = { pcm: [1, 2, 3, 4], float: [4, 8], alaw: [1], mulaw: [1] }

const LEAST_RATE = 4_000
const HIGHEST_RATE = 384_000
const MOST_CHANNELS = 256
const LEAST_FORMAT_BYTES = 16
/** Where an extensible format stores the codec. */
const SUBFORMAT_OFFSET = 24

/** Parses the format chunk. Throws an AudioError if the format is not supported. */
export function readFormat(format: Buffer): WavFormat {
  if (format.length < LEAST_FORMAT_BYTES)
    throw new AudioError('The WAV file is corrupt: its fmt chunk is truncated')
  const encoding = readEncoding(format)
  const channels = format.readUInt16LE(2)
  const rate = format.readUInt32LE(4)
  if (channels < 1 || channels > MOST_CHANNELS)
    throw new AudioError(`The WAV file is corrupt: it claims to have ${channels} channels`)
  if (rate < LEAST_RATE || rate > HIGHEST_RATE)
    throw new AudioError(`The WAV file has ${rate} samples per second; 4,000 to 384,000 are supported`)
  return { encoding, channels, rate, sampleBytes: readSampleBytes(format, encoding, channels) }
}

function readEncoding(format: Buffer): Encoding {
  const tag = format.readUInt16LE(0)
  const isExtended = tag === EXTENSIBLE && format.length >= SUBFORMAT_OFFSET + 2
  const codec = isExtended ? format.readUInt16LE(SUBFORMAT_OFFSET) : tag
  const encoding = encodings[codec]
  if (encoding) return encoding
  const name = codecNames[codec] ?? `codec 0x${codec.toString(16)}`
  throw new AudioError(`The WAV file is compressed (${name}): send it as PCM, ideally 16 bits at 16 kHz`)
}

/** From the block size, as 20 bits may be stored in 24 or 32; from the bits per sample if that is implausible. */
function readSampleBytes(format: Buffer, encoding: Encoding, channels: number): number {
  const bits = format.readUInt16LE(14)
  const byBits = Math.ceil(bits / 8)
  const byBlock = format.readUInt16LE(12) / channels
  const sizes = sampleSizes[encoding]
  const size = [byBlock, byBits].find(bytes => bytes >= byBits && sizes.includes(bytes))
  if (size === undefined)
    throw new AudioError(`The WAV file has ${bits} bits per sample, which is not supported`)
  return size
}
