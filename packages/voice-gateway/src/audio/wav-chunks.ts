/** The two parts of a WAV file that matter; either may be missing. */
export interface WavChunks {
  format?: Buffer
  data?: Buffer
}

const HEADER_BYTES = 12
const CHUNK_HEADER_BYTES = 8
/** Real files have a handful; a hostile file of empty chunks has millions. */
const MOST_CHUNKS = 1_000

/**
 * Finds the chunks of a file with a WAV signature. Sizes are trusted only up to the end of the file: a recorder
 * that writes to a pipe does not know them, and a recording may be truncated.
 */
export function findChunks(file: Uint8Array): WavChunks {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength)
  const chunks: WavChunks = {}
  let offset = HEADER_BYTES
  for (let count = 0; count < MOST_CHUNKS && offset + CHUNK_HEADER_BYTES <= bytes.length; count++) {
    if (chunks.format && chunks.data) break
    const { name, start, end } = chunkAt(bytes, offset)
    if (name === 'fmt ') chunks.format ??= bytes.subarray(start, end)
    if (name === 'data') chunks.data ??= bytes.subarray(start, end)
    offset = nextChunk(bytes, end)
  }
  return chunks
}

function chunkAt(bytes: Buffer, offset: number): { name: string; start: number; end: number } {
  const name = bytes.toString('latin1', offset, offset + 4)
  const size = bytes.readUInt32LE(offset + 4)
  const start = offset + CHUNK_HEADER_BYTES
  const open = name === 'data' && size === 0 && !knowsItsSize(bytes)
  return { name, start, end: open ? bytes.length : Math.min(start + size, bytes.length) }
}

/** Whether the header was completed after recording: then a size of 0 means that there is no sound. */
function knowsItsSize(bytes: Buffer): boolean {
  return bytes.readUInt32LE(4) === bytes.length - CHUNK_HEADER_BYTES
}

/** Chunks begin at even offsets; some programs forget that. */
function nextChunk(bytes: Buffer, end: number): number {
  if (end % 2 === 0) return end
  return isChunkName(bytes, end) && !isChunkName(bytes, end + 1) ? end : end + 1
}

function isChunkName(bytes: Buffer, offset: number): boolean {
  return /^[ -~]{4}$/.test(bytes.toString('latin1', offset, offset + 4))
}
