import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { CallChannel } from './call-channel.ts'
import { ServerLostError } from './server-failure.ts'

interface Sent {
  id?: number
  method: string
  params: Record<string, unknown>
}

function channel(meta?: Record<string, unknown>, hasEnough = () => false) {
  const sent: Sent[] = []
  const stray: unknown[][] = []
  const calls = new CallChannel(
    {
      isStuck: () => false,
      hasEnough,
      send: message => sent.push(message as Sent) > 0,
      stray: (...given) => void stray.push(given),
    },
    meta,
  )
  const begin = (onProgress?: (progress: unknown) => void) => {
    const ends: unknown[] = []
    const id = calls.begin(
      'tools/call',
      { name: 'echo', arguments: { a: 1 } },
      { resolve: value => void ends.push(value), reject: error => void ends.push(error), onProgress },
    )
    return { id, ends }
  }
  return { calls, sent, stray, begin }
}

describe('CallChannel', () => {
  it('sends a call and hands its answer back, whatever kind of id the server makes of it', () => {
    const { calls, sent, begin } = channel()
    const first = begin()
    const second = begin()
    expect(sent[0]).toEqual({
      jsonrpc: '2.0',
      id: first.id,
      method: 'tools/call',
      params: { name: 'echo', arguments: { a: 1 } },
    })
    expect(calls.receive({ jsonrpc: '2.0', id: String(second.id), result: 2 })).toBe(true)
    expect(calls.receive({ jsonrpc: '2.0', id: first.id, error: { code: 1, message: 'no' } })).toBe(true)
    expect(first.ends).toEqual([expect.objectContaining({ message: 'no' })])
    expect(second.ends).toEqual([2])
  })

  it("leaves the SDK's own messages alone", () => {
    const { calls } = channel()
    expect(calls.receive({ jsonrpc: '2.0', id: 0, result: {} })).toBe(false)
    expect(calls.receive({ jsonrpc: '2.0', id: 'listen:0', result: {} })).toBe(false)
    expect(calls.receive({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })).toBe(false)
    expect(calls.receive({ jsonrpc: '2.0', id: 1_000_000, method: 'ping' })).toBe(false)
    expect(
      calls.receive({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 3 } }),
    ).toBe(false)
  })

  it('[F05 F07 F08] tells late answers from those to no call', () => {
    const { calls, stray, begin } = channel()
    const late = begin()
    calls.cancel(late.id, 'enough')
    calls.receive({ jsonrpc: '2.0', id: late.id, result: 1 })
    calls.receive({ jsonrpc: '2.0', id: late.id, result: 1 })
    expect(stray).toEqual([
      [late.id, true],
      [late.id, false],
    ])
    expect(late.ends).toEqual([])
  })

  it('asks for progress only where somebody wants it, and hands it on', () => {
    const { calls, sent, begin } = channel({ version: 'newest' })
    const seen: unknown[] = []
    const { id } = begin(progress => void seen.push(progress))
    begin()
    expect(sent.map(({ params }) => params._meta)).toEqual([
      { version: 'newest', progressToken: id },
      { version: 'newest' },
    ])
    const params = { progressToken: id, progress: 1, total: 2, message: 'half', extra: true }
    expect(calls.receive({ jsonrpc: '2.0', method: 'notifications/progress', params })).toBe(true)
    expect(
      calls.receive({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: id } }),
    ).toBe(true)
    expect(seen).toEqual([{ progress: 1, total: 2, message: 'half' }])
  })

  it('[F06] tells the server once that a call is cancelled', () => {
    const { calls, sent, begin } = channel()
    const { id } = begin()
    calls.cancel(id, 'enough')
    calls.cancel(id, 'enough')
    expect(sent.slice(1)).toEqual([
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id, reason: 'enough' } },
    ])
  })

  it('sends the calls that are too many for one turn in the next, in order, but for those given up', async () => {
    let enough = false
    const { calls, sent, begin } = channel(undefined, () => enough)
    const [first, second] = [begin(), begin()]
    enough = true
    const [third, fourth, fifth] = [begin(), begin(), begin()]
    enough = false
    const sixth = begin()
    expect(sent.map(({ id }) => id)).toEqual([first.id, second.id])
    calls.cancel(fourth.id, 'enough')
    calls.receive({ jsonrpc: '2.0', id: fifth.id, result: 'forged' })
    await turn()
    expect(sent.map(({ id }) => id)).toEqual([first.id, second.id, third.id, sixth.id])
    expect([fourth.ends, fifth.ends]).toEqual([[], ['forged']])
  })

  it('says of calls that still wait that they were never sent', () => {
    const { calls, sent, begin } = channel(undefined, () => true)
    const { ends } = begin()
    expect(calls.fail(new ServerLostError('gone'))).toBe(1)
    expect([sent, ends]).toEqual([[], [expect.objectContaining({ message: 'gone', neverSent: true })]])
  })

  it('does not keep a call that could not be sent', () => {
    const calls = new CallChannel({
      isStuck: () => false,
      hasEnough: () => false,
      send: () => {
        throw new Error('no JSON')
      },
      stray: () => {},
    })
    const call = { resolve: () => {}, reject: () => {}, onProgress: undefined }
    expect(() => calls.begin('echo', {}, call)).toThrow('no JSON')
    expect(calls.fail(new Error('gone'))).toBe(0)
  })
})
