import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { bodyChunks, CHUNK_COST_BYTES, READ_AT_ONCE_BYTES } from './body-chunks.ts'

/** Chunks that are all there at once; counts those that were asked for. */
function body(count: number, bytes: number) {
  let pulled = 0
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (pulled++ < count) controller.enqueue(new Uint8Array(bytes))
        else controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  return { reader: stream.getReader(), pulled: () => pulled }
}

describe('bodyChunks', () => {
  it.each([
    ['large chunks', READ_AT_ONCE_BYTES, 1],
    ['chunks of one byte', 1, Math.ceil(READ_AT_ONCE_BYTES / (1 + CHUNK_COST_BYTES))],
  ])('[F48] %s are read some at a time, with everybody else in between', async (_, bytes, atOnce) => {
    const count = 20 * atOnce
    const { reader, pulled } = body(count, bytes)
    let read = 0
    const reading = (async () => {
      for await (const chunk of bodyChunks(reader)) read += chunk.length
    })()
    for (let before = 0; pulled() <= count; before = pulled()) {
      await turn()
      expect(pulled() - before).toBeLessThanOrEqual(2 * (atOnce + 1))
    }
    await reading
    expect(read).toBe(count * bytes)
  })
})
