import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fakeClock } from 'toolpost/testing'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { programs, temporaryFolder } from '../../test/support/programs.ts'
import { joined, silence, sound, spoken, tone } from '../../test/support/spoken.ts'
import { hasPart } from '../../test/support/system-parts.ts'
import { MoonshineTranscriber } from '../speech-to-text/moonshine-transcriber.ts'
import { findMicrophone } from './find-microphone.ts'
import { listenToMicrophone, type MicrophoneOptions } from './microphone.ts'
import { readPcm } from './read-pcm.ts'
import { writePcm } from './write-pcm.ts'

const loud = { probability: async (frame: Float32Array) => (Math.max(...frame) > 0.1 ? 0.9 : 0), reset() {} }
const beep = sound(0.64, tone(440, 0.5))

/** What a recorder writes, as a command that writes just that. */
function recorded(...parts: Float32Array[]) {
  const file = join(temporaryFolder(), 'sound.raw')
  writeFileSync(file, writePcm(joined(...parts)))
  return { command: 'cat', args: [file] }
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
    await vi.waitFor(() => expect(problems).toHaveLength(1))
    expect(heard.map(pcm => Math.round(readPcm(pcm).length / 1_600))).toEqual([16, 16])
  })

  it('starts the recorder again with growing delays, and says once that it ended', async () => {
    const counter = join(temporaryFolder(), 'starts')
    const { folder } = programs({ recorder: `echo x >> ${counter}; echo 'device unplugged' >&2; exit 1` })
    const { clock, problems } = listen({ command: { command: join(folder, 'recorder'), args: [] } })
    const starts = () => (existsSync(counter) ? readFileSync(counter, 'utf8').length / 2 : 0)
    for (const [before, delayMs] of [1_000, 2_000, 4_000, 8_000].entries()) {
      await vi.waitFor(() => expect(clock.pending).toBe(1))
      await clock.advance(delayMs - 1)
      expect([clock.pending, starts()]).toEqual([1, before + 1])
      await clock.advance(1)
      await vi.waitFor(() => expect(starts()).toBe(before + 2))
    }
    await vi.waitFor(() => expect(clock.pending).toBe(1))
    expect(problems).toEqual([
      `The recorder of the microphone, ${join(folder, 'recorder')}, ended: device unplugged`,
    ])
  })

  it('says so when there is no such recorder, and tries again', async () => {
    const { clock, problems } = listen({ command: { command: 'no-such-recorder', args: [] } })
    await vi.waitFor(() => expect(problems).toEqual([expect.stringContaining('ENOENT')]))
    expect(clock.pending).toBe(1)
  })

  it('hears again after the recorder came back, and reports the next failure anew', async () => {
    const { clock, heard, problems } = listen({ command: recorded(beep, silence(1)) })
    await vi.waitFor(() => expect(problems).toHaveLength(1))
    await clock.advance(1_000)
    await vi.waitFor(() => expect(problems).toHaveLength(2))
    expect(heard).toHaveLength(2)
  })

  it('hears nothing while it is muted, and forgets what had begun', async () => {
    let frames = 0
    const detector = {
      reset() {},
      probability: async (frame: Float32Array) => {
        frames++
        return loud.probability(frame)
      },
    }
    const command = recorded(beep, silence(1))
    const { heard, problems } = listen({ command, detector, isMuted: () => frames >= 10 })
    await vi.waitFor(() => expect(problems).toHaveLength(1))
    expect(heard).toEqual([])
    expect(frames).toBe(10)
  })

  it('lets the recorder wait where the detector is slow', async () => {
    const release: (() => void)[] = []
    const probability = () => new Promise<number>(resolve => release.push(() => resolve(0)))
    const { problems, listening } = listen({
      command: { command: 'cat', args: ['/dev/zero'] },
      detector: { probability, reset() {} },
    })
    await vi.waitFor(() => expect(release).toHaveLength(1))
    release[0]?.()
    await vi.waitFor(() => expect(release).toHaveLength(2))
    const closed = listening.close()
    release[1]?.()
    await closed
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
    await vi.waitFor(() => expect(problems).toHaveLength(2))
    expect(problems[0]).toBe('The speech detector failed: no model')
    expect(heard).toHaveLength(1)
  })

  it('reports nothing after it was closed', async () => {
    const { clock, heard, problems, listening } = listen({ command: { command: 'cat', args: ['/dev/zero'] } })
    await listening.close()
    expect([heard, problems, clock.pending]).toEqual([[], [], 0])
  })

  describe.skipIf(!hasPart('espeak-ng'))('with the real detector', () => {
    const transcriber = new MoonshineTranscriber()
    afterAll(() => transcriber.close())

    it('finds the sentences that were spoken, and what they say', async () => {
      const first = spoken('turn the living room light off')
      const second = spoken('what is the temperature in the living room')
      const { heard, problems } = listen({
        command: recorded(silence(1), first, silence(1.5), second, silence(1.5)),
        detector: transcriber.speechDetector(),
      })
      await vi.waitFor(() => expect(problems).toHaveLength(1), { timeout: 15_000 })
      const texts = await Promise.all(heard.map(pcm => transcriber.transcribe(readPcm(pcm))))
      expect(texts).toEqual([
        'Turn the living room light off.',
        'What is the temperature in the living room?',
      ])
    })
  })
})

describe('findMicrophone', () => {
  const listed = 'echo "card 1: Device [USB Audio], device 0: USB Audio"'

  it('takes arecord where it lists a device', async () => {
    const { environment: env } = programs({ arecord: `[ "$1" = -l ] && ${listed}`, rec: 'exit 0' })
    expect((await findMicrophone({ platform: 'linux', env }))?.command).toBe('arecord')
  })

  it('finds none where arecord lists no device', async () => {
    const { environment: env } = programs({
      arecord: 'echo "no soundcards found" >&2; exit 1',
      rec: 'exit 0',
    })
    expect(await findMicrophone({ platform: 'linux', env })).toBeUndefined()
  })

  it('takes rec where there is no arecord, and on other systems', async () => {
    const { environment: env } = programs({ rec: 'exit 0' })
    expect((await findMicrophone({ platform: 'linux', env }))?.command).toBe('rec')
    const { environment: both } = programs({ arecord: listed, rec: 'exit 0' })
    expect((await findMicrophone({ platform: 'darwin', env: both }))?.command).toBe('rec')
  })

  it('finds none where there is no program', async () => {
    const { environment: env } = programs({})
    expect(await findMicrophone({ platform: 'linux', env })).toBeUndefined()
  })
})
