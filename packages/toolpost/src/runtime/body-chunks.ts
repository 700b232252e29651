import { nextTurn } from './turns.ts'

/** Bytes of a body read per turn; each chunk counts as at least `CHUNK_COST_BYTES`. */
export const READ_AT_ONCE_BYTES = 64 * 1024
export const CHUNK_COST_BYTES = 512

/**
 * Reads an HTTP body a few chunks per turn. Otherwise a fast sender would monopolize the event loop. Between turns the
 * socket is not read, so backpressure reaches the sender.
 */
export async function* bodyChunks(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  let taken = 0
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    yield read.value
    taken += read.value.length + CHUNK_COST_BYTES
    if (taken < READ_AT_ONCE_BYTES) continue
    await nextTurn(reader)
    taken = 0
  }
}
