import { describe, expect, it } from 'vitest'
import type { PlainMessage } from '../models/ai-client.ts'
import { ChatConversations } from './chat-conversations.ts'
import { KEPT_CHARACTERS, KEPT_CONVERSATIONS, KEPT_MESSAGES } from './limits.ts'

const user = (content: string): PlainMessage => ({ role: 'user', content })
const assistant = (content: string): PlainMessage => ({ role: 'assistant', content })

describe('conversations', () => {
  it('begin anew under a new id if the given one is not known', () => {
    const { id, messages } = new ChatConversations().open('made up')
    expect(id).not.toBe('made up')
    expect(messages).toEqual([])
  })

  it('are bounded in number: the least recently used one goes', () => {
    const kept = new ChatConversations()
    kept.keep('first', [user('a')])
    for (let n = 0; n < KEPT_CONVERSATIONS - 1; n++) kept.keep(`other ${n}`, [])
    kept.keep('first', [user('b')])
    kept.keep('one more', [])
    expect(kept.open('first').messages).toEqual([user('b')])
    expect(kept.open('other 0').id).not.toBe('other 0')
  })

  it('are bounded in length, and begin with a question', () => {
    const kept = new ChatConversations()
    const long = Array.from({ length: KEPT_MESSAGES }, (_, n) => [
      user(`${n}`),
      assistant('yes'),
      assistant('and?'),
    ])
    kept.keep('long', [{ role: 'system', content: 'Be kind.' }, ...long.flat()])
    const { messages } = kept.open('long')
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
    expect(kept.open('huge').messages).toEqual(said.slice(4).slice(0, 4))
    kept.keep('one', [user('x'.repeat(KEPT_CHARACTERS + 1))])
    expect(kept.open('one').messages).toEqual([])
  })
})
