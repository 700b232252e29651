import { expect, it, vi } from 'vitest'
import { HttpMessages } from './http-messages.ts'

it('[F49] a long answer that nobody waits for any more is not read on', async () => {
  const events = { stray: vi.fn(), problem: vi.fn() }
  const messages = new HttpMessages(events)
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call' } as const
  const request = messages.sent(call)
  const text = `{"jsonrpc":"2.0","id":1,"result":[${'{},'.repeat(100_000)}{}]}`
  const reading = messages.read(text, request)
  messages.sent({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
  expect(await reading).toEqual([])
  // It would be a late answer if it had been read.
  expect(events.stray).not.toHaveBeenCalled()
})
