import { resample } from './resample.ts'

/** The input of speech models: one channel at this rate, each sample from -1 to 1. */
export const SAMPLE_RATE = 16_000

const SHORTEST_SECONDS = 0.3
const LONGEST_MINUTES = 15
/** -50 dBFS: the peak of intelligible speech is above it, the hum of an open input below. */
const QUIETEST_PEAK = 10 ** (-50 / 20)
/** -70 dBFS: below it, the peak was a single click in silence. */
const QUIETEST_LEVEL = 10 ** (-70 / 20)

/** Audio that cannot be used. The message says why, and what to send instead. */
export class AudioError extends Error {
  override name = 'AudioError'
}

export function secondsOf(samples: Float32Array): number {
  return samples.length / SAMPLE_RATE
}

/** Raw sound (16 kHz, mono, 16 bits, little-endian) as samples. An incomplete last sample is dropped. */
export function readPcm(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return new Float32Array(Math.floor(bytes.length / 2)).map((_, at) => view.getInt16(at * 2, true) / 32_768)
}

/** Samples as raw sound: 16 bits, little-endian, clipped. */
export function writePcm(samples: Float32Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(samples.length * 2)
  const view = new DataView(bytes.buffer)
  samples.forEach((sample, at) => {
    view.setInt16(at * 2, Math.max(-32_768, Math.min(32_767, Math.round(sample * 32_768))), true)
  })
  return bytes
}

type Encoding = 'pcm' | 'float'

/** How the samples of a WAV file are stored. */
interface WavFormat {
  encoding: Encoding
  channels: number
  rate: number
  /** Bytes per sample of one channel. */
  sampleBytes: number
}

/** How files of other types begin. */
const OTHER_FILES = /^(?:OggS|fLaC|\x1aE\xdf\xa3|.{4}ftyp|ID3|FORM|#!AMR|RIFX|RIFF)/s
const ENCODINGS: Readonly<Record<number, Encoding>> = { 1: 'pcm', 3: 'float' }
const SAMPLE_SIZES: Readonly<Record<Encoding, number[]>> = { pcm: [1, 2, 3, 4], float: [4, 8] }
const EXTENSIBLE = 0xfffe
/** Where an extensible format stores the codec. */
const SUBFORMAT_OFFSET = 24
const LEAST_FORMAT_BYTES = 16
const LEAST_RATE = 4_000
const HIGHEST_RATE = 384_000
const MOST_CHANNELS = 256
/** Real files have a handful; a hostile file of empty chunks has millions. */
const MOST_CHUNKS = 1_000
/** Enough to tell text from samples; fewer bytes could be sound by chance. */
const LEAST_TEXT_BYTES = 16
const TELLING_BYTES = 512

/**
 * The sound of an utterance as 16 kHz mono samples. A WAV file sent as raw PCM is read as a WAV file; any other
 * recognizable file is refused, because it would sound like noise. Rejects with an AudioError.
 */
export async function readAudio(utterance: { wav: Uint8Array } | { pcm: Uint8Array }): Promise<Float32Array> {
  const bytes = 'wav' in utterance ? utterance.wav : utterance.pcm
  if (isWav(bytes)) return readWav(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  if ('pcm' in utterance && !isOtherFile(bytes)) {
    const samples = readPcm(bytes)
    const refusal = tooLong(samples.length / SAMPLE_RATE)
    if (refusal) throw new AudioError(refusal)
    return samples
  }
  if (bytes.length === 0) throw new AudioError('The recording is empty')
  throw new AudioError(
    'This is not a WAV file: convert it, for example with sox or ffmpeg, or to raw PCM (16 kHz, mono, 16 bits)',
  )
}

/** 16 kHz mono samples as a 16-bit WAV file. */
export function writeWav(samples: Float32Array): Uint8Array<ArrayBuffer> {
  const format = Buffer.alloc(16)
  const [pcm, channels, sampleBytes] = [1, 1, 2]
  format.writeUInt16LE(pcm, 0)
  format.writeUInt16LE(channels, 2)
  format.writeUInt32LE(SAMPLE_RATE, 4)
  format.writeUInt32LE(SAMPLE_RATE * sampleBytes, 8)
  format.writeUInt16LE(sampleBytes, 12)
  format.writeUInt16LE(sampleBytes * 8, 14)
  return wavFile(format, writePcm(samples))
}

/** A WAV file with this `fmt ` chunk and these samples. */
export function wavFile(format: Uint8Array, samples: Uint8Array): Uint8Array<ArrayBuffer> {
  const size = (bytes: number) => {
    const written = Buffer.alloc(4)
    written.writeUInt32LE(bytes)
    return written
  }
  const body = [
    Buffer.from('WAVEfmt '),
    size(format.length),
    format,
    Buffer.from('data'),
    size(samples.length),
    samples,
  ]
  const bytes = body.reduce((sum, { length }) => sum + length, 0)
  return new Uint8Array(Buffer.concat([Buffer.from('RIFF'), size(bytes), ...body]))
}

export function isWav(bytes: Uint8Array): boolean {
  return /^(RIFF|RF64|BW64).{4}WAVE$/s.test(latin1(bytes, 12))
}

/** Whether these bytes are certainly text or another type of file: raw sound is never mistaken for one. */
export function isOtherFile(bytes: Uint8Array): boolean {
  const start = latin1(bytes, TELLING_BYTES)
  return OTHER_FILES.test(start) || (start.length >= LEAST_TEXT_BYTES && /^[\x20-\x7e\t\n\r]+$/.test(start))
}

function latin1(bytes: Uint8Array, length: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(length, bytes.byteLength)).toString('latin1')
}

/** Whatever its rate, channels and sample format. A truncated file yields what it contains. */
async function readWav(file: Buffer): Promise<Float32Array> {
  const { format: chunk, data } = findChunks(file)
  if (!chunk) throw new AudioError('The WAV file is corrupt: its fmt chunk is missing')
  const format = readFormat(chunk)
  const length = Math.floor((data?.length ?? 0) / (format.channels * format.sampleBytes))
  // Its length follows from its size: one that is too long is refused before any of it is read.
  const refusal = tooLong(length / format.rate)
  if (refusal) throw new AudioError(refusal)
  if (!data || length === 0) throw new AudioError('The WAV file contains no sound')
  return resample(mixedDown(data, format, length), format.rate)
}

/**
 * Sizes are trusted only up to the end of the file: a recorder that writes to a pipe does not know them, and a recording may
 * be truncated.
 */
export function findChunks(file: Buffer): { format?: Buffer; data?: Buffer } {
  const chunks: { format?: Buffer; data?: Buffer } = {}
  let offset = 12
  for (let count = 0; count < MOST_CHUNKS && offset + 8 <= file.length && !chunks.data; count++) {
    const name = file.toString('latin1', offset, offset + 4)
    const size = file.readUInt32LE(offset + 4)
    // If the header was completed after recording, a size of 0 means that there is no sound.
    const isOpen = name === 'data' && size === 0 && file.readUInt32LE(4) !== file.length - 8
    const end = isOpen ? file.length : Math.min(offset + 8 + size, file.length)
    if (name === 'fmt ') chunks.format ??= file.subarray(offset + 8, end)
    if (name === 'data') chunks.data = file.subarray(offset + 8, end)
    offset = end + (end % 2)
  }
  return chunks
}

/** Parses the format chunk. Throws an AudioError if the format is not supported. */
function readFormat(format: Buffer): WavFormat {
  if (format.length < LEAST_FORMAT_BYTES)
    throw new AudioError('The WAV file is corrupt: its fmt chunk is truncated')
  const tag = format.readUInt16LE(0)
  const isExtended = tag === EXTENSIBLE && format.length >= SUBFORMAT_OFFSET + 2
  const codec = isExtended ? format.readUInt16LE(SUBFORMAT_OFFSET) : tag
  const encoding = ENCODINGS[codec]
  if (!encoding)
    throw new AudioError(
      `The WAV file is compressed (codec 0x${codec.toString(16)}): send it as PCM, ideally 16 bits at 16 kHz`,
    )
  const channels = format.readUInt16LE(2)
  const rate = format.readUInt32LE(4)
  if (channels < 1 || channels > MOST_CHANNELS)
    throw new AudioError(`The WAV file is corrupt: it claims to have ${channels} channels`)
  if (rate < LEAST_RATE || rate > HIGHEST_RATE)
    throw new AudioError(`The WAV file has ${rate} samples per second; 4,000 to 384,000 are supported`)
  // From the block size, as 20 bits may be stored in 24 or 32; from the bits per sample if that is implausible.
  const bits = format.readUInt16LE(14)
  const sizes = [format.readUInt16LE(12) / channels, Math.ceil(bits / 8)]
  const sampleBytes = sizes.find(bytes => bytes * 8 >= bits && SAMPLE_SIZES[encoding].includes(bytes))
  if (!sampleBytes) throw new AudioError(`The WAV file has ${bits} bits per sample, which is not supported`)
  return { encoding, channels, rate, sampleBytes }
}

/** The average of all channels. */
function mixedDown(
  data: Buffer,
  { encoding, channels, sampleBytes }: WavFormat,
  length: number,
): Float32Array {
  const one = ONE_SAMPLE[encoding]
  return new Float32Array(length).map((_, frame) => {
    let sum = 0
    for (let channel = 0; channel < channels; channel++)
      sum += one(data, (frame * channels + channel) * sampleBytes, sampleBytes)
    return sum / channels
  })
}

const ONE_SAMPLE: Readonly<Record<Encoding, (data: Buffer, at: number, bytes: number) => number>> = {
  pcm: (data, at, bytes) =>
    bytes === 1 ? (data.readUInt8(at) - 128) / 128 : data.readIntLE(at, bytes) / 2 ** (bytes * 8 - 1),
  float: (data, at, bytes) => {
    const value = bytes === 4 ? data.readFloatLE(at) : data.readDoubleLE(at)
    return Number.isNaN(value) ? 0 : Math.max(-1, Math.min(1, value))
  },
}

/** Why a recording of this length is refused; undefined if it is not. */
function tooLong(seconds: number): string | undefined {
  return seconds > LONGEST_MINUTES * 60
    ? `the recording is longer than ${LONGEST_MINUTES} minutes`
    : undefined
}

/** Why a recording is not worth transcribing; undefined if it is. */
export function reasonToDrop(samples: Float32Array): string | undefined {
  const seconds = secondsOf(samples)
  if (samples.length === 0) return 'the recording is empty'
  // Rounded down, so that it never shows the limit it missed.
  if (seconds < SHORTEST_SECONDS)
    return `the recording is only ${(Math.floor(seconds * 10) / 10).toFixed(1)} s long`
  const { peak, level } = loudness(samples)
  if (peak === 0) return 'the recording is silent'
  if (peak < QUIETEST_PEAK || level < QUIETEST_LEVEL)
    return `the recording is too quiet (${Math.round(20 * Math.log10(peak))} dB at its loudest)`
  return tooLong(seconds)
}

/** Relative to the mean, because a cheap input may add a DC offset. */
function loudness(samples: Float32Array): { peak: number; level: number } {
  let [sum, squares, lowest, highest] = [0, 0, 1, -1]
  for (const sample of samples) {
    sum += sample
    squares += sample * sample
    lowest = Math.min(lowest, sample)
    highest = Math.max(highest, sample)
  }
  const mean = sum / samples.length
  const power = squares / samples.length - mean * mean
  return { peak: Math.max(highest - mean, mean - lowest), level: Math.sqrt(Math.max(0, power)) }
}
