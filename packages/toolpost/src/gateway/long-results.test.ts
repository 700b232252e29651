import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataOf, testGateway } from '../../test/gateway.ts'
import { CLIENTS } from '../../test/mcp-clients.ts'
import { ToolExecutor } from '../executor/executor.ts'
import { fakeClock } from '../testing/index.ts'
import { BigResults } from '../tools/results/big-results.ts'
import { defineTool, type Tool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { ToolOutput } from '../tools/tool-output.ts'
import { type ServedGateway, serveGateway } from './serve-gateway.ts'

const rows = Array.from({ length: 2_000 }, (_, id) => ({ id, name: `row ${id}` }))
const picture = Buffer.alloc(900_000, 7)

const tool = (name: string, handler: () => unknown): Tool =>
  defineTool({ name, description: name, schema: { type: 'object' }, readOnly: true, handler })

const TOOLS = [
  tool('rows', () => ({ rows })),
  tool('short', () => ({ rows: [] })),
  tool('picture', () => {
    const image = (data: Buffer) => ({ type: 'image', data: data.toString('base64'), mimeType: 'image/png' })
    const blocks = [
      { type: 'text', text: 'two pictures' },
      image(picture),
      image(picture.subarray(0, 60_000)),
    ]
    return new ToolOutput('two pictures', blocks)
  }),
  tool('page', () => {
    const resource = {
      uri: 'x://y',
      blob: Buffer.alloc(50_000, '<b>').toString('base64'),
      mimeType: 'text/html',
    }
    return new ToolOutput('a page', [{ type: 'resource', resource }])
  }),
]

const CLIENT_TOKENS = { ann: 'ann-has-a-long-token', bob: 'bob-has-a-long-token' }
const clients = {
  ann: { token: CLIENT_TOKENS.ann },
  bob: { token: CLIENT_TOKENS.bob },
}
const as = (name: keyof typeof CLIENT_TOKENS) => ({ authorization: `Bearer ${CLIENT_TOKENS[name]}` })

describe.each(CLIENTS)('a long result over MCP, %s', (_, connect) => {
  let served: ServedGateway
  const bigResults = new BigResults({ maxTextBytes: 10_000 })

  beforeAll(async () => {
    const tools = new ToolManager()
    for (const each of TOOLS) tools.addCustomTool(each)
    served = await serveGateway({ port: 0, executor: new ToolExecutor(tools), bigResults, clients })
  })
  afterAll(() => served.close({ drainMs: 0 }))
  const open = (name: keyof typeof CLIENT_TOKENS) =>
    connect({ url: served.url }, { token: CLIENT_TOKENS[name], name })

  it('is read by its ends, with a link to the whole, and in parts from then on', async () => {
    await using client = await open('ann')
    expect((await client.tools()).map(({ name }) => name)).not.toContain('read_result')
    const { content, structuredContent } = await client.call('rows')
    expect(structuredContent).toBeUndefined()
    expect(content).toMatchObject([
      { type: 'text', text: expect.stringContaining('an object with rows (list of 2,000)') },
      { type: 'resource_link', mimeType: 'application/json', uri: expect.stringMatching(/^result:\/\//) },
    ])
    const { uri, size } = content[1]
    const { contents } = await client.read(uri)
    expect(contents).toEqual([{ uri, mimeType: 'application/json', text: JSON.stringify({ rows }) }])
    expect(size).toBe(JSON.stringify({ rows }).length)
    await expect.poll(() => client.changes).toContain('tools')
    expect((await client.tools()).map(({ name }) => name)).toContain('read_result')
    const part = await client.call('read_result', { handle: uri, path: 'rows[1999].name' })
    expect(part.content).toEqual([{ type: 'text', text: 'row 1999' }])
  })

  it('is not for other clients, nor other sessions, and says so', async () => {
    await using client = await open('ann')
    const { uri } = (await client.call('rows')).content[1]
    await using bob = await open('bob')
    await expect(bob.read(uri)).rejects.toThrow('belongs to another caller or conversation')
    const { isError, content } = await bob.call('read_result', { handle: uri })
    expect({ isError, text: content[0].text }).toEqual({
      isError: true,
      text: `The result ${uri} belongs to another caller or conversation`,
    })
    await using again = await connect(
      { url: served.url },
      { token: CLIENT_TOKENS.ann, name: 'other program' },
    )
    await expect(again.read(uri)).rejects.toThrow('belongs to another caller or conversation')
    await expect(client.read('result://made-up')).rejects.toThrow('There is no result result://made-up')
  })

  it('with pictures has links to them, and only those that are not too long go along', async () => {
    await using client = await open('ann')
    const { content } = await client.call('picture')
    expect(content).toMatchObject([
      { type: 'text', text: 'two pictures' },
      { type: 'text', text: expect.stringContaining('[image image/png, 900,000 bytes: kept for 60 minutes') },
      { type: 'image', mimeType: 'image/png' },
      { type: 'resource_link', mimeType: 'image/png', size: 900_000 },
      { type: 'resource_link', mimeType: 'image/png', size: 60_000 },
    ])
    const { contents } = await client.read(content[3].uri)
    expect(contents[0].blob).toBe(picture.toString('base64'))
  })
})

describe('a long result over HTTP', () => {
  const clock = fakeClock()
  const bigResults = new BigResults({ maxTextBytes: 10_000, clock })
  const gateway = testGateway(TOOLS, { bigResults, clients })
  afterAll(() => gateway.close({ drainMs: 0 }))
  const idOf = (handle: string) => handle.slice('result://'.length)
  const call = (name: string, client: 'ann' | 'bob' = 'ann') =>
    dataOf(gateway.post(`/api/tools/${name}/call`, {}, { headers: as(client) }))

  it('is whole, and has a handle that its caller and the owner can read it by', async () => {
    const { result, handle } = await call('rows')
    expect(result).toEqual({ rows })
    for (const headers of [as('ann'), {}]) {
      const response = await gateway.get(`/api/results/${idOf(handle)}`, headers)
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(await response.json()).toEqual({ rows })
    }
    const { calls } = await dataOf(gateway.get('/api/calls', as('ann')))
    expect(calls.at(-1).result).toMatchObject({ success: true, handle })
  })

  it('of somebody else, or of nobody, is not found', async () => {
    const { handle } = await call('rows')
    const foreign = await gateway.get(`/api/results/${idOf(handle)}`, as('bob'))
    expect(foreign.status).toBe(404)
    expect(await foreign.json()).toEqual({
      error: `The result ${handle} belongs to another caller or conversation.`,
    })
    const unknown = await gateway.get('/api/results/made-up', as('ann'))
    expect(unknown.status).toBe(404)
    expect(await dataOf(unknown)).toEqual({
      error: 'There is no result result://made-up; handles begin with result://.',
    })
  })

  it('with binary content gives its bytes; what a page should not show is only downloaded', async () => {
    const { kept } = await call('picture')
    const shown = await gateway.get(`/api/results/${idOf(kept[0].handle)}`, as('ann'))
    expect(shown.headers.get('content-type')).toBe('image/png')
    expect(shown.headers.get('content-disposition')).toMatch(/^inline; filename="result-[\w-]+\.png"$/)
    expect(Buffer.from(await shown.arrayBuffer()).equals(picture)).toBe(true)
    const { handle } = await call('page')
    const page = await gateway.get(`/api/results/${idOf(handle)}`, as('ann'))
    expect(page.headers.get('content-type')).toBe('application/octet-stream')
    expect(page.headers.get('content-disposition')).toMatch(/^attachment/)
    expect(page.headers.get('content-security-policy')).toContain('sandbox')
  })
})
