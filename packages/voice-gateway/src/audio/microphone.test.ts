import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { fakeClock } from 'toolpost/testing'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { wordErrors } from '../../../../bench/voice/word-errors.mjs'
import { eventually } from '../../test/support/eventually.ts'
import { programs, temporaryFolder } from '../../test/support/programs.ts'
import { joined, silence, sound, spoken, tone } from '../../test/support/spoken.ts'
import { hasPart } from '../../test/support/system-parts.ts'
import { MoonshineTranscriber } from '../speech-to-text/moonshine-transcriber.ts'
import { FRAME_SAMPLES } from '../speech-to-text/speech-detector.ts'
import { listenToMicrophone, type MicrophoneOptions } from './microphone.ts'
import { findMicrophone } from './recorder.ts'
import { readPcm, writePcm } from './wav.ts'

const loud = { probability: async (frame: Float32Array) => (Math.max(...frame) > 0.1 ? 0.9 : 0), reset() {} }
const beep = sound(0.64, tone(440, 0.5))

/** What a recorder writes, as a command that writes just that. */
function recorded(...parts: Float32Array[]) {
  const file = join(temporaryFolder(), 'sound.raw')
  writeFileSync(file, writePcm(joined(...parts)))
  return { command: 'cat', args: [file] }
}

/** A recorder that records what the test writes, when it does. */
async function liveRecorder() {
  const pipe = join(temporaryFolder(), 'microphone')
  execFileSync('mkfifo', [pipe])
  // Opened for both, because a pipe with one end waits for the other.
  const file = await open(pipe, 'r+')
  onTestFinished(() => file.close())
  return {
    recorder: { command: 'cat', args: [pipe] },
    write: (samples: Float32Array) => void file.write(writePcm(samples)),
  }
}

function listen(options: Partial<MicrophoneOptions> & Pick<MicrophoneOptions, 'command'>) {
  const clock = fakeClock()
  const heard: Uint8Array[] = []
  const problems: string[] = []
  const listening = listenToMicrophone({
    detector: loud,
    onUtterance: pcm => heard.push(pcm),
    onProblem: problem => problems.push(problem),
    clock,
    ...options,
  })
  onTestFinished(() => listening.close())
  return { clock, heard, problems, listening }
}

describe('listenToMicrophone', () => {
  it('cuts what the recorder writes into utterances', async () => {
    const { heard, problems } = listen({ command: recorded(silence(2), beep, silence(2), beep, silence(2)) })
    await eventually(() => problems).toHaveLength(1)
    expect(heard.map(pcm => Math.round(readPcm(pcm).length / 1_600))).toEqual([16, 16])
  })

  it('starts the recorder again with growing delays, and says once that it ended', async () => {
    const counter = join(temporaryFolder(), 'starts')
    const { folder } = programs({ recorder: `echo x >> ${counter}; echo 'device unplugged' >&2; exit 1` })
    const { clock, problems } = listen({ command: { command: join(folder, 'recorder'), args: [] } })
    const starts = () => (existsSync(counter) ? readFileSync(counter, 'utf8').length / 2 : 0)
    for (const [before, delayMs] of [1_000, 2_000, 4_000, 8_000].entries()) {
      await eventually(() => clock.pending).toBe(1)
      await clock.advance(delayMs - 1)
      expect([clock.pending, starts()]).toEqual([1, before + 1])
      await clock.advance(1)
      await eventually(() => starts()).toBe(before + 2)
    }
    await eventually(() => clock.pending).toBe(1)
    expect(problems).toEqual([
      `The microphone recorder (${join(folder, 'recorder')}) exited: device unplugged`,
    ])
  })

  it('stays deaf until the last of the own voice has come through', async () => {
    const { recorder, write } = await liveRecorder()
    let isMuted = true
    let judged = 0
    const isMutedOrNot = () => {
      judged++
      return isMuted
    }
    const { clock, heard } = listen({ command: recorder, isMuted: isMutedOrNot })
    /** Resolves when all of it has gone by. */
    const play = async (...parts: Float32Array[]) => {
      const before = judged
      write(joined(...parts))
      const frames = Math.floor(joined(...parts).length / FRAME_SAMPLES)
      await eventually(() => judged).toBeGreaterThanOrEqual(before + frames)
    }
    const [voice, pause] = [beep, silence(0.96)]
    await play(voice)
    isMuted = false
    await play(voice, pause)
    await clock.advance(299)
    await play(voice, pause)
    expect(heard).toHaveLength(0)
    await clock.advance(1)
    // What is being said at that moment began while it was deaf: half a sentence is none.
    await play(voice, pause)
    expect(heard).toHaveLength(0)
    await play(voice, pause)
    await eventually(() => heard).toHaveLength(1)
  })

  it('lets the recorder wait if the detector is slow, and can be closed meanwhile', async () => {
    const release: (() => void)[] = []
    const probability = () => new Promise<number>(resolve => release.push(() => resolve(0)))
    const { problems, listening } = listen({
      command: { command: 'cat', args: ['/dev/zero'] },
      detector: { probability, reset() {} },
    })
    await eventually(() => release).toHaveLength(1)
    release[0]?.()
    await eventually(() => release).toHaveLength(2)
    await listening.close()
    expect(problems).toEqual([])
  })

  it('says once that the detector fails, and listens on', async () => {
    let frames = 0
    const probability = async (frame: Float32Array) => {
      if (++frames <= 5) throw new Error('no model')
      return loud.probability(frame)
    }
    const command = recorded(silence(1), beep, silence(1))
    const { heard, problems } = listen({ command, detector: { probability, reset() {} } })
    await eventually(() => problems).toHaveLength(2)
    expect(problems[0]).toBe('The speech detector failed: no model')
    expect(heard).toHaveLength(1)
  })

  describe.skipIf(!hasPart('espeak-ng'))('with the real detector', () => {
    const transcriber = new MoonshineTranscriber()
    afterAll(() => transcriber.close())

    it('finds the sentences that were spoken, and what they say', async () => {
      const said = ['turn the living room light off', 'what is the temperature in the living room']
      const parts = said.map(async sentence => joined(await spoken(sentence), silence(1.5)))
      const { heard, problems } = listen({
        command: recorded(silence(1), ...(await Promise.all(parts))),
        detector: transcriber.speechDetector(),
      })
      await eventually(() => problems).toHaveLength(1)
      const texts = await Promise.all(heard.map(pcm => transcriber.transcribe(readPcm(pcm))))
      expect(texts).toHaveLength(2)
      expect(wordErrors(said.join(' '), texts.join(' '))).toBeLessThanOrEqual(1)
    })
  })
})

describe('findMicrophone', () => {
  const listed = '[ "$1" = -l ] && echo "card 1: Device [USB Audio], device 0: USB Audio"'
  const none = 'echo "no soundcards found" >&2; exit 1'
  const rec = 'exit 0'
  it.each<[NodeJS.Platform, Record<string, string>, string]>([
    ['linux', { arecord: listed, rec }, 'arecord'],
    ['linux', { rec }, 'rec'],
    ['darwin', { arecord: listed, rec }, 'rec'],
    ['linux', { arecord: none, rec }, 'arecord lists no device: connect a microphone and check arecord -l'],
    ['linux', {}, 'no recorder found: install alsa-utils (arecord) or sox (rec)'],
    ['darwin', {}, 'no recorder found: install sox (rec)'],
  ])('on %s with %j: %s', async (platform, scripts, expected) => {
    const env = { ...programs(scripts).environment, LC_ALL: 'de_DE.UTF-8' }
    const found = await findMicrophone({ platform, env })
    expect('command' in found ? found.command.command : found.missing).toBe(expected)
  })
})
