import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { echoTool, eventReader, type TestGateway, testGateway } from '../../test/gateway.ts'
import { startHostile } from '../../test/hostile-server/harness.ts'
import { unharmed } from '../../test/unharmed.ts'
import type { ServerStatus } from '../mcp/server-status.ts'
import { fakeClock } from '../testing/index.ts'
import { EventHub } from './event-hub.ts'
import { EVENT_FLUSH_MS, EVENT_SHARE, HEARTBEAT_MS, TOLD_AT_ONCE } from './limits.ts'

const watch = async (gateway: TestGateway, headers: Record<string, string> = {}) =>
  eventReader(await gateway.get('/api/events', headers))

const callEcho = (gateway: TestGateway, n: number) => gateway.post('/api/tools/echo/call', { n })

describe('GET /api/events', () => {
  it('tells of a call as it begins and as it ends', async () => {
    await using gateway = testGateway()
    const events = await watch(gateway)
    await callEcho(gateway, 1)
    const begun = await events.until(({ type }) => type === 'call')
    expect(begun).toMatchObject({ data: { tool: 'echo', args: { n: 1 } } })
    expect(await events.next()).toMatchObject({
      type: 'call',
      data: { serial: begun.data.serial, result: { success: true } },
    })
  })

  it('tells of tools that come, and of servers that die and come back', async () => {
    await using hostile = await startHostile()
    await using gateway = testGateway([], { executor: hostile.executor, mcp: hostile.mcp })
    const events = await watch(gateway)
    expect(await events.next()).toMatchObject({ type: 'servers', data: { servers: [{ state: 'ready' }] } })
    const { pid } = hostile.status()
    hostile.tools.addCustomTool({ ...echoTool, name: 'another' })
    await events.until(({ type }) => type === 'tools')
    await gateway.post('/api/tools/die/call', {})
    const isBack = ([server]: ServerStatus[]) => server?.state === 'ready' && server.pid !== pid
    await events.until(({ type, data }) => type === 'servers' && isBack(data.servers))
  })

  it('goes on after the last event that a client has seen', async () => {
    await using gateway = testGateway()
    const first = await watch(gateway)
    await callEcho(gateway, 1)
    const { id = '' } = await first.until(({ data }) => data.result)
    await first.cancel()
    await callEcho(gateway, 2)
    await callEcho(gateway, 3)
    const again = await watch(gateway, { 'last-event-id': id })
    const seen = [await again.next(), await again.next(), await again.next(), await again.next()]
    expect(seen.map(event => [event?.data.args.n, event?.data.result !== undefined])).toEqual([
      [2, false],
      [2, true],
      [3, false],
      [3, true],
    ])
  })

  it('tells everything to a client whose last event is not known here', async () => {
    await using gateway = testGateway()
    await callEcho(gateway, 1)
    for (const id of ['other-1', 'nonsense', '999999']) {
      const events = await watch(gateway, { 'last-event-id': id })
      for (const type of ['servers', 'approvals', 'questions', 'tools', 'call'])
        expect((await events.next())?.type).toBe(type)
      await events.cancel()
    }
  })

  it('ends when the gateway closes, with what happened last', async () => {
    const gateway = testGateway()
    const events = await watch(gateway)
    await callEcho(gateway, 1)
    await gateway.close()
    const types = (await events.all()).map(({ type }) => type)
    expect(types).toEqual(['servers', 'approvals', 'questions', 'call', 'call'])
  })
})

/** Reads a stream to its end, as fast as it comes; gives the number of bytes. */
async function bytesOf(response: Response): Promise<number> {
  let bytes = 0
  for await (const chunk of response.body as ReadableStream<Uint8Array>) bytes += chunk.byteLength
  return bytes
}

describe('1,000 clients at once', () => {
  it('all get every event, except for slow ones, which are cut off and hold nobody up', async () => {
    await using gateway = testGateway()
    const responses = await Promise.all(Array.from({ length: 999 }, () => gateway.get('/api/events')))
    const slow = responses.filter((_, client) => client % 100 === 0)
    const fast = responses.filter(response => !slow.includes(response)).map(bytesOf)
    const witness = await watch(gateway)
    const text = 'some words '.repeat(2_800)
    await unharmed(async () => {
      for (let n = 1; n <= 20; n++) {
        await gateway.post('/api/tools/echo/call', { n, text })
        await witness.until(({ data }) => data.result && data.args.n === n)
      }
    })
    for (const response of slow) await expect(response.text()).rejects.toThrow('reads too slowly')
    expect(await (await gateway.get('/metrics')).text()).toContain('toolpost_event_clients 990')
    await gateway.close()
    const received = await Promise.all(fast)
    expect(new Set(received).size).toBe(1)
    expect(received[0]).toBeGreaterThan(20 * 3 * text.length)
  })
})

async function firstPiece(hub: EventHub, lastEventId?: string): Promise<string> {
  const stream = hub.watch({ lastEventId, greeting: [{ type: 'greeting', data: {} }] })
  return new TextDecoder().decode((await stream.getReader().read()).value)
}

const idIn = (text: string) => /^id: (.*)$/m.exec(text)?.[1]

describe('the hub', () => {
  it('writes a line now and then, so that nobody takes it for dead', async () => {
    const clock = fakeClock()
    const hub = new EventHub({ clock })
    const reader = hub.watch().getReader()
    const read = async () => new TextDecoder().decode((await reader.read()).value)
    expect(await read()).toBe(': connected\n\n')
    await clock.advance(HEARTBEAT_MS)
    expect(await read()).toBe(': still here\n\n')
    await reader.cancel()
    expect(clock.pending).toBe(0)
  })

  it('sends events of one moment in one piece', async () => {
    const clock = fakeClock()
    const hub = new EventHub({ clock })
    const reader = hub.watch().getReader()
    await reader.read()
    for (let n = 0; n < 100; n++) hub.publish('call', { n })
    await clock.advance(100)
    const { value } = await reader.read()
    expect(new TextDecoder().decode(value).match(/^event: call$/gm)).toHaveLength(100)
  })

  it('[F71] tells many clients some at a time, and the less often the longer that takes', async () => {
    const clock = fakeClock()
    const hub = new EventHub({ clock })
    const count = 20 * TOLD_AT_ONCE
    const readers = Array.from({ length: count }, () => hub.watch().getReader())
    let told = 0
    for (const reader of readers) {
      await reader.read()
      void reader.read().then(() => told++)
    }
    hub.publish('call', { n: 1 })
    await clock.advance(EVENT_FLUSH_MS)
    expect(told).toBeLessThan(count)
    // As if it took this long.
    await clock.advance(100)
    while (told < count) await turn()
    await turn()
    void readers[0]?.read().then(() => told++)
    hub.publish('call', { n: 2 })
    await clock.advance(100 / EVENT_SHARE - 1)
    expect(told).toBe(count)
    await clock.advance(1)
    while (told === count) await turn()
  })

  it('[F71] begins with a newcomer after what was published before it came', async () => {
    const clock = fakeClock()
    const hub = new EventHub({ clock })
    const readers = [hub.watch().getReader()]
    hub.publish('call', { n: 1 })
    readers.push(hub.watch().getReader())
    hub.publish('call', { n: 2 })
    await clock.advance(EVENT_FLUSH_MS)
    const told = await Promise.all(
      readers.map(async reader => {
        await reader.read()
        return new TextDecoder().decode((await reader.read()).value).match(/(?<="n":)\d/g)
      }),
    )
    expect(told).toEqual([['1', '2'], ['2']])
  })

  it('keeps a bounded past: whoever was away for longer is greeted anew', async () => {
    const hub = new EventHub({ clock: fakeClock() })
    const id = idIn(await firstPiece(hub))
    for (let n = 0; n < 100; n++) hub.publish('call', { n })
    expect((await firstPiece(hub, id)).match(/^event: call$/gm)).toHaveLength(100)
    for (let n = 0; n < 10_000; n++) hub.publish('call', { n })
    expect(await firstPiece(hub, id)).toContain('event: greeting')
  })

  it('keeps a past that is bounded in size', async () => {
    const hub = new EventHub({ clock: fakeClock() })
    const id = idIn(await firstPiece(hub))
    for (let n = 0; n < 100; n++) hub.publish('call', { n }, 1_000_000)
    expect(await firstPiece(hub, id)).toContain('event: greeting')
  })
})
