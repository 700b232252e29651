import { describe, expect, it } from 'vitest'
import type { PlainMessage } from '../models/ai-client.ts'
import { ChatConversations } from './chat-conversations.ts'
import { KEPT_CHARACTERS, KEPT_CONVERSATIONS, KEPT_MESSAGES } from './limits.ts'

const user = (content: string): PlainMessage => ({ role: 'user', content })
const assistant = (content: string): PlainMessage => ({ role: 'assistant', content })

describe('conversations', () => {
  it('have one answer at a time', () => {
    const kept = new ChatConversations()
    const { id, release } = kept.place(undefined, 'claude/')
    expect(id).toMatch(/^claude\/[0-9a-f-]{36}$/)
    expect(kept.isBusy(id)).toBe(true)
    release()
    expect(kept.isBusy(id)).toBe(false)
    expect(kept.of(id)).toBeUndefined()
  })

  it('are bounded in number: the least recently used one goes', () => {
    const kept = new ChatConversations()
    kept.keep('first', [user('a')])
    for (let n = 0; n < KEPT_CONVERSATIONS - 1; n++) kept.keep(`other ${n}`, [])
    kept.keep('first', [user('b')])
    kept.keep('one more', [])
    expect(kept.of('first')).toEqual([user('b')])
    expect(kept.of('other 0')).toBeUndefined()
  })

  it('are bounded in length, and begin with a question', () => {
    const kept = new ChatConversations()
    const long = Array.from({ length: KEPT_MESSAGES }, (_, n) => [
      user(`${n}`),
      assistant('yes'),
      assistant('and?'),
    ])
    kept.keep('long', [{ role: 'system', content: 'Be kind.' }, ...long.flat()])
    const messages = kept.of('long') ?? []
    expect(messages.length).toBeLessThanOrEqual(KEPT_MESSAGES)
    expect(messages.length).toBeGreaterThan(KEPT_MESSAGES - 3)
    expect(messages[0]).toMatchObject({ role: 'user' })
    expect(messages.at(-1)).toEqual(assistant('and?'))
  })

  it('are bounded in size: what was said first goes, question by question', () => {
    const kept = new ChatConversations()
    const long = 'x'.repeat(KEPT_CHARACTERS / 5)
    const said = [1, 2, 3, 4].flatMap(n => [user(`${n} ${long}`), assistant(long)])
    kept.keep('huge', said)
    expect(kept.of('huge')).toEqual(said.slice(4).slice(0, 4))
    kept.keep('one', [user('x'.repeat(KEPT_CHARACTERS + 1))])
    expect(kept.of('one')).toEqual([])
  })
})
