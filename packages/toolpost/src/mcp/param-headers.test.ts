import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'
import { describe, expect, it } from 'vitest'
import { startServers } from '../../test/hostile-server/harness.ts'
import { hostileServer } from '../../test/hostile-server/hostile-server.ts'

const inputSchema = {
  type: 'object' as const,
  properties: {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    floor: { type: 'integer', 'x-mcp-header': 'Floor' },
    isUrgent: { type: 'boolean', 'x-mcp-header': 'Urgent' },
    where: { type: 'object', properties: { room: { type: 'string', 'x-mcp-header': 'Room' } } },
  },
}
const invalid = {
  type: 'object' as const,
  properties: { a: { type: 'string', 'x-mcp-header': 'not valid' } },
}
const tools = [
  { name: 'mirrored', inputSchema },
  { name: 'odd', inputSchema: invalid },
  { name: 'plain', inputSchema: { type: 'object' as const } },
]

/** A server of the newest protocol that takes down the headers of calls. */
async function recordingServer() {
  const seen: Record<string, unknown>[] = []
  const handler = createMcpHandler(() => {
    const server = new Server({ name: 'recording', version: '1' }, { capabilities: { tools: {} } })
    server.setRequestHandler('tools/list', () => ({ tools }))
    server.setRequestHandler('tools/call', ({ params }) => ({
      content: [{ type: 'text', text: JSON.stringify(params.arguments) }],
    }))
    return server
  })
  const http = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    if (body.includes('"tools/call"')) seen.push(paramHeaders(request.headers))
    const { method = 'GET', headers } = request
    const init = { method, headers: headers as Record<string, string>, ...(body.length > 0 && { body }) }
    const answer = await handler.fetch(new Request('http://localhost/', init))
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
  })
  await new Promise<void>(resolve => {
    http.listen(0, '127.0.0.1', resolve)
  })
  const { port } = http.address() as AddressInfo
  const stop = async () => {
    http.closeAllConnections()
    http.close()
    await handler.close()
  }
  return { url: `http://127.0.0.1:${port}/`, seen, [Symbol.asyncDispose]: stop }
}

function paramHeaders(headers: IncomingHttpHeaders): Record<string, unknown> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('mcp-param-')))
}

const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`

describe('arguments that go along in headers', () => {
  it('are sent as they are, or encoded if HTTP would change them', async () => {
    await using server = await recordingServer()
    await using client = await startServers({ remote: { url: server.url } })
    const cases: [args: object, headers: object][] = [
      [
        { region: 'eu-west', floor: 42 },
        { 'mcp-param-region': 'eu-west', 'mcp-param-floor': '42' },
      ],
      [
        { isUrgent: false, where: { room: 'a' } },
        { 'mcp-param-urgent': 'false', 'mcp-param-room': 'a' },
      ],
      ...['東京', 'a\r\nb: c', ' a '].map((region): [object, object] => [
        { region },
        { 'mcp-param-region': base64(region) },
      ]),
      [{}, {}],
    ]
    for (const [args] of cases)
      expect(await client.executor.run({ name: 'mirrored', args })).toMatchObject({ success: true })
    expect(server.seen).toEqual(cases.map(([, headers]) => headers))
  })

  it('a tool with invalid ones is left out over HTTP, and the log says which and why', async () => {
    await using server = await recordingServer()
    await using client = await startServers({ remote: { url: server.url } })
    expect(client.status().tools).toEqual(['mirrored', 'plain'])
    const warnings = client.log.at('warn').filter(({ message }) => message === 'MCP tool skipped')
    expect(warnings).toHaveLength(1)
    expect(JSON.stringify(warnings)).toMatch(/'odd' is invalid: a: x-mcp-header is not a valid header name/)
  })

  it('over stdio there are no headers: such a tool can be used', async () => {
    await using client = await startServers({ local: hostileServer({ tools }) })
    expect(client.status().tools).toEqual(['mirrored', 'odd', 'plain'])
  })
})
