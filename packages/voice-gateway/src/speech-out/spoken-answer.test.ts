import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../test/support/programs.ts'
import { hasPart } from '../../test/support/system-parts.ts'
import { findSpeaker } from './find-speaker.ts'
import { type Speaker, SpeakerError } from './speaker.ts'
import { SpokenAnswer } from './spoken-answer.ts'
import { espeakVoice } from './voices.ts'
import { wavParts } from './wav-file.ts'

interface Gate {
  resolve(): void
  reject(error: unknown): void
}

/** A speaker that does only what it is told to; its sounds are the texts themselves. */
function recordingSpeaker() {
  const log: string[] = []
  const open = new Map<string, Gate>()
  const wait = (step: string) => {
    log.push(step)
    return new Promise<void>((resolve, reject) => open.set(step, { resolve, reject }))
  }
  const speaker: Speaker = {
    name: 'recording',
    synthesize: async sentence => {
      await wait(`make ${sentence}`)
      return Buffer.from(sentence)
    },
    play: wav => wait(`play ${Buffer.from(wav)}`),
  }
  const settle = async (step: string, how: (gate: Gate) => void) => {
    const gate = open.get(step)
    if (!gate) throw new Error(`"${step}" has not begun; so far: ${log.join(', ')}`)
    how(gate)
    await setImmediate()
  }
  return {
    speaker,
    log,
    finish: (step: string) => settle(step, gate => gate.resolve()),
    fail: (step: string, error: unknown) => settle(step, gate => gate.reject(error)),
  }
}

function start() {
  const stop = new AbortController()
  const problems: unknown[] = []
  const { speaker, ...control } = recordingSpeaker()
  const answer = new SpokenAnswer({ speaker, signal: stop.signal, onProblem: error => problems.push(error) })
  return { answer, stop, problems, ...control }
}

describe('SpokenAnswer', () => {
  it('makes a sentence into sound as soon as it is whole, and the next ones while it plays', async () => {
    const { answer, log, finish } = start()
    answer.add('One. ')
    expect(log).toEqual([])
    answer.add('Two. Thr')
    expect(log).toEqual(['make One.', 'make Two.'])
    await finish('make One.')
    expect(log.slice(2)).toEqual(['play One.'])
    answer.add('ee. Four. Five.')
    expect(log.slice(3)).toEqual(['make Three.'])
    await finish('play One.')
    expect(log.slice(4)).toEqual([])
    await finish('make Two.')
    expect(log.slice(4)).toEqual(['make Four.', 'play Two.'])
  })

  it('plays in order, whichever sound is ready first, and ends when all was heard', async () => {
    const { answer, log, finish } = start()
    answer.add('One. Two')
    let isOver = false
    const end = answer.end().then(() => {
      isOver = true
    })
    await finish('make Two')
    expect(log).toEqual(['make One.', 'make Two'])
    await finish('make One.')
    await finish('play One.')
    expect(log.slice(2)).toEqual(['play One.', 'play Two'])
    expect(isOver).toBe(false)
    await finish('play Two')
    await end
    expect(isOver).toBe(true)
  })

  it('has begun when the first sound is played, and not with one that is empty', async () => {
    const { answer, finish } = start()
    answer.add('One. ')
    answer.add('Two.')
    expect(answer.hasBegun).toBe(false)
    await finish('make One.')
    expect(answer.hasBegun).toBe(true)
    await finish('play One.')
    expect(answer.hasBegun).toBe(true)
    const empty: Speaker = { name: 'mute', synthesize: async () => new Uint8Array(), play: async () => {} }
    const { signal } = new AbortController()
    const mute = new SpokenAnswer({ speaker: empty, signal, onProblem: expect.unreachable })
    mute.say('Nothing.')
    await mute.end()
    expect(mute.hasBegun).toBe(false)
  })

  it('says a sentence of our own before the answer goes on', async () => {
    const { answer, log, finish } = start()
    answer.add('Half a sent')
    answer.say('One moment.')
    await finish('make One moment.')
    await finish('play One moment.')
    answer.add('ence. Done')
    expect(log.slice(2)).toEqual(['make Half a sentence.'])
  })

  it('stops at once when it is interrupted, and forgets the rest', async () => {
    const { answer, stop, log, finish, problems } = start()
    answer.add('One. Two. Three. Four. ')
    await finish('make One.')
    const end = answer.end()
    stop.abort()
    await end
    answer.add('Five. Six.')
    answer.say('Seven.')
    await finish('make Two.')
    await finish('play One.')
    expect(log).toEqual(['make One.', 'make Two.', 'make Three.', 'play One.'])
    expect(problems).toEqual([])
  })

  it.each(['make Two.', 'play One.'])(
    'tells a problem once and leaves the rest unspoken (%s)',
    async step => {
      const { answer, log, finish, fail, problems } = start()
      answer.add('One. Two. Three. Four.')
      await finish('make One.')
      const error = new SpeakerError('no sound card')
      if (step === 'make Two.') await finish('play One.')
      await fail(step, error)
      await answer.end()
      answer.say('Five.')
      expect(problems).toEqual([error])
      expect(log).not.toContain('make Five.')
      expect(log).not.toContain('play Three.')
    },
  )

  it('treats a speaker that throws as a problem too', async () => {
    const problems: unknown[] = []
    const broken = () => {
      throw new Error('broken')
    }
    const speaker: Speaker = { name: 'broken', synthesize: broken, play: broken }
    const { signal } = new AbortController()
    const answer = new SpokenAnswer({ speaker, signal, onProblem: error => problems.push(error) })
    answer.say('Hello.')
    await answer.end()
    expect(problems).toEqual([new Error('broken')])
  })

  it('leaves out what a voice cannot say', async () => {
    const { answer, log } = start()
    answer.add('**Hello.**\n---\n```sh\nrm -rf /\n')
    answer.add('```\n😀\nBye.')
    answer.end()
    expect(log).toEqual(['make Hello.', 'make Bye.'])
  })

  it.each([
    [
      'On are:\n- Kitchen\n- **Bath**\n* Hall\nAnd that is all.',
      'On are:|Kitchen, Bath and Hall|And that is all.',
    ],
    ['1. Kitchen\n2. Bath\n', 'Kitchen and Bath'],
    ['- Kitchen', 'Kitchen'],
    ['- It is on.\n- It is off.', 'It is on.|It is off.'],
    ['- 3 lamps\n\nDone', '3 lamps|Done'],
  ])('says the items of a list in one sentence: %j', async (text, said) => {
    const log: string[] = []
    const speaker: Speaker = {
      name: 'recording',
      synthesize: async sentence => {
        log.push(sentence)
        return new Uint8Array()
      },
      play: async () => {},
    }
    const { signal } = new AbortController()
    const answer = new SpokenAnswer({ speaker, signal, onProblem: expect.unreachable })
    answer.add(text)
    await answer.end()
    expect(log.join('|')).toBe(said)
  })

  it('says nothing if there is no speaker', async () => {
    const onProblem = (error: unknown) => expect.unreachable(String(error))
    const answer = new SpokenAnswer({ speaker: undefined, signal: new AbortController().signal, onProblem })
    answer.add('Hello. There.')
    answer.say('One moment.')
    await answer.end()
    expect(answer.hasBegun).toBe(false)
  })

  it('can be ended while nothing was said, and after an interruption', async () => {
    const { answer, stop } = start()
    await answer.end()
    stop.abort()
    await answer.end()
  })

  it.runIf(hasPart('espeak-ng'))('speaks a whole answer with espeak-ng into a file', async () => {
    const outFile = join(temporaryFolder(), 'answer.wav')
    const speaker = await findSpeaker({ voice: 'espeak-ng', language: 'en-us', outFile })
    const { signal } = new AbortController()
    const answer = new SpokenAnswer({
      speaker,
      signal,
      onProblem: error => expect.unreachable(String(error)),
    })
    for (const token of ['The kitchen', ' light is', ' on. It is', ' 21.5 °C', ' there.']) answer.add(token)
    await answer.end()
    const sentences = ['The kitchen light is on.', 'It is 21.5 degrees Celsius there.']
    const voice = espeakVoice({ language: 'en-us' })
    const sounds = await Promise.all(sentences.map(sentence => voice.synthesize(sentence, { signal })))
    expect(wavParts(readFileSync(outFile)).samples).toEqual(
      Buffer.concat(sounds.map(sound => wavParts(sound).samples)),
    )
    expect(answer.hasBegun).toBe(true)
  })
})
