// A fake microphone that plays recordings: a program that the gateway takes for `arecord`.
import { chmodSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** An utterance ends after this much silence (packages/voice-gateway/src/audio/utterance-cutter.ts). */
const QUIET_MS = 600
const HEARD_WITHIN_MS = 2_500

/** Puts the stand-in first on the PATH. `send` plays a recording in real time and returns the time when it ended. */
export async function microphoneStandIn(folder) {
  const socket = join(folder, 'microphone.sock')
  const program = fileURLToPath(new URL('real-time.mjs', import.meta.url))
  const script = join(folder, 'arecord')
  const record = `exec "${process.execPath}" "${program}" "${socket}"`
  writeFileSync(script, `#!/bin/sh\nif [ "$1" = -l ]; then echo "card 0: stand-in"; else ${record}; fi\n`)
  chmodSync(script, 0o755)
  process.env.PATH = `${folder}${delimiter}${process.env.PATH}`
  let recorder
  let played = () => {}
  const server = createServer(connection => {
    recorder = connection
    createInterface(connection).on('line', line => played(Number(line) - performance.timeOrigin))
    connection.on('error', () => {})
  })
  await new Promise(resolve => server.listen(socket, resolve))
  return {
    async send(wavFile, turn) {
      const endOfSound = await new Promise(resolve => {
        played = resolve
        recorder.write(`${wavFile}\n`)
      })
      const isHeard = () => turn.heard !== undefined
      while (!isHeard() && performance.now() - endOfSound < HEARD_WITHIN_MS) await delay(20)
      while (isHeard() && turn.responses.length === 0) await delay(5)
      return endOfSound + QUIET_MS
    },
    close: () => {
      recorder?.destroy()
      server.close()
    },
  }
}
