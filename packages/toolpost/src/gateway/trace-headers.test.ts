import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import { ADDRESS, dataOf, eventReader, type TestGateway, testGateway } from '../../test/gateway.ts'
import type { AskOptions } from '../models/ai-client.ts'
import { defineTool } from '../tools/tool.ts'

const PARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
const OTHER = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
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

  it('a question goes along with the calls of its answer', async () => {
    let given: AskOptions | undefined
    const client = {
      ask: async (_prompt: unknown, options?: AskOptions) => {
        given = options
        return { text: 'yes', messages: [], results: [], iterations: 1, stopReason: 'answer' as const }
      },
    }
    await using gateway = testGateway([metaTool], { client })
    await eventReader(await gateway.post('/api/chat', { message: 'well?' }, { headers: HEADERS })).all()
    expect(given?.meta).toEqual(HEADERS)
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

  it('the one in _meta is nearer, and comes without what belongs to the other', async () => {
    await using gateway = testGateway([metaTool])
    const meta = await callMeta(gateway, HEADERS, { traceparent: OTHER })
    expect(meta).toMatchObject({ traceparent: OTHER })
    expect(meta).not.toHaveProperty('tracestate')
  })
})
