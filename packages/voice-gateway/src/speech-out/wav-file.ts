import { SpeakerError } from './speaker.ts'

/** A WAV file taken apart. `format` is its `fmt ` chunk as it stands. */
export interface WavParts {
  readonly format: Buffer
  readonly samples: Buffer
  readonly bytesPerSecond: number
}

/** Length of the header that `wavHeader` makes of a plain format. */
const RIFF_HEADER_BYTES = 12
const CHUNK_HEADER_BYTES = 8
const SMALLEST_FORMAT_BYTES = 16

/**
 * Takes a WAV file apart. Programs that write to a pipe cannot know the sizes in the header beforehand,
 * so sizes that reach beyond the end mean "until the end".
 */
export function wavParts(wav: Uint8Array): WavParts {
  const bytes = Buffer.from(wav.buffer, wav.byteOffset, wav.byteLength)
  const isWav = bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WAVE'
  const format = isWav ? chunk(bytes, 'fmt ') : undefined
  const samples = isWav ? chunk(bytes, 'data') : undefined
  if (!format || format.length < SMALLEST_FORMAT_BYTES || !samples) {
    throw new SpeakerError('The voice gave something that is not a WAV file.')
  }
  return { format, samples, bytesPerSecond: format.readUInt32LE(8) }
}

/** The header of a WAV file with this many bytes of samples. */
export function wavHeader(format: Buffer, sampleBytes: number): Buffer {
  const size = RIFF_HEADER_BYTES + 2 * CHUNK_HEADER_BYTES + format.length
  const header = Buffer.alloc(size)
  header.write('RIFF', 0, 'latin1')
  header.writeUInt32LE(size - CHUNK_HEADER_BYTES + sampleBytes, 4)
  header.write('WAVEfmt ', 8, 'latin1')
  header.writeUInt32LE(format.length, 16)
  format.copy(header, 20)
  header.write('data', 20 + format.length, 'latin1')
  header.writeUInt32LE(sampleBytes, 24 + format.length)
  return header
}

/** The same sound with a header that tells the truth. */
export function withTrueSizes(wav: Uint8Array): Uint8Array {
  const { format, samples } = wavParts(wav)
  return Buffer.concat([wavHeader(format, samples.length), samples])
}

/** What differs between two formats, in words: `22050 Hz, 1 channel, 16 bits`. */
export function describeFormat(format: Buffer): string {
  const channels = format.readUInt16LE(2)
  const rate = format.readUInt32LE(4)
  return `${rate} Hz, ${channels} channel${channels === 1 ? '' : 's'}, ${format.readUInt16LE(14)} bits`
}

function chunk(bytes: Buffer, name: string): Buffer | undefined {
  let at = RIFF_HEADER_BYTES
  while (at + CHUNK_HEADER_BYTES <= bytes.length) {
    const start = at + CHUNK_HEADER_BYTES
    const end = start + bytes.readUInt32LE(at + 4)
    if (bytes.toString('latin1', at, at + 4) === name) return bytes.subarray(start, end)
    at = end + (end % 2)
  }
  return undefined
}
