import { connect } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { describe, expect, it } from 'vitest'
import {
  dataOf,
  echoTool,
  newestRequest,
  type TestGateway,
  testGateway,
  toolNamed,
} from '../../test/gateway.ts'
import { unharmed } from '../../test/unharmed.ts'
import { MAX_BODY_CHUNKS } from './limits.ts'
import { createHttpServer } from './serve-gateway.ts'

const TOOLS = [echoTool, toolNamed('long', () => 'some words '.repeat(1_000_000))]

/** A call over MCP; the arguments are JSON. */
function mcpCall(gateway: TestGateway, name: string, args = '{}'): Promise<Response> {
  const { body, headers } = newestRequest('tools/call', { name, arguments: '-' })
  return gateway.post('/mcp', JSON.stringify(body).replace('"-"', args), { headers })
}

function mcp(gateway: TestGateway, body: string): Promise<Response> {
  return gateway.post('/mcp', body, { headers: newestRequest('tools/call').headers })
}

describe('a huge result', () => {
  it('is whole over HTTP, and refused with a message over MCP', async () => {
    await using gateway = testGateway(TOOLS)
    const { result } = await dataOf(gateway.post('/api/tools/long/call', {}))
    expect(result).toHaveLength(11_000_000)
    expect(await (await mcpCall(gateway, 'long')).text()).toContain('The result is too large for MCP')
  })
})

describe('a body', () => {
  it.each([
    ['4 MB of [', '['.repeat(4_000_000), '250000 values'],
    ['4 MB of {}', `[${'{},'.repeat(1_300_000)}1]`, '250000 values'],
    [
      '60,000 names',
      `{${Array.from({ length: 60_000 }, (_, n) => `"n${n}":1`).join()}}`,
      '50000 different keys',
    ],
  ])('[F46] that would take long to read is refused: %s', async (_what, body, limit) => {
    await using gateway = testGateway()
    for (const response of [await mcp(gateway, body), await gateway.post('/api/tools/echo/call', body)])
      expect([response.status, (await dataOf(response)).error]).toEqual([
        413,
        `The body has more than ${limit}`,
      ])
  })

  it('[F49] just under the limit is read, however many commas and brackets its strings have', async () => {
    await using gateway = testGateway()
    const text = '[{,\\"'.repeat(1_000_000)
    const { result } = await dataOf(gateway.post('/api/tools/echo/call', `{"text":"${text}"}`))
    expect(JSON.stringify(result).length).toBeGreaterThan(4_000_000)
  })

  it('[F28] nested 50,000 deep is for the executor to refuse, over HTTP and MCP', async () => {
    await using gateway = testGateway()
    const deep = `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`
    const call = () => dataOf(gateway.post('/api/tools/echo/call', deep))
    const result = await unharmed(call, gateway)
    expect(result).toMatchObject({ success: false, code: 'invalid_arguments' })
    expect(await (await mcpCall(gateway, 'echo', deep)).text()).toContain('nested')
  })
})

/** What a gateway on a real port answers to these bytes, until it closes the connection. */
async function answerTo(sent: string, limits = {}): Promise<string> {
  await using gateway = testGateway()
  const server = createHttpServer(limits)
  server.on(
    'request',
    getRequestListener((request, env) => gateway.fetch(request, env)),
  )
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const answer = await new Promise<string>(resolve => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(sent))
    socket.on('data', chunk => {
      text += chunk
    })
    socket.on('close', () => resolve(text))
  })
  await new Promise(resolve => server.close(resolve))
  return answer
}

const POST = 'POST /api/tools/echo/call HTTP/1.1\r\nHost: 127.0.0.1\r\n'
const CHUNKED = `${POST}transfer-encoding: chunked\r\n\r\n`

describe('a client that sends slowly', () => {
  it.each([
    ['its headers', 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n'],
    ['its body', `${POST}content-length: 100\r\n\r\n{`],
    ['a chunked body', `${CHUNKED}1\r\n{`],
  ])('is answered with 408 and cut off: %s', async (_what, beginning) => {
    const limits = { headersTimeout: 50, requestTimeout: 100, connectionsCheckingInterval: 10 }
    expect(await answerTo(beginning, limits)).toMatch(/^HTTP\/1.1 408/)
  })
})

it('[F46] a body in more than 50,000 chunks is refused', async () => {
  const answer = await answerTo(`${CHUNKED}${'1\r\n \r\n'.repeat(MAX_BODY_CHUNKS + 1)}`)
  expect(answer).toMatch(/^HTTP\/1.1 413/)
  expect(answer).toContain('The body has more than 50000 chunks')
})
