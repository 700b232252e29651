// Simulates a recorder: writes silence, and the recordings that it is told to play, in real time. It answers with the time
// of the last sound.
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'

const [socket] = process.argv.slice(2)
const BYTES_PER_MS = 32
const STEP_MS = 20
const WAV_HEADER_BYTES = 44
/** Samples below this at the end of a recording count as silence. */
const QUIET = 300
const bench = connect(socket)
let sound = Buffer.alloc(0)
createInterface(bench).on('line', file => {
  sound = withoutSilence(readFileSync(file).subarray(WAV_HEADER_BYTES))
})
bench.on('close', () => process.exit())

const startedAt = performance.now()
let written = 0
for (;;) {
  const due = Math.floor(performance.now() - startedAt) * BYTES_PER_MS - written
  const heard = sound.subarray(0, due)
  if (heard.length > 0 && heard.length === sound.length)
    bench.write(`${performance.timeOrigin + performance.now()}\n`)
  sound = sound.subarray(heard.length)
  process.stdout.write(Buffer.concat([heard, Buffer.alloc(due - heard.length)]))
  written += due
  await delay(STEP_MS)
}

function withoutSilence(pcm) {
  let end = pcm.length
  while (end > 0 && Math.abs(pcm.readInt16LE(end - 2)) < QUIET) end -= 2
  return pcm.subarray(0, end)
}
