// Plays the part of a microphone: writes raw sound at the pace at which it would be heard, then silence.
// When the last of the sound was written, it notes the moment in a file.
import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

const [pcmFile, markerFile] = process.argv.slice(2)
const BYTES_PER_MS = 32
const STEP_MS = 20
const LEAD_MS = 500
const sound = Buffer.concat([Buffer.alloc(LEAD_MS * BYTES_PER_MS), readFileSync(pcmFile)])
const startedAt = performance.now()

let written = 0
while (written < sound.length) written += await write(sound.subarray(written, due()))
writeFileSync(markerFile, String(performance.timeOrigin + performance.now()))
for (;;) written += await write(Buffer.alloc(Math.max(0, due() - written)))

/** How many bytes would have been recorded by now. */
function due() {
  return Math.floor(performance.now() - startedAt) * BYTES_PER_MS
}

async function write(bytes) {
  if (bytes.length > 0) process.stdout.write(bytes)
  await delay(STEP_MS)
  return bytes.length
}
