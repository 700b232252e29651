import { nextTurn } from '../runtime/turns.ts'
import { CHUNK_COST_BYTES, READ_AT_ONCE_BYTES } from './limits.ts'

/**
 * The chunks of a body, some at a time: the socket would be read as fast as the server writes, with nobody else in
 * between. While they wait, it is not read.
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
