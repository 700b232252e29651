const RIFF_HEADER_BYTES = 12
const CHUNK_HEADER_BYTES = 8

/** The header of a WAV file with this `fmt ` chunk and this many bytes of samples. */
export function wavHeader(format: Uint8Array, sampleBytes: number): Buffer<ArrayBuffer> {
  const size = RIFF_HEADER_BYTES + 2 * CHUNK_HEADER_BYTES + format.length
  const header = Buffer.alloc(size)
  header.write('RIFF', 0, 'latin1')
  header.writeUInt32LE(size - CHUNK_HEADER_BYTES + sampleBytes, 4)
  header.write('WAVEfmt ', 8, 'latin1')
  header.writeUInt32LE(format.length, 16)
  header.set(format, 20)
  header.write('data', 20 + format.length, 'latin1')
  header.writeUInt32LE(sampleBytes, 24 + format.length)
  return header
}
