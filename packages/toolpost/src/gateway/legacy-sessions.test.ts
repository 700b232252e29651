import { setImmediate as turn } from 'node:timers/promises'
import { Server } from '@modelcontextprotocol/server'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { ADDRESS, dataOf, echoTool, patientTool, type TestGateway, testGateway } from '../../test/gateway.ts'
import { unharmed } from '../../test/unharmed.ts'
import { MCP_SESSION_IDLE_MS } from './limits.ts'
import { LegacySessions } from './mcp-server/legacy-sessions.ts'

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } },
}
const ping = { jsonrpc: '2.0', id: 2, method: 'ping' }
const callOf = (name: string, id: number, args: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
})

type Handle = (request: Request, body: unknown) => Promise<Response>

/** A client of the 2025 protocols, by hand. */
function client(handle: Handle) {
  const headersFor = (session?: string) => ({
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(session && { 'mcp-session-id': session }),
  })
  const send = (body: object, session?: string) => {
    const init = { method: 'POST', headers: headersFor(session), body: JSON.stringify(body) }
    return handle(new Request(`${ADDRESS}/mcp`, init), body)
  }
  const begin = async () => (await send(initialize)).headers.get('mcp-session-id') ?? ''
  const listen = (session: string) =>
    handle(new Request(`${ADDRESS}/mcp`, { headers: headersFor(session) }), undefined)
  const end = (session: string) =>
    handle(new Request(`${ADDRESS}/mcp`, { method: 'DELETE', headers: headersFor(session) }), undefined)
  return { send, begin, listen, end }
}

function sessions(maxSessions: number) {
  const createServer = () => new Server({ name: 's', version: '1' }, { capabilities: { tools: {} } })
  const kept = new LegacySessions({ createServer, onError: () => {}, maxSessions })
  return { kept, ...client((request, body) => kept.handle(request, body)) }
}

const clientOf = (gateway: TestGateway) => client(async request => gateway.fetch(request))

/** The messages of an answer that is a stream of events. */
const messagesOf = async (response: Response) =>
  [...(await response.text()).matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data))

const sessionCount = async (gateway: TestGateway) =>
  Number(/^toolpost_mcp_sessions (\d+)$/m.exec(await (await gateway.get('/metrics')).text())?.[1])

/** How often others got their turn. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let hasEnded = false
  const counting = (async () => {
    for (; !hasEnded; turns++) await turn()
  })()
  await work()
  hasEnded = true
  await counting
  return turns
}

afterEach(() => void vi.useRealTimers())

describe('sessions of clients of the 2025 protocols', () => {
  it('are bounded: the idle one that was used least recently is told to begin anew', async () => {
    const { kept, send, begin } = sessions(2)
    const first = await begin()
    const second = await begin()
    await (await send(ping, first)).text()
    const third = await begin()
    expect(kept.size).toBe(2)
    const refused = await send(ping, second)
    expect(refused.status).toBe(404)
    expect(await dataOf(refused)).toMatchObject({ jsonrpc: '2.0', error: { code: -32_001 } })
    expect((await send(ping, first)).status).toBe(200)
    expect((await send(ping, third)).status).toBe(200)
    await kept.close()
    expect(kept.size).toBe(0)
  })

  it('end when the client says so', async () => {
    const { kept, send, begin, end } = sessions(2)
    const id = await begin()
    await end(id)
    expect(kept.size).toBe(0)
    expect((await send(ping, id)).status).toBe(404)
  })

  it('[F54] with a call under way survive 1,000 clients that initialize, and get their answer', async () => {
    const { tool, begun, finish } = patientTool()
    await using gateway = testGateway([tool])
    const { send, begin } = clientOf(gateway)
    const session = await begin()
    const answer = send(callOf('patient', 7), session)
    await begun
    for (let n = 0; n < 900; n++) expect((await send({ ...initialize, id: n })).status).toBe(200)
    await unharmed(async () => {
      // Requests over the network come in turns of the event loop.
      for (let n = 0; n < 200; n++, await turn())
        expect((await send({ ...initialize, id: n })).status).toBe(200)
    }, gateway)
    expect(await sessionCount(gateway)).toBe(1_000)
    finish('in peace')
    expect(await messagesOf(await answer)).toMatchObject([
      { id: 7, result: { content: [{ text: 'in peace' }] } },
    ])
  })

  it('[F54] that are all in use leave no room: a new one gets 503, and its turn when one is free', async () => {
    const { kept, send, begin, listen } = sessions(2)
    const streams = [await listen(await begin()), await listen(await begin())]
    const refused = await send({ ...initialize, id: 'mine' })
    expect(refused.status).toBe(503)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await dataOf(refused)).toMatchObject({ jsonrpc: '2.0', id: 'mine', error: { code: -32_000 } })
    await streams[0]?.body?.cancel()
    await vi.waitFor(async () => expect((await send(initialize)).status).toBe(200))
    expect(kept.size).toBe(2)
    await kept.close()
  })

  it('[F54] that begin at the same time let everybody else in between', async () => {
    await using gateway = testGateway()
    const { begin } = clientOf(gateway)
    expect(await turnsDuring(() => Promise.all(Array.from({ length: 50 }, begin)))).toBeGreaterThanOrEqual(49)
  })

  it('[F54] that begin at the same time are bounded too', async () => {
    const { kept, send } = sessions(5)
    const answers = await Promise.all(Array.from({ length: 50 }, () => send(initialize)))
    expect(answers.filter(({ status }) => status === 503).length).toBeGreaterThan(0)
    expect(kept.size).toBeLessThanOrEqual(5)
    await kept.close()
  })

  it('[F54] whose client listens stay, however long it says nothing; others are over after an hour', async () => {
    const { send, begin, listen, kept } = sessions(10)
    vi.useFakeTimers({ toFake: ['Date'] })
    const listening = await begin()
    await listen(listening)
    const silent = await begin()
    vi.setSystemTime(Date.now() + MCP_SESSION_IDLE_MS + 1)
    await begin()
    expect((await send(ping, silent)).status).toBe(404)
    expect((await send(ping, listening)).status).toBe(200)
    await kept.close()
  })

  it('[F54] whose client listened until now stay, so that it can listen again', async () => {
    const { send, begin, listen, kept } = sessions(10)
    vi.useFakeTimers({ toFake: ['Date'] })
    const listening = await begin()
    const stream = await listen(listening)
    vi.setSystemTime(Date.now() + MCP_SESSION_IDLE_MS + 1)
    await stream.body?.cancel()
    await begin()
    expect((await send(ping, listening)).status).toBe(200)
    await kept.close()
  })
})

describe('a session that makes many requests at once', () => {
  it('[F38] lets everybody else in between, and another session first', async () => {
    await using gateway = testGateway()
    const { begin, send } = clientOf(gateway)
    const [busy, calm] = [await begin(), await begin()]
    const answered: string[] = []
    const ask = async (session: string, id: number) => {
      await (await send({ ...ping, id }, session)).text()
      answered.push(session)
    }
    const work = () =>
      Promise.all([...Array.from({ length: 50 }, (_, id) => ask(busy, id)), ask(calm, 1), ask(calm, 2)])
    expect(await turnsDuring(work)).toBeGreaterThanOrEqual(51)
    expect(answered.lastIndexOf(calm)).toBeLessThan(20)
  })
})

describe('requests with one id in one session', () => {
  it('[F38] get one answer each: the later ones an error at once, and none gets that of another', async () => {
    const { tool, begun, finish } = patientTool()
    await using gateway = testGateway([tool, echoTool])
    const { send, begin } = clientOf(gateway)
    const session = await begin()
    const first = send(callOf('patient', 7), session)
    await begun
    for (const n of [1, 2, 3]) {
      const refused = await send(callOf('echo', 7, { n }), session)
      expect(refused.status).toBe(400)
      expect(await dataOf(refused)).toMatchObject({ id: 7, error: { code: -32_600 } })
    }
    const other = await send({ ...callOf('echo', 0), id: '7' }, session)
    expect(await messagesOf(other)).toMatchObject([{ id: '7', result: {} }])
    finish('mine')
    expect(await messagesOf(await first)).toMatchObject([{ id: 7, result: { content: [{ text: 'mine' }] } }])
    // Answered, so that the id is free again.
    expect(await messagesOf(await send(callOf('echo', 7), session))).toMatchObject([{ id: 7, result: {} }])
  })

  it('[F38] are refused in one message too', async () => {
    const { send, begin, kept } = sessions(2)
    const session = await begin()
    const twice = await send([ping, ping], session)
    expect([twice.status, (await dataOf(twice)).id]).toEqual([400, 2])
    expect((await send(ping, session)).status).toBe(200)
    await kept.close()
  })

  it('free their id, their stream and their session when they are cancelled', async () => {
    const { tool, begun, aborted } = patientTool()
    await using gateway = testGateway([tool, echoTool])
    const { send, begin } = clientOf(gateway)
    const session = await begin()
    const cancelled = await send(callOf('patient', 7), session)
    await begun
    const params = { requestId: 7 }
    await send({ jsonrpc: '2.0', method: 'notifications/cancelled', params } as object, session)
    await aborted
    expect(await messagesOf(cancelled)).toEqual([])
    expect((await send(callOf('echo', 7), session)).status).toBe(200)
  })
})
