import type { ChatCall } from 'toolpost/gateway'
import { describe, expect, it } from 'vitest'
import { type Answer, answerAfter, type ChatEvent, emptyAnswer, spokenText } from './chat-answer.ts'

function after(...events: ChatEvent[]): Answer {
  return events.reduce(answerAfter, emptyAnswer)
}

const start: ChatCall = { phase: 'start', id: 'c1', name: 'echo', args: { x: 1 } }
const end: ChatCall = {
  ...start,
  phase: 'end',
  result: { success: true, result: 1, tool_name: 'echo', execution_time_ms: 1 },
}
const finished = { text: 'Hello.', conversation: 'k', stopReason: 'answer', model: 'offline' } as const

describe('an answer of the chat', () => {
  it('notes that the model is being loaded, until it is', () => {
    const loading = { kind: 'loading', model: 'qwen3:0.6b', elapsedMs: 3_100 } as const
    expect(after(loading).note).toBe('Loading qwen3:0.6b … 3 s')
    expect(after(loading, { kind: 'loaded' }).note).toBeUndefined()
  })

  it('keeps words and calls in the order in which they came', () => {
    const { parts } = after(
      { kind: 'token', text: 'Let me ' },
      { kind: 'token', text: 'see.' },
      { kind: 'call', call: start },
      { kind: 'call', call: end },
      { kind: 'token', text: 'Done.' },
    )
    expect(parts).toEqual([
      { kind: 'text', text: 'Let me see.' },
      { kind: 'call', call: end },
      { kind: 'text', text: 'Done.' },
    ])
  })

  it('keeps the end of a call, in whatever order its events come', () => {
    const { parts } = after({ kind: 'call', call: end }, { kind: 'call', call: start })
    expect(parts).toEqual([{ kind: 'call', call: end }])
  })

  it('shows the whole text if nothing was streamed, and never twice', () => {
    expect(after({ kind: 'end', end: finished }).parts).toEqual([{ kind: 'text', text: 'Hello.' }])
    expect(after({ kind: 'token', text: 'Hello.' }, { kind: 'end', end: finished }).parts).toHaveLength(1)
  })

  it('says why it ended without an answer', () => {
    const limited = after({ kind: 'end', end: { ...finished, stopReason: 'time_limit' } })
    expect(limited).toMatchObject({ state: 'done', note: 'Stopped: time limit reached.' })
    expect(after({ kind: 'end', end: { ...finished, error: 'Ollama is down' } })).toMatchObject({
      state: 'failed',
      note: 'Ollama is down',
    })
  })

  it('that breaks off is not taken for a whole one', () => {
    expect(after({ kind: 'token', text: 'Hel' }, { kind: 'closed' }).state).toBe('failed')
    expect(after({ kind: 'token', text: 'Hel' }, { kind: 'stopped' }).state).toBe('stopped')
    expect(after({ kind: 'end', end: finished }, { kind: 'closed' }).state).toBe('done')
  })

  it('is read aloud without its calls; if there is none, the reason is', () => {
    const whole = after(
      { kind: 'token', text: 'Let me see.' },
      { kind: 'call', call: end },
      { kind: 'token', text: 'Done.' },
      { kind: 'end', end: finished },
    )
    expect(spokenText(whole)).toBe('Let me see. Done.')
    expect(spokenText(after({ kind: 'broken', message: 'It broke off.' }))).toBe('It broke off.')
    expect(spokenText(after({ kind: 'token', text: 'Hel' }, { kind: 'stopped' }))).toBe('')
  })
})
