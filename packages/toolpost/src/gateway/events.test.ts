import { describe, expect, it } from 'vitest'
import {
  dataOf,
  echoTool,
  eventReader,
  patientTool,
  type TestGateway,
  testGateway,
} from '../../test/gateway.ts'
import { startHostile } from '../../test/hostile-server/harness.ts'
import { unharmed } from '../../test/unharmed.ts'
import { ToolExecutor } from '../executor/executor.ts'
import type { ServerStatus } from '../mcp/server-status.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { type GatewaySource, sourceOf } from './context.ts'

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

  it('begins with the state of now, running calls included', async () => {
    const { tool, begun, finish } = patientTool()
    await using gateway = testGateway([tool])
    const call = gateway.post('/api/tools/patient/call', {})
    await begun
    const events = await watch(gateway)
    for (const type of ['servers', 'approvals', 'questions', 'call'])
      expect((await events.next())?.type).toBe(type)
    finish('done')
    await call
    expect(await events.next()).toMatchObject({ type: 'call', data: { tool: 'patient', result: {} } })
  })

  it('tells the owner of timers that have ended', async () => {
    let tell: (event?: unknown) => void = () => {}
    const project: GatewaySource = {
      ...sourceOf({ executor: new ToolExecutor(new ToolManager()) }),
      on: (event, listener) => {
        if (event === 'timer') tell = listener
        return () => {}
      },
    }
    await using gateway = testGateway([], { project })
    const events = await watch(gateway)
    const data = { name: 'tea', text: 'The tea timer is done.' }
    tell(data)
    expect(await events.until(({ type }) => type === 'timer')).toMatchObject({ data })
  })

  it('cannot be made to forge an event: line breaks in arguments and results stay inside the data', async () => {
    await using gateway = testGateway()
    const events = await watch(gateway)
    const forged = 'x\n\nevent: call\ndata: {"tool":"forged"}\n\n'
    await gateway.post('/api/tools/echo/call', { n: 1, forged })
    await events.until(({ data }) => data.result)
    await callEcho(gateway, 2)
    const next = await events.next()
    expect(next).toMatchObject({ type: 'call', data: { tool: 'echo', args: { n: 2 } } })
  })

  it('secrets are in neither the list of calls nor the events', async () => {
    await using gateway = testGateway()
    const events = await watch(gateway)
    const token = `ghp_${'a1B2'.repeat(9)}`
    await gateway.post('/api/tools/echo/call', { n: 1, password: 'hunter22', note: `use ${token}` })
    const ended = await events.until(({ data }) => data.result)
    const { calls } = await dataOf(gateway.get('/api/calls'))
    for (const shown of [ended.data, calls].map(value => JSON.stringify(value))) {
      expect(shown).toContain('echo')
      expect(shown).not.toContain('hunter22')
      expect(shown).not.toContain(token)
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

describe('200 clients at once', () => {
  it('all get every event, except for slow ones, which are cut off and hold nobody up', async () => {
    await using gateway = testGateway()
    const responses = await Promise.all(Array.from({ length: 199 }, () => gateway.get('/api/events')))
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
    expect(await (await gateway.get('/metrics')).text()).toContain('toolpost_event_clients 198')
    await gateway.close()
    const received = await Promise.all(fast)
    expect(new Set(received).size).toBe(1)
    expect(received[0]).toBeGreaterThan(20 * 3 * text.length)
  })
})
