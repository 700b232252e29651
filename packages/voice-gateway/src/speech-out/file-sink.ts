import { open } from 'node:fs/promises'
import type { Player } from './players.ts'
import { SpeakerError } from './speaker.ts'
import { describeFormat, wavHeader, wavParts } from './wav-file.ts'

/** A silent player: everything played is appended to one WAV file, which is valid after each piece. */
export function fileSink(path: string): Player {
  let format: Buffer | undefined
  let written = 0
  const append = async (wav: Uint8Array) => {
    const parts = wavParts(wav)
    if (format && !format.equals(parts.format)) throw differentFormat(path, format, parts.format)
    await writePiece({ path, isFirst: !format, ...parts, before: written })
    format = parts.format
    written += parts.samples.length
  }
  let last = Promise.resolve()
  return {
    name: path,
    play(wav, { signal }) {
      if (signal.aborted || wav.length === 0) return Promise.resolve()
      const piece = last.then(() => append(wav))
      last = piece.catch(() => {})
      return piece
    },
  }
}

interface Piece {
  readonly path: string
  readonly isFirst: boolean
  readonly format: Buffer
  readonly samples: Buffer
  /** How many bytes of samples are already in the file. */
  readonly before: number
}

/** Samples first, then the header, so that the file is never shorter than its header says. */
async function writePiece({ path, isFirst, format, samples, before }: Piece): Promise<void> {
  const header = wavHeader(format, before + samples.length)
  try {
    const file = await open(path, isFirst ? 'w' : 'r+')
    try {
      await file.write(samples, 0, samples.length, header.length + before)
      await file.write(header, 0, header.length, 0)
    } finally {
      await file.close()
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new SpeakerError(`The answer could not be written to ${path}: ${reason}`, { cause: error })
  }
}

function differentFormat(path: string, first: Buffer, other: Buffer): SpeakerError {
  const [was, is] = [describeFormat(first), describeFormat(other)]
  return new SpeakerError(`${path} contains audio of ${was}; audio of ${is} cannot be appended.`)
}
