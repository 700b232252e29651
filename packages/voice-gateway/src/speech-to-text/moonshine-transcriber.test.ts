import { defineTool, ToolExecutor, ToolManager } from 'toolpost'
import { OfflineClient } from 'toolpost/models'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { wordErrors, wordsIn } from '../../../../bench/voice/word-errors.mjs'
import { joined, noise, silence, sound, spoken, tone } from '../../test/support/spoken.ts'
import { hasPart } from '../../test/support/system-parts.ts'
import { MoonshineTranscriber } from './moonshine-transcriber.ts'
import { FRAME_SAMPLES } from './speech-detector.ts'

const sentences = [
  'turn on switch one',
  'turn the living room light off',
  'dim the living room light to thirty percent',
  'is the front door open',
  'what is the temperature in the living room',
  'switch on the kitchen light',
  'what time is it',
  'set the volume to forty percent',
  'which lights are on',
]

/** Some 20 s without a pause: two pieces. */
const REPEATS = 4

const transcriber = new MoonshineTranscriber()
const hasVoice = hasPart('espeak-ng')
beforeAll(() => transcriber.ready(), 60_000)
afterAll(() => transcriber.close())

/** The share of words that were understood wrongly. */
async function errorRate(recordings: { said: string; samples: Float32Array }[]): Promise<number> {
  let errors = 0
  for (const { said, samples } of recordings)
    errors += wordErrors(said, await transcriber.transcribe(samples))
  return errors / recordings.flatMap(({ said }) => wordsIn(said)).length
}

describe.skipIf(!hasVoice)('what is heard of spoken sentences', () => {
  it('is wrong in less than three words of ten', async () => {
    const recordings = await Promise.all(sentences.map(async said => ({ said, samples: await spoken(said) })))
    expect(await errorRate(recordings)).toBeLessThan(0.3)
  })

  it('is all of it in more speech without a pause than the model takes at a time', async () => {
    const sentence =
      'turn off all the lights in the house and tell me what the temperature in the living room is '
    const samples = await spoken(sentence.repeat(REPEATS).trim())
    const words = wordsIn(await transcriber.transcribe(samples)).length
    expect(words / wordsIn(sentence.repeat(REPEATS)).length).toBeGreaterThan(0.85)
  })
})

describe('what is heard where nobody speaks', () => {
  const melody = [262, 294, 330, 349, 392, 440, 494, 523]
  it.each<[string, Float32Array]>([
    ['silence', silence(3)],
    ['noise', sound(3, noise(0.3))],
    ['mains hum', sound(3, time => tone(50, 0.2)(time) + tone(150, 0.05)(time))],
    ['a melody', sound(3, time => tone(melody[Math.floor(time * 3) % 8] ?? 0, 0.3)(time))],
    ['a moment', silence(0.01)],
  ])('is nothing: %s', async (_name, samples) => {
    expect(await transcriber.transcribe(samples)).toBe('')
  })
})

describe.skipIf(!hasVoice)('the speech detector', () => {
  /** Whether somebody speaks, frame by frame; all are asked about at once. */
  async function speechIn(samples: Float32Array): Promise<boolean[]> {
    const detector = transcriber.speechDetector()
    const frames = Array.from({ length: Math.floor(samples.length / FRAME_SAMPLES) }, (_, index) =>
      samples.subarray(index * FRAME_SAMPLES, (index + 1) * FRAME_SAMPLES),
    )
    const probabilities = await Promise.all(frames.map(frame => detector.probability(frame)))
    return probabilities.map(probability => probability >= 0.5)
  }

  it('knows speech from silence', async () => {
    const speech = await speechIn(
      joined(silence(1), await spoken('turn the living room light off'), silence(1)),
    )
    expect(speech.slice(0, 30)).not.toContain(true)
    expect(speech.slice(-25)).not.toContain(true)
    expect(speech.filter(Boolean).length).toBeGreaterThan(40)
  })
})

describe.skipIf(!hasVoice)('what is heard along sentences', () => {
  const device = '(switch one|demo switch|living room light)'
  const sentences = [
    `turn (on|off) [the] ${device}`,
    `turn [the] ${device} (on|off)`,
    'dim the living room light to (thirty|thirteen|fifty|fifteen) percent',
  ]
  const client = new OfflineClient()
  beforeAll(() => client.load())
  const listen = async (said: string) => {
    const tool = defineTool({ name: 'home', description: 'A home', schema: {}, sentences, handler: () => '' })
    const executor = new ToolExecutor(new ToolManager({ tools: [tool] }))
    return transcriber.listen(await spoken(said), { graph: client.graph({ executor }) })
  }

  it('is the sentence, in its own words, before any other', async () => {
    for (const said of ['turn the demo switch on', 'dim the living room light to fifty percent']) {
      const { sentences: heard, score } = await listen(said)
      expect(heard[0]?.text).toBe(said)
      expect(score - Number(heard[0]?.score)).toBeLessThan(10)
    }
  })

  it('is nothing near for other speech', async () => {
    const said = 'the meeting was moved to thursday afternoon'
    const { text, score, sentences: heard } = await listen(said)
    expect(wordErrors(said, text)).toBeLessThan(4)
    expect(score - Number(heard[0]?.score ?? Number.NEGATIVE_INFINITY)).toBeGreaterThan(10)
  })
})

describe('the base model', () => {
  it('says how to install it', async () => {
    const base = new MoonshineTranscriber({ model: 'base' })
    await expect(base.ready()).rejects.toThrow('npm install @usefulsensors/moonshine-js@0.1.16')
  })
})
