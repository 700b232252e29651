import { resample } from './resample.ts'

/** The input of speech models: one channel at this rate, each sample from -1 to 1. */
export const SAMPLE_RATE = 16_000

const SHORTEST_SECONDS = 0.3
const LONGEST_MINUTES = 15
/** -50 dBFS: the peak of intelligible speech is above it, the hum of an open input below. */
const QUIETEST_PEAK = 10 ** (-50 / 20)
const PCM = 1
const FLOAT = 3
const EXTENSIBLE = 0xfffe
const SUBFORMAT_OFFSET = 24
const LEAST_RATE = 4_000
const HIGHEST_RATE = 384_000
/** Real files have a handful; a hostile file of empty chunks has millions. */
const MOST_CHUNKS = 1_000
/** How files of other types begin; text, if there is enough of it not to be sound by chance. */
const OTHER_FILES =
  /^(?:OggS|fLaC|\x1aE\xdf\xa3|.{4}ftyp|ID3|FORM|#!AMR|RIFX|RIFF|[\x20-\x7e\t\n\r]{16,512}$)/s

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
  const clipped = samples.map(sample => Math.max(-32_768, Math.min(32_767, Math.round(sample * 32_768))))
  return new Uint8Array(Int16Array.from(clipped).buffer)
}

/**
 * The sound of an utterance as 16 kHz mono samples. A WAV file sent as raw PCM is read as a WAV file; any other
 * recognizable file is refused, because it would sound like noise. Rejects with an AudioError.
 */
export async function readAudio(utterance: { wav: Uint8Array } | { pcm: Uint8Array }): Promise<Float32Array> {
  const given = 'wav' in utterance ? utterance.wav : utterance.pcm
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength)
  if (isWav(bytes)) return readWav(bytes)
  if ('pcm' in utterance && !OTHER_FILES.test(bytes.toString('latin1', 0, 512))) {
    refuseLong(bytes.length / 2 / SAMPLE_RATE)
    return readPcm(bytes)
  }
  if (bytes.length === 0) throw new AudioError('The recording is empty')
  throw new AudioError(
    'This is not a WAV file: convert it, for example with sox or ffmpeg, or to raw PCM (16 kHz, mono, 16 bits)',
  )
}

/** 16 kHz mono samples as a 16-bit WAV file. */
export function writeWav(samples: Float32Array): Uint8Array<ArrayBuffer> {
  const format = Uint16Array.of(PCM, 1, SAMPLE_RATE, 0, SAMPLE_RATE * 2, 0, 2, 16)
  return wavFile(new Uint8Array(format.buffer), writePcm(samples))
}

/** A WAV file with this `fmt ` chunk and these samples. */
export function wavFile(format: Uint8Array, samples: Uint8Array): Uint8Array<ArrayBuffer> {
  const chunk = (name: string, ...body: Uint8Array[]) => {
    const bytes = Buffer.concat([Buffer.from(name), Buffer.alloc(4), ...body])
    bytes.writeUInt32LE(bytes.length - 8, 4)
    return bytes
  }
  return new Uint8Array(chunk('RIFF', Buffer.from('WAVE'), chunk('fmt ', format), chunk('data', samples)))
}

export function isWav(bytes: Buffer): boolean {
  return /^RIFF.{4}WAVE$/s.test(bytes.toString('latin1', 0, 12))
}

/** PCM of 8 to 32 bits or float, mono or stereo, at any rate. A truncated file yields what it contains. */
async function readWav(file: Buffer): Promise<Float32Array> {
  const { format, data = Buffer.alloc(0) } = findChunks(file)
  if (!format) throw new AudioError('The WAV file is corrupt: its fmt chunk is missing')
  const { codec, channels, rate, bits } = readFormat(format)
  const frameBytes = (channels * bits) / 8
  const length = Math.floor(data.length / frameBytes)
  // Its length follows from its size: one that is too long is refused before any of it is read.
  refuseLong(length / rate)
  if (length === 0) throw new AudioError('The WAV file contains no sound')
  const sampleAt = (at: number) => {
    if (codec === FLOAT) return Math.max(-1, Math.min(1, data.readFloatLE(at) || 0))
    return bits === 8 ? data.readUInt8(at) / 128 - 1 : data.readIntLE(at, bits / 8) / 2 ** (bits - 1)
  }
  const mono = new Float32Array(length).map((_, at) => {
    const left = sampleAt(at * frameBytes)
    return channels === 1 ? left : (left + sampleAt(at * frameBytes + bits / 8)) / 2
  })
  return resample(mono, rate)
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
function readFormat(format: Buffer): { codec: number; channels: number; rate: number; bits: number } {
  if (format.length < 16) throw new AudioError('The WAV file is corrupt: its fmt chunk is truncated')
  const tag = format.readUInt16LE(0)
  const isExtended = tag === EXTENSIBLE && format.length >= SUBFORMAT_OFFSET + 2
  const codec = isExtended ? format.readUInt16LE(SUBFORMAT_OFFSET) : tag
  if (codec !== PCM && codec !== FLOAT)
    throw new AudioError(
      `The WAV file is compressed (codec 0x${codec.toString(16)}): send it as PCM, ideally 16 bits at 16 kHz`,
    )
  const channels = format.readUInt16LE(2)
  const rate = format.readUInt32LE(4)
  const bits = format.readUInt16LE(14)
  if (channels !== 1 && channels !== 2)
    throw new AudioError(`The WAV file has ${channels} channels; 1 and 2 are supported`)
  if (rate < LEAST_RATE || rate > HIGHEST_RATE)
    throw new AudioError(`The WAV file has ${rate} samples per second; 4,000 to 384,000 are supported`)
  if (!(codec === FLOAT ? [32] : [8, 16, 24, 32]).includes(bits))
    throw new AudioError(`The WAV file has ${bits} bits per sample, which is not supported`)
  return { codec, channels, rate, bits }
}

function refuseLong(seconds: number): void {
  if (seconds > LONGEST_MINUTES * 60)
    throw new AudioError(`the recording is longer than ${LONGEST_MINUTES} minutes`)
}

/** Why a recording is not worth transcribing; undefined if it is. */
export function reasonToDrop(samples: Float32Array): string | undefined {
  const seconds = secondsOf(samples)
  if (seconds === 0) return 'the recording is empty'
  // Rounded down, so that it never shows the limit it missed.
  if (seconds < SHORTEST_SECONDS)
    return `the recording is only ${(Math.floor(seconds * 10) / 10).toFixed(1)} s long`
  // Relative to the mean, because a cheap input may add a DC offset.
  const mean = samples.reduce((sum, sample) => sum + sample, 0) / samples.length
  const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample - mean)), 0)
  if (peak >= QUIETEST_PEAK) return undefined
  return peak === 0
    ? 'the recording is silent'
    : `the recording is too quiet (${Math.round(20 * Math.log10(peak))} dB at its loudest)`
}
