import { type AiClient, ModelClient, ModelError, OfflineClient } from 'toolpost/models'
import { fakeClock, recordingLogger, scriptedModel } from 'toolpost/testing'
import { describe, expect, it, vi } from 'vitest'
import { BackgroundTranscriber, type BackgroundTranscriberOptions } from '../src/background-transcriber.ts'
import type { Utterance } from '../src/messages.ts'
import { SpeakerError } from '../src/speech-out/speaker.ts'
import { TranscriberError } from '../src/speech-to-text/transcriber.ts'
import { fakeTranscriber, lampExecutor, recordingBus, recordingSpeaker, tonePcm } from './fakes.ts'
import { waitFor } from './support/eventually.ts'

function voice(options: Partial<BackgroundTranscriberOptions> = {}) {
  const { executor, done } = lampExecutor()
  const bus = recordingBus()
  const speaker = recordingSpeaker()
  const logger = recordingLogger()
  const background = new BackgroundTranscriber({
    transcriber: fakeTranscriber(),
    client: new OfflineClient(),
    executor,
    speaker,
    bus,
    logger,
    ...options,
  })
  return { background, bus, speaker, logger, executor, done }
}

async function answerTo(background: BackgroundTranscriber, utterance: Utterance) {
  const taken = background.take(utterance)
  if (!taken.accepted) throw new Error(taken.reason)
  return taken.done
}

function sayingYes() {
  const answer = { text: 'yes', messages: [], results: [], iterations: 1 }
  return vi.fn<AiClient['ask']>(async () => ({ ...answer, stopReason: 'answer' }))
}

/** A client that answers when the test lets it. */
function heldClient(text = 'It is done.') {
  const releases: (() => void)[] = []
  const client: AiClient = {
    ask: async (prompt, options) => {
      await new Promise<void>(resolve => releases.push(resolve))
      options?.onToken?.(text)
      const asked = typeof prompt === 'string' ? [] : prompt
      return { text, messages: [...asked], results: [], iterations: 1, stopReason: 'answer' }
    },
  }
  return { client, releases }
}

describe('tools', () => {
  it('tells which calls were made, and how each ended', async () => {
    const { background, bus } = voice()
    const utterance = { text: 'turn the lamp on', conversation: 'kitchen', id: 'mine' }
    await answerTo(background, utterance)
    const [ms, { text: question, ...names }] = [expect.any(Number), utterance]
    const calls = [{ name: 'lamp', args: { action: 'on' }, success: true }]
    const durations = { waitMs: ms, answerMs: ms, totalMs: ms }
    const answer = { outcome: 'answered', question, text: 'The lamp is on.', calls, durations }
    expect(bus.answers).toMatchObject([{ ...names, ...answer }])
  })
})

describe('hearing', () => {
  it('hands over the sentence as it was matched, with the room it was said in', async () => {
    const ask = sayingYes()
    const meaning = { steps: [] }
    const said = { text: 'turn on the lamp', score: -1 }
    const listen = async () => ({ text: 'Turn on the lamp.', score: -1, sentences: [said] })
    const grammar = async () => ({
      graph: () => ({ version: '1', rules: [] }),
      understand: () => ({ kind: 'act' as const, key: 'lamp on', changes: true, free: 0, meaning }),
    })
    const { background } = voice({ client: { ask }, transcriber: { ...fakeTranscriber(), listen }, grammar })
    await answerTo(background, { pcm: tonePcm(), area: 'Kitchen' })
    expect(ask.mock.calls[0]?.[1]?.meaning).toBe(meaning)
    expect(ask.mock.calls[0]?.[1]?.area).toBe('Kitchen')
  })

  const useless: [string, Utterance, RegExp][] = [
    ['an empty text', { text: '  ' }, /empty/],
    ['a text without end', { text: 'a'.repeat(10_001) }, /more than 10000 characters/],
    ['too short', { pcm: tonePcm(0.1) }, /0\.1 s/],
    ['silence', { pcm: new Uint8Array(32_000) }, /quiet|silent/],
    ['a file that is not audio', { wav: new TextEncoder().encode('<html>hello</html>') }, /WAV/],
    ['audio without words', { pcm: tonePcm() }, /contains no speech/],
  ]
  it.each(useless)('drops %s with a reason, and asks nobody', async (_, utterance, reason) => {
    const ask = vi.fn<AiClient['ask']>()
    const { background, bus, speaker } = voice({ client: { ask } })
    const response = await answerTo(background, utterance)
    expect(response).toMatchObject({ outcome: 'dropped', text: '', error: expect.stringMatching(reason) })
    expect(bus.heard).toMatchObject([{ text: '', dropped: expect.stringMatching(reason) }])
    expect(bus.answers).toEqual([response])
    expect(ask).not.toHaveBeenCalled()
    expect(speaker.said).toEqual([])
  })

  it('goes on after a transcriber that failed, and says so in a sentence', async () => {
    const transcriber = fakeTranscriber(new TranscriberError('The model is gone'), 'turn on the lamp')
    const { background, speaker, logger } = voice({ transcriber })
    const failed = { outcome: 'failed', error: 'The model is gone' }
    expect(await answerTo(background, { pcm: tonePcm() })).toMatchObject(failed)
    await answerTo(background, { pcm: tonePcm() })
    expect(speaker.said).toEqual(['Sorry, I could not make out what you said.', 'The lamp is on.'])
    expect(logger.at('warn')).toMatchObject([{ fields: { error: 'The model is gone' } }])
  })
})

describe('the queue', () => {
  it('keeps the order and answers one at a time', async () => {
    const { client, releases } = heldClient()
    const { background, bus } = voice({ client })
    for (const text of ['one', 'two', 'three']) background.take({ text })
    for (let round = 0; round < 3; round++) {
      await waitFor(() => expect(releases).toHaveLength(1))
      releases.shift()?.()
      await waitFor(() => expect(bus.answers).toHaveLength(round + 1))
    }
    expect(bus.answers.map(({ question }) => question)).toEqual(['one', 'two', 'three'])
  })

  it('is bounded: what is too much is refused with a reason', async () => {
    const { client, releases } = heldClient()
    const { background } = voice({ client, queueLimit: 2 })
    const taken = ['being answered', 'waits', 'waits too', 'too much'].map(text => background.take({ text }))
    expect(taken.map(({ accepted }) => accepted)).toEqual([true, true, true, false])
    expect(taken[3]).toEqual({ accepted: false, reason: '2 utterances are already waiting' })
    await waitFor(() => expect(releases).toHaveLength(1))
    releases.shift()?.()
    await background.close()
  })

  it('closes: takes nothing more, lets the answer under way end, tells those who wait', async () => {
    const { client, releases } = heldClient()
    const { background, bus } = voice({ client })
    background.take({ text: 'under way' })
    background.take({ text: 'waits' })
    await waitFor(() => expect(releases).toHaveLength(1))
    const closed = background.close()
    expect(background.take({ text: 'late' })).toMatchObject({ accepted: false })
    releases.shift()?.()
    await closed
    const failed = { outcome: 'failed', error: 'the voice gateway was closed' }
    expect(bus.answers).toMatchObject([failed, { outcome: 'answered' }])
  })

  it('a client that never answers is stopped when the time to close is over', async () => {
    const clock = fakeClock()
    const client = new ModelClient({ model: scriptedModel({ hangs: true }), clock })
    const { background, bus } = voice({ client, clock })
    background.take({ text: 'hang' })
    const closed = background.close()
    await clock.advance(10_000)
    await closed
    expect(bus.answers).toMatchObject([{ outcome: 'failed', error: 'the voice gateway was closed' }])
  })
})

describe('speaking', () => {
  it('speaks sentence by sentence while the answer still streams', async () => {
    let finish = () => {}
    const client: AiClient = {
      ask: async (_, options) => {
        options?.onToken?.('The lamp is on. And the')
        await new Promise<void>(resolve => {
          finish = resolve
        })
        options?.onToken?.(' door is shut.')
        const text = 'The lamp is on. And the door is shut.'
        return { text, messages: [], results: [], iterations: 1, stopReason: 'answer' }
      },
    }
    const { background, speaker } = voice({ client })
    const answered = answerTo(background, { text: 'how is it' })
    await waitFor(() => expect(speaker.said).toEqual(['The lamp is on.']))
    finish()
    await answered
    expect(speaker.said).toEqual(['The lamp is on.', 'And the door is shut.'])
  })

  it('says one filler if an answer takes more than 1.5 s, and none if it does not', async () => {
    const clock = fakeClock()
    const { client, releases } = heldClient()
    const { background, speaker } = voice({ client, clock })
    const answered = answerTo(background, { text: 'slow' })
    await clock.advance(1_499)
    expect(speaker.said).toEqual([])
    await clock.advance(1)
    expect(speaker.said).toEqual(['One moment.'])
    await clock.advance(10_000)
    releases.shift()?.()
    await answered
    const quick = answerTo(background, { text: 'quick' })
    await clock.advance(100)
    releases.shift()?.()
    await quick
    expect(speaker.said).toEqual(['One moment.', 'It is done.', 'It is done.'])
  })

  it('is interrupted by a new utterance, which is answered then', async () => {
    const speaker = recordingSpeaker({ holds: true })
    const { background, done } = voice({ speaker })
    const first = answerTo(background, { text: 'turn on the lamp' })
    await waitFor(() => expect(speaker.said).toEqual(['The lamp is on.']))
    const second = answerTo(background, { text: 'turn off the lamp' })
    await first
    expect(speaker.interrupted).toEqual(['The lamp is on.'])
    await waitFor(() => expect(speaker.said).toEqual(['The lamp is on.', 'The lamp is off.']))
    speaker.release()
    await second
    expect(done).toEqual(['on', 'off'])
    expect(speaker.interrupted).toEqual(['The lamp is on.'])
  })

  it('is not interrupted by what turns out to be noise', async () => {
    const speaker = recordingSpeaker({ holds: true })
    const { background } = voice({ speaker })
    const first = answerTo(background, { text: 'turn on the lamp' })
    await waitFor(() => expect(speaker.said).toEqual(['The lamp is on.']))
    const noise = answerTo(background, { pcm: tonePcm() })
    await new Promise(resolve => setImmediate(resolve))
    speaker.release()
    await first
    expect(await noise).toMatchObject({ outcome: 'dropped' })
    expect(speaker.interrupted).toEqual([])
  })

  it('is silent about what it overheard and did not understand; what it understood it answers', async () => {
    const { background, speaker } = voice()
    const overheard = true
    const failed = { outcome: 'failed', error: 'it was not understood' }
    expect(await answerTo(background, { text: 'pass me the salt', overheard })).toMatchObject(failed)
    await answerTo(background, { text: 'turn on the lamp', overheard })
    await answerTo(background, { text: 'pass me the salt' })
    expect(speaker.said.slice(0, 2)).toEqual(['The lamp is on.', 'I did not understand that.'])
  })

  /** Of another copy of Toolpost. */
  const foreignError = Object.assign(new Error('x'), { name: 'ModelError', code: 'overloaded' })
  const failures: [string, unknown, string][] = [
    ['a model that is not there', new ModelError('unreachable', 'x'), 'I cannot reach the language model.'],
    ['nonsense', new ModelError('invalid_response', 'x'), 'The language model gave no usable answer.'],
    ['a busy model', foreignError, 'The language model is too busy right now.'],
    ['a defect', new TypeError('x is not a function'), 'Sorry, something went wrong on my side.'],
  ]
  it.each(failures)('says %s in one plain sentence', async (_, error, sentence) => {
    const client: AiClient = { ask: () => Promise.reject(error) }
    const { background, speaker } = voice({ client })
    const response = await answerTo(background, { text: 'hello' })
    expect(response).toMatchObject({ outcome: 'failed', text: sentence, error: (error as Error).message })
    expect(speaker.said).toEqual([sentence])
  })

  it('says what an answer without words means, and what one is worth that broke off', async () => {
    const replies = [
      { text: '', stopReason: 'answer' },
      { text: 'I could not answer within 60 seconds.', stopReason: 'time_limit' },
    ] as const
    for (const reply of replies) {
      const client: AiClient = { ask: async () => ({ messages: [], results: [], iterations: 1, ...reply }) }
      const { background, speaker } = voice({ client })
      expect(await answerTo(background, { text: 'hello' })).toMatchObject({ outcome: 'failed' })
      expect(speaker.said).toEqual([reply.text || 'I have no answer to that.'])
    }
  })

  it('a speaker that fails is told once, until it works again; the answers come as text', async () => {
    const speaker = recordingSpeaker()
    let isBroken = true
    const notices: string[] = []
    const { background, bus, logger } = voice({
      onNotice: notice => notices.push(notice),
      speaker: {
        ...speaker,
        play: (wav, options) =>
          isBroken ? Promise.reject(new SpeakerError('no sound card')) : speaker.play(wav, options),
      },
    })
    for (const broken of [true, true, false, true]) {
      isBroken = broken
      await answerTo(background, { text: 'turn on the lamp' })
    }
    expect(bus.answers).toHaveLength(4)
    expect(logger.at('warn').map(({ fields }) => fields.error)).toEqual(['no sound card', 'no sound card'])
    expect(notices).toEqual(Array(2).fill('Cannot speak, so answers are text only: no sound card'))
  })
})

describe('conversations', () => {
  it('remember what was said in them, and nothing of others', async () => {
    const model = scriptedModel('Hello Ann.', 'Hello Bob.', 'You are Ann.')
    const { background } = voice({ client: new ModelClient({ model }) })
    await answerTo(background, { text: 'I am Ann', conversation: 'kitchen' })
    await answerTo(background, { text: 'I am Bob', conversation: 'bath' })
    await answerTo(background, { text: 'who am I', conversation: 'kitchen' })
    const read = model.turns[2]?.messages.map(({ content }) => content)
    expect(read?.slice(1)).toEqual(['I am Ann', 'Hello Ann.', 'who am I'])
  })
})
