import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Recording } from '../voice/recorder.ts'
import { MAX_RECORDING_MS, MIN_RECORDING_MS, Talk, type TalkParts } from './talk.ts'

/** A microphone, a gateway and a chat that do as they are told. */
function talkWith(parts: Partial<TalkParts> = {}) {
  const microphone = { opened: 0, closed: 0, lose: () => {} }
  const questions: string[] = []
  const talk = new Talk({
    record: async ({ onLost }) => {
      microphone.opened++
      microphone.lose = onLost
      let isOpen = true
      const close = () => {
        if (isOpen) microphone.closed++
        isOpen = false
      }
      return {
        level: () => 0.5,
        discard: close,
        finish: async () => {
          close()
          return new Blob(['sound'])
        },
      }
    },
    toWav: async blob => new Uint8Array(await blob.arrayBuffer()),
    transcribe: async wav => `heard ${Buffer.from(wav)}`,
    onWords: words => void questions.push(words),
    ...parts,
  })
  return { talk, microphone, questions, phase: () => talk.get().phase, notice: () => talk.get().notice }
}

async function held(talk: Talk, ms: number): Promise<void> {
  await talk.press()
  await vi.advanceTimersByTimeAsync(ms)
  talk.release()
  await vi.advanceTimersByTimeAsync(1_000)
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('holding to talk', () => {
  it('asks what was said, once, and closes the microphone', async () => {
    const { talk, questions, microphone, phase, notice } = talkWith()
    await held(talk, 2_000)
    expect(questions).toEqual(['heard sound'])
    expect(microphone).toMatchObject({ opened: 1, closed: 1 })
    expect([phase(), notice()]).toEqual(['idle', undefined])
  })

  it('takes what is shorter than 0.3 s for a click', async () => {
    const { talk, questions, microphone, notice } = talkWith()
    await held(talk, MIN_RECORDING_MS - 1)
    expect([questions, notice()]).toEqual([[], 'Hold the button while you speak.'])
    expect(microphone.closed).toBe(1)
    await held(talk, MIN_RECORDING_MS)
    expect([questions, notice()]).toEqual([['heard sound'], undefined])
  })

  it('sends by itself after a minute, and letting go then does nothing', async () => {
    const { talk, questions, phase } = talkWith()
    await talk.press()
    await vi.advanceTimersByTimeAsync(MAX_RECORDING_MS - 1)
    expect(phase()).toBe('recording')
    await vi.advanceTimersByTimeAsync(1_000)
    expect(questions).toEqual(['heard sound'])
    talk.release()
    await vi.advanceTimersByTimeAsync(MAX_RECORDING_MS)
    expect(questions).toHaveLength(1)
  })

  it('gives every recording its own minute', async () => {
    const { talk, phase } = talkWith()
    await held(talk, 500)
    await held(talk, 100)
    await talk.press()
    await vi.advanceTimersByTimeAsync(MAX_RECORDING_MS - 1)
    expect(phase()).toBe('recording')
  })

  it('records one at a time', async () => {
    const { talk, microphone } = talkWith()
    await Promise.all([talk.press(), talk.press()])
    await talk.press()
    expect(microphone.opened).toBe(1)
  })

  it('closes a microphone that comes after the button was let go', async () => {
    const discard = vi.fn()
    let give = () => {}
    const record = () =>
      new Promise<Recording>(resolve => {
        give = () => resolve({ level: () => 0, discard, finish: async () => new Blob() })
      })
    const { talk, phase, notice } = talkWith({ record })
    const pressed = talk.press()
    talk.release()
    give()
    await pressed
    expect(discard).toHaveBeenCalledOnce()
    expect([phase(), notice()]).toEqual(['idle', 'Hold the button while you speak.'])
  })

  it('says that the microphone was refused, even after the button was released', async () => {
    let refuse = () => {}
    const record = () =>
      new Promise<never>((_, reject) => {
        refuse = () => reject(new DOMException('', 'NotAllowedError'))
      })
    const { talk, notice, phase } = talkWith({ record })
    const pressed = talk.press()
    talk.release()
    refuse()
    await pressed
    expect([phase(), notice()]).toEqual(['idle', expect.stringContaining('blocked')])
  })

  it('says that the microphone went away', async () => {
    const { talk, microphone, notice, questions } = talkWith()
    await talk.press()
    microphone.lose()
    await vi.advanceTimersByTimeAsync(MAX_RECORDING_MS)
    expect([notice(), questions]).toEqual(['The microphone was disconnected.', []])
  })

  it.each(['finish', 'toWav', 'transcribe'])('asks nothing that was called off during %s', async step => {
    let isAborted = false
    const talkRef: { now?: Talk } = {}
    const callOff = <T>(value: T) => {
      talkRef.now?.cancel()
      return Promise.resolve(value)
    }
    const { talk, questions, phase } = talkWith({
      ...(step === 'toWav' && { toWav: () => callOff(new Uint8Array()) }),
      ...(step === 'transcribe' && {
        transcribe: (_wav, signal) => {
          signal.addEventListener('abort', () => {
            isAborted = true
          })
          return callOff('too late')
        },
      }),
    })
    talkRef.now = talk
    await talk.press()
    await vi.advanceTimersByTimeAsync(1_000)
    talk.release()
    if (step === 'finish') talk.cancel()
    await vi.advanceTimersByTimeAsync(1_000)
    expect([questions, phase()]).toEqual([[], 'idle'])
    expect(isAborted).toBe(step === 'transcribe')
  })

  it('says what the gateway said, and the next recording begins without that', async () => {
    const transcribe = vi
      .fn()
      .mockRejectedValueOnce(new Error('The gateway is not responding'))
      .mockResolvedValue('hello')
    const { talk, notice, questions, microphone } = talkWith({ transcribe })
    await held(talk, 500)
    expect(notice()).toBe('The gateway is not responding.')
    await held(talk, 500)
    expect([questions, notice()]).toEqual([['hello'], undefined])
    expect(microphone).toMatchObject({ opened: 2, closed: 2 })
  })
})
