import { afterEach, describe, expect, it, vi } from 'vitest'
import { ADDRESS, dataOf, echoTool, patientTool, type TestGateway, testGateway } from '../../test/gateway.ts'
import { MAX_MCP_SESSIONS } from './limits.ts'

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } },
}
const ping = { jsonrpc: '2.0', id: 2, method: 'ping' }
const callOf = (name: string, id: number | string, args: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
})
const cancelOf = (requestId: number) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
})

/** A client of the 2025 protocols, by hand. */
function clientOf(gateway: TestGateway) {
  const request = async (method: string, session?: string, body?: object, signal?: AbortSignal) => {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(session && { 'mcp-session-id': session }),
    }
    return gateway.fetch(
      new Request(`${ADDRESS}/mcp`, {
        ...{ method, headers, signal: signal ?? null },
        ...(body && { body: JSON.stringify(body) }),
      }),
    )
  }
  const send = (body: object, session?: string) => request('POST', session, body)
  return {
    send,
    begin: async () => (await send(initialize)).headers.get('mcp-session-id') ?? '',
    beginMany: (count: number) => Promise.all(Array.from({ length: count }, () => send(initialize))),
    listen: (session: string, signal?: AbortSignal) => request('GET', session, undefined, signal),
    end: (session: string) => request('DELETE', session),
  }
}

/** The message in a stream of one. */
const answerIn = async (response: Response) =>
  JSON.parse(/^data: (.*)$/m.exec(await response.text())?.[1] ?? '')

const sessionCount = async (gateway: TestGateway) =>
  Number(/^toolpost_mcp_sessions (\d+)$/m.exec(await (await gateway.get('/metrics')).text())?.[1])

afterEach(() => void vi.useRealTimers())

describe('sessions of clients of the 2025 protocols', () => {
  it('[F54] with a call under way or a listening client stay; the idle one used least recently goes', async () => {
    const { tool, begun, finish } = patientTool()
    await using gateway = testGateway([tool])
    const { send, begin, beginMany, listen } = clientOf(gateway)
    const [working, listening, idle, used] = [await begin(), await begin(), await begin(), await begin()]
    const answer = send(callOf('patient', 7), working)
    await begun
    await listen(listening)
    await beginMany(MAX_MCP_SESSIONS - 4)
    await send(ping, used)
    expect((await send(initialize)).status).toBe(200)
    expect(await sessionCount(gateway)).toBe(MAX_MCP_SESSIONS)
    expect((await send(ping, idle)).status).toBe(404)
    for (const session of [working, listening, used]) expect((await send(ping, session)).status).toBe(200)
    finish('in peace')
    expect(await answerIn(await answer)).toMatchObject({ id: 7, result: { content: [{ text: 'in peace' }] } })
  })

  it('[F54] that are all in use leave no room: a new one gets 503, and its turn when one is free', async () => {
    await using gateway = testGateway()
    const { send, begin, listen } = clientOf(gateway)
    const gone = new AbortController()
    for (let n = 0; n < MAX_MCP_SESSIONS; n++) await listen(await begin(), n === 0 ? gone.signal : undefined)
    const refused = await send({ ...initialize, id: 'mine' })
    expect(refused.status).toBe(503)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await dataOf(refused)).toMatchObject({ jsonrpc: '2.0', id: 'mine', error: { code: -32_000 } })
    gone.abort()
    expect((await send(initialize)).status).toBe(200)
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
    for (const messages of [callOf('echo', 7), [callOf('echo', 8), callOf('echo', 8)]]) {
      const refused = await send(messages, session)
      expect(refused.status).toBe(400)
      expect(await dataOf(refused)).toMatchObject({ error: { code: -32_600 } })
    }
    expect(await answerIn(await send(callOf('echo', '7'), session))).toMatchObject({ id: '7', result: {} })
    finish('mine')
    expect(await answerIn(await first)).toMatchObject({ id: 7, result: { content: [{ text: 'mine' }] } })
    // Answered, so that the id is free again.
    expect(await answerIn(await send(callOf('echo', 7), session))).toMatchObject({ id: 7, result: {} })
  })
})

describe('a cancelled request', () => {
  it('ends without an answer, and leaves no session busy', async () => {
    const { tool, begun, aborted } = patientTool()
    await using gateway = testGateway([tool, echoTool])
    const { send, begin, beginMany } = clientOf(gateway)
    const session = await begin()
    const response = await send(callOf('patient', 7), session)
    await begun
    await send(cancelOf(7), session)
    await aborted
    expect(await response.text()).toBe('')
    // An idle session makes room for others.
    await beginMany(MAX_MCP_SESSIONS)
    expect((await send(ping, session)).status).toBe(404)
  })
})
