import { connect } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { getRequestListener } from '@hono/node-server'
import { describe, expect, it } from 'vitest'
import { ADDRESS, dataOf, echoTool, eventReader, type TestGateway, testGateway } from '../../test/gateway.ts'
import { unharmed } from '../../test/unharmed.ts'
import { recordingLogger } from '../testing/index.ts'
import { defineTool, type Tool } from '../tools/tool.ts'
import { GREETING_BYTES, MAX_BODIES_BYTES, MAX_BODY_BYTES, MAX_EVENT_CLIENTS } from './limits.ts'
import { createHttpServer } from './serve-gateway.ts'

const answering = (name: string, value: unknown): Tool =>
  defineTool({ name, description: name, schema: { type: 'object' }, handler: () => value })

function nested(levels: number): unknown {
  let value: unknown = 'bottom'
  for (let level = 0; level < levels; level++) value = { value }
  return value
}

function doubled(levels: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = [value, value]
  return value
}

const TOOLS = [
  echoTool,
  answering('long', '"\n'.repeat(5_000_000)),
  answering(
    'rows',
    Array.from({ length: 300_000 }, (_, n) => ({ n })),
  ),
  answering('deep', nested(100_000)),
  answering('doubling', doubled(25)),
]

const mcpCall = (gateway: TestGateway, name: string, args: unknown = {}) =>
  mcp(gateway, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } })

function mcp(gateway: TestGateway, body: unknown): Promise<Response> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  return gateway.post('/mcp', body, { headers })
}

describe('a huge result', () => {
  it.each(['long', 'rows'])('over HTTP is written in slices, whole: %s', async name => {
    await using gateway = testGateway(TOOLS)
    const call = async () => (await gateway.post(`/api/tools/${name}/call`, {})).text()
    const { success, result } = JSON.parse(await unharmed(call, gateway))
    expect(success).toBe(true)
    expect(result).toEqual(TOOLS.find(tool => tool.name === name)?.invoke({}))
  })

  it('that is nested endlessly is valid JSON over HTTP, and says so', async () => {
    await using gateway = testGateway(TOOLS)
    const call = async () => (await gateway.post('/api/tools/deep/call', {})).text()
    const text = await unharmed(call, gateway)
    expect(JSON.parse(text)).toMatchObject({ success: true })
    expect(text).toContain('[…]')
  })

  it.each(['long', 'rows', 'deep', 'doubling'])('over MCP is refused with a message: %s', async name => {
    await using gateway = testGateway(TOOLS)
    const text = await unharmed(async () => (await mcpCall(gateway, name)).text(), gateway)
    expect(text).toContain(`The result of '${name}' is too large for MCP`)
    expect(text).toContain('"isError":true')
  })
})

describe('a body', () => {
  const names = (count: number) => `{${Array.from({ length: count }, (_, n) => `"n${n}":1`).join()}}`

  it.each([
    ['4 MB of [', '['.repeat(4_000_000), 'The body is nested more than 60000 levels deep'],
    ['4 MB of {}', `[${'{},'.repeat(1_300_000)}1]`, 'The body has too many values'],
    ['60,000 names', names(60_000), 'The body has an object with more than 25000 names'],
    ['as many inside', `[{"a":{}},${names(60_000)}]`, 'The body has an object with more than 25000 names'],
    [
      'ten objects of 24,000 names',
      `[${Array(10).fill(names(24_000)).join()}]`,
      'The body has too many values',
    ],
    ['750 kB of {"a":', `${'{"a":'.repeat(150_000)}1`, 'The body is nested more than 60000 levels deep'],
  ])('[F46] that would take long to read is refused: %s', async (_what, body, error) => {
    await using gateway = testGateway()
    const response = await unharmed(() => mcp(gateway, body), gateway)
    expect([response.status, (await dataOf(response)).error]).toEqual([413, error])
  })

  it('[F28] nested 50,000 deep is for the executor to refuse, over HTTP and MCP', async () => {
    await using gateway = testGateway()
    const deep = `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`
    const call = () => dataOf(gateway.post('/api/tools/echo/call', deep))
    const result = await unharmed(call, gateway)
    expect(result).toMatchObject({ success: false, code: 'invalid_arguments' })
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":${deep}}}`
    expect(await (await mcp(gateway, body)).text()).toContain('nested')
  })

  it('[F46] that is long lets everybody else in before it is looked at, however many come at once', async () => {
    await using gateway = testGateway()
    const body = '['.repeat(200_000)
    let turns = 0
    let hasEnded = false
    const counting = (async () => {
      for (; !hasEnded; turns++) await turn()
    })()
    await Promise.all(Array.from({ length: 20 }, () => mcp(gateway, body)))
    hasEnded = true
    await counting
    expect(turns).toBeGreaterThanOrEqual(20)
  })

  it('that is longer than its content-length says is refused all the same', async () => {
    await using gateway = testGateway()
    const headers = { 'content-length': '2' }
    const body = JSON.stringify({ text: 'x'.repeat(MAX_BODY_BYTES) })
    expect((await gateway.post('/api/tools/echo/call', body, { headers })).status).toBe(413)
  })

  it('that breaks off is the mistake of its sender, and no error in our log', async () => {
    const logger = recordingLogger()
    await using gateway = testGateway([echoTool], { logger })
    const body = new ReadableStream({ pull: controller => controller.error(new Error('reset')) })
    const init = { method: 'POST', body, duplex: 'half' } as RequestInit
    const response = await gateway.fetch(new Request(`${ADDRESS}/api/tools/echo/call`, init))
    expect([response.status, await dataOf(response)]).toEqual([400, { error: 'The body ended early' }])
    expect(logger.records.filter(({ level }) => level === 'error')).toEqual([])
  })

  it('has its place: all that are being read at once are bounded', async () => {
    await using gateway = testGateway()
    const controllers: ReadableStreamDefaultController[] = []
    const post = () => {
      const body = new ReadableStream({ start: controller => void controllers.push(controller) })
      const init = { method: 'POST', body, duplex: 'half' } as RequestInit
      return Promise.resolve(gateway.fetch(new Request(`${ADDRESS}/api/tools/echo/call`, init)))
    }
    const fit = Math.floor(MAX_BODIES_BYTES / MAX_BODY_BYTES)
    const taken = Array.from({ length: fit }, post)
    const refused = await post()
    expect(refused.status).toBe(503)
    expect(refused.headers.has('retry-after')).toBe(true)
    expect(
      (await gateway.post('/api/tools/echo/call', '{}', { headers: { 'content-length': '2' } })).status,
    ).toBe(200)
    for (const controller of controllers.slice(0, fit)) controller.close()
    expect(new Set((await Promise.all(taken)).map(({ status }) => status))).toEqual(new Set([200]))
    const again = post()
    controllers.at(-1)?.close()
    expect((await again).status).toBe(200)
  })

  it('of an MCP client is a batch of at most 100', async () => {
    await using gateway = testGateway()
    const ping = (id: number) => ({ jsonrpc: '2.0', id, method: 'ping' })
    const response = await mcp(
      gateway,
      Array.from({ length: 101 }, (_, id) => ping(id)),
    )
    expect([response.status, (await dataOf(response)).error.code]).toEqual([400, -32_600])
  })
})

describe('a client that sends slowly', () => {
  it.each([
    ['its headers', 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n'],
    ['its body', 'POST /api/tools/echo/call HTTP/1.1\r\nHost: 127.0.0.1\r\ncontent-length: 100\r\n\r\n{'],
    [
      'a chunked body',
      'POST /api/tools/echo/call HTTP/1.1\r\nHost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{',
    ],
  ])('is answered with 408 and cut off: %s', async (_what, beginning) => {
    await using gateway = testGateway()
    const limits = { headersTimeout: 50, requestTimeout: 100, connectionsCheckingInterval: 10 }
    const server = createHttpServer(limits)
    server.on(
      'request',
      getRequestListener((request, env) => gateway.fetch(request, env)),
    )
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const answer = await new Promise<string>(resolve => {
      let text = ''
      const socket = connect(port, '127.0.0.1', () => socket.write(beginning))
      socket.on('data', chunk => {
        text += chunk
      })
      socket.on('close', () => resolve(text))
    })
    expect(answer).toMatch(/^HTTP\/1.1 408/)
    await new Promise(resolve => server.close(resolve))
  })

  it('has limits that are set', () => {
    const server = createHttpServer()
    expect(server.headersTimeout).toBeLessThanOrEqual(10_000)
    expect(server.requestTimeout).toBeLessThanOrEqual(120_000)
    expect(server.maxConnections).toBeGreaterThan(10_000)
  })
})

describe('clients of the events', () => {
  const clients = async (gateway: TestGateway) =>
    /event_clients (\d+)/.exec(await (await gateway.get('/metrics')).text())?.[1]

  it('that only ask for the headers leave nothing behind', async () => {
    await using gateway = testGateway()
    for (let n = 0; n < 10; n++) await gateway.fetch(new Request(`${ADDRESS}/api/events`, { method: 'HEAD' }))
    expect(await clients(gateway)).toBe('0')
  })

  it('[F71] are bounded in number', async () => {
    await using gateway = testGateway()
    const watching = await Promise.all(
      Array.from({ length: MAX_EVENT_CLIENTS }, () => gateway.get('/api/events')),
    )
    const refused = await gateway.get('/api/events')
    expect([refused.status, refused.headers.get('connection')]).toEqual([503, 'close'])
    await watching[0]?.body?.cancel()
    expect((await gateway.get('/api/events')).status).toBe(200)
  })

  it.each(['garbage', '-1', '%00', `${'9'.repeat(5_000)}-1`, 'x-1e9'])(
    'whose Last-Event-ID makes no sense are told a bounded part of the past: %s',
    async id => {
      await using gateway = testGateway()
      const text = 'x'.repeat(30_000)
      for (let n = 0; n < 40; n++) await gateway.executor.run({ name: 'echo', args: { n, text } })
      const response = await gateway.get('/api/events', { 'last-event-id': id })
      await gateway.close()
      const whole = await response.clone().text()
      expect(whole.length).toBeLessThan(1.5 * GREETING_BYTES)
      const events = await eventReader(response).all()
      expect(events.at(-1)?.data.args.n).toBe(39)
    },
  )
})

describe('names that nobody has', () => {
  it('are not there, even if they are too long for a file or badly encoded', async () => {
    await using gateway = testGateway()
    for (const name of ['x'.repeat(300), 'x'.repeat(8_000), '%', '%ED%A0%80', '%00', '__proto__', '..%2f'])
      for (const path of ['', 'assets/', 'api/', 'api/tools/', 'api/servers/', 'api/calls/'])
        expect((await gateway.get(`/${path}${name}`)).status, `${path}${name}`).toBeLessThan(500)
    expect((await gateway.post(`/api/tools/${'x'.repeat(8_000)}/call`, {})).status).toBeLessThan(500)
  })

  it('in huge numbers grow neither the metrics nor the journal', async () => {
    await using gateway = testGateway()
    const call = (n: number) => gateway.post(`/api/tools/none-${n}/call`, {})
    for (let n = 0; n < 1_000; n++) await call(n)
    await unharmed(async () => {
      // Requests over the network come in turns of the event loop.
      for (let n = 0; n < 200; n++, await turn()) await call(n + 1_000)
    }, gateway)
    expect((await (await gateway.get('/metrics')).text()).length).toBeLessThan(20_000)
    expect((await dataOf(gateway.get('/api/calls'))).calls).toHaveLength(1_000)
  })
})

describe('an odd deadline', () => {
  it.each(['NaN', 'Infinity', '-0', '0x10', '1e3', '5, 6', '+5', '9'.repeat(400), '0', '0.0', '.5'])(
    'is refused: %s',
    async given => {
      await using gateway = testGateway()
      const response = await gateway.post('/api/tools/echo/call', {}, { headers: { 'x-timeout-ms': given } })
      expect(response.status).toBe(400)
      expect((await dataOf(response)).error).toMatch(/^Invalid x-timeout-ms; expected milliseconds/)
    },
  )

  it.each(['1000', '20000.5'])('is taken: %s', async given => {
    await using gateway = testGateway()
    const headers = { 'x-timeout-ms': given }
    expect((await gateway.post('/api/tools/echo/call', {}, { headers })).status).toBe(200)
  })
})
