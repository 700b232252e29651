import { createRequire } from 'node:module'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commandLine } from '../../test/command.ts'
import { type Harness, startServers } from '../../test/hostile-server/harness.ts'
import {
  type AnyClient,
  CLIENTS,
  CLIENTS_2025,
  type Connect,
  connectV1,
  NEWEST,
  type Target,
} from '../../test/mcp-clients.ts'
import { type ServedGateway, serveGateway } from './serve-gateway.ts'

const PATIENCE = { interval: 20, timeout: 15_000 }
const file = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js')
const mcpServers = {
  everything: {
    command: process.execPath,
    args: [file, 'stdio'],
    sampling: true,
    roots: ['/work/here', { uri: 'file:///work/there', name: 'There' }],
  },
}

let harness: Harness
let gateway: ServedGateway
beforeAll(async () => {
  harness = await startServers(mcpServers)
  gateway = await serveGateway({ token: false, port: 0, executor: harness.executor, mcp: harness.mcp })
})
afterAll(async () => {
  await gateway.close({ drainMs: 0 })
  await harness.mcp.close()
})

const { configFile } = commandLine()
const http = (): Target => ({ url: gateway.url })
const stdio = (): Target => ({ config: configFile({ mcpServers }) })
const WAYS: [string, Connect, () => Target][] = [
  ...CLIENTS.map(([name, connect]): [string, Connect, () => Target] => [`${name}, HTTP`, connect, http]),
  ['SDK v1, stdio', connectV1, stdio],
  ['SDK v2, newest protocol, stdio', NEWEST[1], stdio],
]
const textIn = ({ content }: { content: { text: string }[] }) => content.map(({ text }) => text).join('\n')
const of = <T>(list: T[], key: keyof T) => list.map(each => each[key])

describe.each(WAYS)('server-everything behind the gateway, for a client of the %s', (_, connect, target) => {
  let client: AnyClient
  const asked: { message: string; mode?: string; url?: string; requestedSchema?: { properties: object } }[] =
    []
  const FORM = { name: 'Ada Lovelace', check: true, integer: 42 }
  const SAMPLED = { model: 'test-model', role: 'assistant', content: { type: 'text', text: 'Sampled words' } }
  beforeAll(async () => {
    const person = (params: (typeof asked)[0]) => {
      asked.push(params)
      return params.mode === 'url' ? { action: 'accept' } : { action: 'accept', content: FORM }
    }
    client = await connect(target(), { person, model: () => SAMPLED })
  })
  afterAll(() => client?.[Symbol.asyncDispose]())

  it('has its resources, templates and completion', async () => {
    const resources = await client.resources()
    expect(resources.length).toBeGreaterThan(3)
    const { contents } = await client.read(resources[0].uri)
    expect(contents[0]).toMatchObject({ uri: resources[0].uri, text: expect.any(String) })
    expect(of(await client.templates(), 'uriTemplate')).toContain('demo://resource/dynamic/text/{resourceId}')
    const text = await client.read('demo://resource/dynamic/text/7')
    expect(text.contents).toMatchObject([
      { uri: 'demo://resource/dynamic/text/7', text: expect.stringContaining('7') },
    ])
    const blob = await client.read('demo://resource/dynamic/blob/7')
    expect(blob.contents).toMatchObject([{ blob: expect.any(String) }])
    await expect(client.read('demo://resource/nothing')).rejects.toThrow(/not found/i)
    const ref = { type: 'ref/resource', uri: 'demo://resource/dynamic/text/{resourceId}' }
    expect(await client.complete(ref, 'resourceId', '5')).toEqual(['5'])
  })

  it('has its prompts and their completion', async () => {
    expect(of(await client.prompts(), 'name')).toEqual(
      expect.arrayContaining(['simple-prompt', 'args-prompt', 'completable-prompt', 'resource-prompt']),
    )
    const { messages } = await client.prompt('args-prompt', { city: 'Paris', state: 'Texas' })
    expect(messages[0].content.text).toContain('Paris, Texas')
    const embedded = await client.prompt('resource-prompt', { resourceType: 'Text', resourceId: '3' })
    expect(embedded.messages.map(({ content }: { content: { type: string } }) => content.type)).toContain(
      'resource',
    )
    const ref = { type: 'ref/prompt', name: 'completable-prompt' }
    expect(await client.complete(ref, 'department', 'S')).toEqual(['Sales', 'Support'])
    await expect(client.prompt('args-prompt')).rejects.toThrow()
  })

  it('asks by a form and by an address', async () => {
    asked.length = 0
    expect(textIn(await client.call('trigger-elicitation-request'))).toContain('Ada Lovelace')
    expect(asked[0]?.requestedSchema?.properties).toHaveProperty('name')
    const url = 'https://example.com/login'
    await client.call('trigger-url-elicitation', { url, message: 'Log in' })
    expect(asked[1]).toMatchObject({ mode: 'url', url, message: 'everything: Log in' })
  })

  it('has the model of the client write, and knows where it may work', async () => {
    const sampled = await client.call('trigger-sampling-request', { prompt: 'Say something', maxTokens: 10 })
    expect(textIn(sampled)).toContain('Sampled words')
    const roots = textIn(await client.call('get-roots-list'))
    expect(roots).toContain('file:///work/here')
    expect(roots).toContain('There')
  })

  it('reports progress and can be cancelled', async () => {
    const seen: number[] = []
    const onprogress = ({ progress }: { progress: number }) => seen.push(progress)
    const long = { duration: 0.4, steps: 4 }
    await client.call('trigger-long-running-operation', long, { onprogress })
    expect(seen).toEqual([1, 2, 3, 4])
    const caller = new AbortController()
    const call = client.call(
      'trigger-long-running-operation',
      { duration: 600, steps: 600 },
      { signal: caller.signal, onprogress: () => caller.abort() },
    )
    await expect(call).rejects.toThrow()
  })

  it('tells of a resource that a tool made', async () => {
    client.changes.length = 0
    const data = `data:text/plain;base64,${btoa('hello')}`
    const { content } = await client.call('gzip-file-as-resource', {
      name: 'x.gz',
      data,
      outputType: 'resourceLink',
    })
    expect(content[0]).toMatchObject({ type: 'resource_link', uri: expect.stringContaining('x.gz') })
    const { contents } = await client.read(content[0].uri)
    expect(contents[0].blob.length).toBeGreaterThan(10)
    await expect.poll(() => client.changes, PATIENCE).toContain('resources')
    expect(of(await client.resources(), 'uri')).toContain(content[0].uri)
  })

  it('tells of resources that the client follows', async () => {
    const uri = 'demo://resource/dynamic/text/9'
    const stop = await client.follow(uri)
    await client.call('toggle-subscriber-updates')
    await expect.poll(() => client.updates, PATIENCE).toContain(uri)
    await client.call('toggle-subscriber-updates')
    await stop()
  })

  it('keeps annotations, images, links and structured content as they are', async () => {
    const annotated = await client.call('get-annotated-message', { messageType: 'error', includeImage: true })
    expect(annotated.content).toMatchObject([
      { type: 'text', annotations: { priority: 1 } },
      { type: 'image', annotations: { audience: ['user'] } },
    ])
    expect(await client.call('get-structured-content', { location: 'New York' })).toMatchObject({
      structuredContent: { temperature: expect.any(Number) },
    })
    expect(client.instructions ?? '').toEqual(expect.any(String))
  })
})

describe('server-everything behind the gateway', () => {
  it.each(CLIENTS_2025)('logs to a client of the %s from its level on', async (_, connect) => {
    await using client = await connect(http())
    await client.setLevel('debug')
    // Logs at once, and then every five seconds.
    await client.call('toggle-simulated-logging')
    await client.call('toggle-simulated-logging')
    await expect.poll(() => harness.log.text(), PATIENCE).toMatch(/MCP server: \w+[- ]level/)
  })

  it.each(CLIENTS)(
    'declines for a client of the %s that has nobody to ask, and says so',
    async (_, connect) => {
      await using client = await connect(http())
      expect(textIn(await client.call('trigger-elicitation-request'))).toMatch(/declined/i)
      expect(harness.log.text()).toContain('this caller cannot answer prompts')
      const sampled = await client.call('trigger-sampling-request', { prompt: 'x' })
      expect(sampled).toMatchObject({ isError: true })
      expect(textIn(sampled)).toContain('No model is available for sampling')
    },
  )
})
