import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import { ADDRESS, dataOf, type TestGateway, testGateway } from '../../test/gateway.ts'
import { defineTool } from '../tools/tool.ts'

const PARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
const HEADERS = { traceparent: PARENT, tracestate: 'vendor=1', baggage: 'user=ada' }

/** Gives back what came along with its call. */
const metaTool = defineTool({
  name: 'meta',
  description: 'Shows what came along',
  schema: { type: 'object' },
  handler: (_args, { meta }) => meta ?? {},
})

describe('the trace in the headers of', () => {
  it.each([
    ['a call goes along with it', HEADERS, HEADERS],
    ['a call without any is none', {}, {}],
    [
      'a call is ignored if it is malformed',
      { ...HEADERS, traceparent: '00-00-00-00' },
      { baggage: 'user=ada' },
    ],
    ['a call is all that is taken', { ...HEADERS, cookie: 'a=b', 'x-api-key': 'k' }, HEADERS],
  ])('%s', async (_title, headers, expected) => {
    await using gateway = testGateway([metaTool])
    const { result } = await dataOf(
      gateway.post('/api/tools/meta/call', {}, { headers: headers as Record<string, string> }),
    )
    expect(result).toEqual(expected)
  })
})

describe.each(['legacy', 'auto'] as const)('over MCP (%s)', mode => {
  async function callMeta(
    gateway: TestGateway,
    headers: Record<string, string>,
    _meta?: Record<string, unknown>,
  ) {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
    const fetch = async (url: string | URL, init?: RequestInit) => gateway.fetch(new Request(url, init))
    const requestInit = { headers }
    await client.connect(new StreamableHTTPClientTransport(new URL(`${ADDRESS}/mcp`), { fetch, requestInit }))
    const { content } = await client.callTool({ name: 'meta', arguments: {}, ...(_meta && { _meta }) })
    await client.close()
    return JSON.parse((content[0] as { text: string }).text)
  }

  it('the trace in _meta goes along, with what else is there', async () => {
    await using gateway = testGateway([metaTool])
    const meta = { ...HEADERS, 'com.example/tenant': 7 }
    expect(await callMeta(gateway, {}, meta)).toMatchObject(meta)
  })

  it('the trace in the headers does, if there is none in _meta', async () => {
    await using gateway = testGateway([metaTool])
    expect(await callMeta(gateway, HEADERS)).toMatchObject(HEADERS)
    expect(await callMeta(gateway, HEADERS, { traceparent: 'nonsense' })).toMatchObject(HEADERS)
  })
})
