import { isWav } from '../audio/file-kind.ts'
import { findChunks } from '../audio/wav-chunks.ts'
import { wavHeader } from '../audio/wav-header.ts'
import { SpeakerError } from './speaker.ts'

export { wavHeader }

/** The parts of a WAV file. `format` is its raw `fmt ` chunk. */
export interface WavParts {
  readonly format: Buffer
  readonly samples: Buffer
  readonly bytesPerSecond: number
}

const SMALLEST_FORMAT_BYTES = 16

/** Parses a WAV file, even one whose header was written before its sizes were known. */
export function wavParts(wav: Uint8Array): WavParts {
  const { format, data } = isWav(wav) ? findChunks(wav) : {}
  if (!format || format.length < SMALLEST_FORMAT_BYTES || !data) {
    throw new SpeakerError('The voice did not produce a WAV file.')
  }
  return { format, samples: data, bytesPerSecond: format.readUInt32LE(8) }
}

/** The same sound with correct sizes in the header. */
export function withTrueSizes(wav: Uint8Array): Uint8Array {
  const { format, samples } = wavParts(wav)
  return Buffer.concat([wavHeader(format, samples.length), samples])
}

/** A format for people: `22050 Hz, 1 channel, 16 bits`. */
export function describeFormat(format: Buffer): string {
  const channels = format.readUInt16LE(2)
  const rate = format.readUInt32LE(4)
  return `${rate} Hz, ${channels} channel${channels === 1 ? '' : 's'}, ${format.readUInt16LE(14)} bits`
}
