import { OfflineClient } from 'toolpost/models'
import { fakeClock, recordingLogger } from 'toolpost/testing'
import { describe, expect, it } from 'vitest'
import { BackgroundTranscriber } from '../src/background-transcriber.ts'
import type { QuestionMessage } from '../src/bus/voice-bus.ts'
import type { Grammar } from '../src/listening/grammar.ts'
import type { Listened } from '../src/speech-to-text/transcriber.ts'
import { fakeTranscriber, lampExecutor, recordingBus, tonePcm } from './fakes.ts'
import { eventually } from './support/eventually.ts'

/** A home of one lamp, in which this is heard. */
function home(
  heard: Listened,
  options: { hasGrammar?: boolean; unspeakable?: string; before?: Listened[] } = {},
) {
  const { executor, done } = lampExecutor()
  const client = new OfflineClient({ executor })
  const versions: string[] = []
  const questions: QuestionMessage[] = []
  const bus = { ...recordingBus(), question: (message: QuestionMessage) => void questions.push(message) }
  const logger = recordingLogger()
  const clock = fakeClock()
  const background = new BackgroundTranscriber({
    transcriber: {
      ...fakeTranscriber(heard.text),
      listen: async (_samples, { graph, isClear }) => {
        versions.push(graph.version)
        return options.before?.find(hearing => isClear?.(hearing)) ?? heard
      },
    },
    grammar: options.hasGrammar === false ? undefined : async () => grammarWith(client, options.unspeakable),
    client,
    executor,
    bus,
    logger,
    clock,
  })
  const take = (utterance: { pcm: Uint8Array } | { text: string }) => {
    const taken = background.take(utterance)
    if (!taken.accepted) throw new Error(taken.reason)
    return taken.done
  }
  return {
    background,
    bus,
    clock,
    done,
    logger,
    questions,
    versions,
    say: (text: string) => take({ text }),
    speak: () => take({ pcm: tonePcm() }),
  }
}

/** The sentences of a client, and one more name for its lamp that can only be typed. */
function grammarWith(client: OfflineClient, name: string | undefined): Grammar {
  if (name === undefined) return client
  return {
    graph: () => client.graph(),
    understand: messages =>
      client.understand(
        messages.map(message => ({ ...message, content: String(message.content).replace(name, 'lamp') })),
      ),
    unspeakable: () => [name],
  }
}

const MISHEARD: Listened = {
  text: 'Don on the ramp.',
  score: -5,
  sentences: [
    { text: 'turn on the lamp', score: -5.2 },
    { text: 'turn off the lamp', score: -9 },
  ],
}
const CLOSE: Listened = {
  ...MISHEARD,
  sentences: [
    { text: 'turn on the lamp', score: -5.2 },
    { text: 'turn off the lamp', score: -5.6 },
  ],
}

describe('what is heard along the sentences', () => {
  it('is done, and told with what was heard freely', async () => {
    const { speak, done, bus, logger, versions } = home(MISHEARD)
    expect(await speak()).toMatchObject({ outcome: 'answered', question: 'turn on the lamp' })
    expect(done).toEqual(['on'])
    expect(versions).toHaveLength(1)
    const why = { free_text: 'Don on the ramp.', decision: 'sentence', margin: 3.8 }
    expect(bus.heard).toMatchObject([{ source: 'audio', text: 'turn on the lamp', ...why }])
    expect(JSON.stringify(logger.records)).toContain('"free_text":"Don on the ramp."')
  })

  it('is asked about if the contrary is nearly as likely, and done after a yes', async () => {
    const { speak, say, done, questions } = home(CLOSE)
    const answer = speak()
    await eventually(() => questions.map(({ text }) => text)).toEqual(['Did you mean "turn on the lamp"?'])
    expect(done).toEqual([])
    await say('yes')
    expect(await answer).toMatchObject({ outcome: 'answered', text: 'The lamp is on.' })
    expect(done).toEqual(['on'])
  })

  it.each([
    ['done if two hearings agree', 'turn on the lamp', ['on']],
    ['asked about if two hearings differ', 'turn off the lamp', []],
  ])('is %s, unless it was heard well', async (_, other, expected) => {
    const first = { ...MISHEARD, sentences: [{ text: other, score: -5.2 }] }
    const { speak, done, questions, clock } = home(MISHEARD, { before: [first, MISHEARD] })
    const answer = speak()
    await eventually(() => done.length + questions.length).toBe(1)
    expect(done).toEqual(expected)
    await clock.advance(60_000)
    await answer
    const verbatim = { ...MISHEARD, text: 'Turn on the lamp.' }
    const clear = home(first, { before: [verbatim] })
    await clear.speak()
    expect(clear.done).toEqual(['on'])
  })

  it('is not done after a no, something else, or silence', async () => {
    const { speak, say, done, questions, clock } = home(CLOSE)
    const asked = (count: number) => eventually(() => questions.length).toBe(count)
    const denied = speak()
    await asked(1)
    await say('no')
    expect(await denied).toMatchObject({ text: 'Nothing was done.', calls: [] })
    const silent = speak()
    await asked(2)
    await eventually(() => clock.pending).toBeGreaterThan(0)
    await clock.advance(8_000)
    expect(await silent).toMatchObject({ text: 'Nothing was done.', calls: [] })
    expect(done).toEqual([])
  })

  it.each([
    ['Turn on the lump pa.', /If you meant Лампа: I cannot recognize that name/],
    ['We had soup for dinner.', /^I did not understand that\. (?!If you meant)/],
  ])('may be a name of another alphabet, which cannot be said: %s', async (text, answer) => {
    const { speak, done } = home({ text, score: -3, sentences: [] }, { unspeakable: 'Лампа' })
    expect(await speak()).toMatchObject({ outcome: 'failed', text: expect.stringMatching(answer) })
    expect(done).toEqual([])
  })

  it('has the names that were told only where no sentence was heard', async () => {
    const free = { text: 'Ask the plaques.', score: -3, sentences: [] }
    const textOf = async (heard: Listened) => {
      const { speak, bus } = home(heard)
      await speak()
      return bus.heard[0]
    }
    expect(await textOf({ ...free, withNames: 'Ask Plex.' })).toMatchObject({
      text: 'Ask Plex.',
      free_text: 'Ask the plaques.',
      decision: 'free',
    })
    expect(await textOf({ ...MISHEARD, withNames: 'Don on Plex.' })).toMatchObject({
      text: 'turn on the lamp',
      decision: 'sentence',
    })
    expect(await textOf({ ...free, withNames: 'Turn on the lamp.' })).toMatchObject({ text: free.text })
  })

  it('is the free text alone without a grammar', async () => {
    const { speak, bus, versions } = home({ ...MISHEARD, text: 'Turn on the lamp.' }, { hasGrammar: false })
    expect(await speak()).toMatchObject({ text: 'The lamp is on.' })
    expect(bus.heard[0]).not.toHaveProperty('decision')
    expect(versions).toEqual([])
  })

  it('is handed on as it was heard to whoever cannot be asked', async () => {
    const { background } = home(CLOSE)
    expect(await background.hear({ pcm: tonePcm() })).toMatchObject({
      decision: 'ask',
      free_text: 'Don on the ramp.',
    })
  })
})
