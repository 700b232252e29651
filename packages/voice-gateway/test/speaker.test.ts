import { chmod, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { findSpeaker, SpeakerError } from '../src/index.ts'
import { findProgram } from '../src/programs/platform.ts'

const how = { signal: new AbortController().signal }

/** A player that is a shell script; `$1` is the file to play. */
async function playerOf(script: string): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), 'player-')), 'player')
  await writeFile(file, `#!/bin/sh\n${script}\n`)
  await chmod(file, 0o755)
  return file
}

it.skipIf(!findProgram('espeak-ng'))('plays answers of any length with the configured player', async () => {
  const player = await playerOf('cp "$1" "$0.wav"')
  const speaker = await findSpeaker({ voice: 'espeak-ng', player })
  for (const text of ['Yes.', 'Switch One is on.', 'The living room light is at 40 %.']) {
    const wav = await speaker?.synthesize(text, how)
    await speaker?.play(wav ?? Buffer.alloc(0), how)
    expect(await readFile(`${player}.wav`)).toEqual(Buffer.from(wav ?? []))
  }
})

it.skipIf(!findProgram('espeak-ng'))('reports why a player failed', async () => {
  const player = await playerOf('echo "no sound card" >&2; exit 3')
  const speaker = await findSpeaker({ voice: 'espeak-ng', player })
  const played = speaker?.synthesize('Yes.', how).then(wav => speaker.play(wav, how))
  await expect(played).rejects.toThrow(SpeakerError)
  await expect(played).rejects.toThrow('no sound card')
})
