import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { commandLine } from '../../test/command.ts'
import { PATIENCE } from '../../test/gateway.ts'
import { type Harness, startServers } from '../../test/hostile-server/harness.ts'
import { type AnyClient, CLIENTS, type Connect, type Target } from '../../test/mcp-clients.ts'
import { offeringServer } from '../mcp/test-servers/offering.ts'
import { type ServedGateway, serveGateway } from './serve-gateway.ts'

const VIEW = { ui: { resourceUri: 'ui://forecast/view', visibility: ['app'] }, 'example.com/other': [1] }
const APP = 'text/html;profile=mcp-app'
const ICONS = [{ src: 'https://example.com/i.png', mimeType: 'image/png', sizes: ['48x48'] }]
const SHARED = {
  resources: [
    { uri: 'file:///shared', name: 'Shared', mimeType: 'text/plain', size: 3, annotations: { priority: 1 } },
    { uri: 'ui://forecast/view', name: 'View', mimeType: APP, _meta: VIEW, icons: ICONS },
  ],
  templates: [{ uriTemplate: 'note://{id}', name: 'Notes', icons: ICONS }],
  prompts: [{ name: 'greet', arguments: [{ name: 'who', required: true }], icons: ICONS, _meta: VIEW }],
}
/** Two servers that offer the same, one of which has more, and a gateway before them. */
const servers = {
  one: offeringServer({ name: 'one', instructions: 'Ask one.', ...SHARED }),
  two: offeringServer({
    name: 'two',
    protocol: 'modern',
    instructions: 'Ask two.',
    ...SHARED,
    resources: [...SHARED.resources, { uri: 'file:///only', name: 'Only two' }],
  }),
}

let harness: Harness
let gateway: ServedGateway
beforeAll(async () => {
  harness = await startServers(servers)
  gateway = await serveGateway({ token: false, port: 0, executor: harness.executor, mcp: harness.mcp })
})
afterAll(async () => {
  await gateway.close({ drainMs: 0 })
  await harness.mcp.close()
})

const { configFile } = commandLine()
const stdio = (): Target => ({ config: configFile({ mcpServers: servers }) })
const http = (): Target => ({ url: gateway.url })
const WAYS: [string, Connect, () => Target][] = [
  ...CLIENTS.map(([name, connect]): [string, Connect, () => Target] => [`${name}, HTTP`, connect, http]),
  ...CLIENTS.slice(1).map(([name, connect]): [string, Connect, () => Target] => [
    `${name}, stdio`,
    connect,
    stdio,
  ]),
]

const text = ({ contents }: { contents: { text: string }[] }) => contents.map(each => each.text)
const json = ({ content }: { content: { text: string }[] }) => JSON.parse(content[0]?.text ?? '')
const of = <T>(list: T[], key: keyof T) => list.map(each => each[key])

describe.each(WAYS)('what servers have beside tools, for a client of the %s', (_, connect, target) => {
  let client: AnyClient
  const asked: string[] = []
  const person = ({ message }: { message: string }) => {
    asked.push(message)
    return { action: 'accept', content: { sure: true } }
  }
  beforeAll(async () => {
    client = await connect(target(), { person, model: () => SAMPLED })
    // Over stdio the servers start with the client.
    const isThere = async () => expect(of(await client.resources(), 'uri')).toContain('file:///only')
    await vi.waitFor(isThere, PATIENCE)
  })
  afterAll(() => client[Symbol.asyncDispose]())

  it('is listed under names that are told apart, as the servers describe it', async () => {
    const resources = await client.resources()
    expect(of(resources, 'uri')).toEqual([
      'file:///shared',
      'ui://forecast/view',
      'two+file:///shared',
      'two+ui://forecast/view',
      'file:///only',
    ])
    expect(resources[0]).toMatchObject(SHARED.resources[0] ?? {})
    expect(resources[1]).toEqual(SHARED.resources[1])
    expect(of(await client.templates(), 'uriTemplate')).toEqual(['note://{id}', 'two+note://{id}'])
    const prompts = await client.prompts()
    expect(of(prompts, 'name')).toEqual(['greet', 'two__greet'])
    expect(prompts[0]).toEqual(SHARED.prompts[0])
  })

  it('is read from the server that has it, and comes back under the URI that was asked for', async () => {
    const only = await client.read('file:///only')
    expect(text(only)).toEqual(['two file:///only'])
    expect(text(await client.read('one+file:///shared'))).toEqual(['one file:///shared'])
    const shared = await client.read('two+file:///shared')
    expect(shared.contents).toMatchObject([{ uri: 'two+file:///shared', text: 'two file:///shared' }])
    const below = await client.read('two+x:sub')
    expect(of(below.contents, 'uri')).toEqual(['two+x:sub', 'two+x:sub/below'])
    const view = await client.read('ui://forecast/view')
    expect(view.contents).toMatchObject([{ uri: 'ui://forecast/view', mimeType: APP, _meta: VIEW }])
    expect(text(await client.read('note://7'))).toEqual(['one note://7'])
    expect(text(await client.read('two+note://7'))).toEqual(['two note://7'])
  })

  it('tells of changes of each kind, once for those that come together', async () => {
    for (const method of ['tools', 'resources', 'prompts'])
      await client.call('notify', { method: `notifications/${method}/list_changed`, count: 20 })
    await expect
      .poll(() => client.changes, PATIENCE)
      .toEqual(expect.arrayContaining(['resources', 'prompts']))
    expect(client.changes.length).toBeLessThan(15)
    client.changes.length = 0
    const prompts = [...SHARED.prompts, { name: `extra` }]
    await client.call('two__set', { prompts })
    await expect.poll(async () => of(await client.prompts(), 'name'), PATIENCE).toContain('extra')
    await client.call('two__set', { prompts: SHARED.prompts })
    await expect.poll(async () => of(await client.prompts(), 'name'), PATIENCE).not.toContain('extra')
    await expect.poll(() => client.changes, PATIENCE).toContain('prompts')
  })

  it('tells of changes of resources that the client follows, as it knows them, and of no others', async () => {
    const stops = [await client.follow('two+file:///shared'), await client.follow('two+note://1')]
    const tell = (tool: string, uri: string) =>
      client.call(tool, { method: 'notifications/resources/updated', params: { uri } })
    for (const tool of ['notify', 'two__notify'])
      for (const uri of ['file:///shared', 'note://1', 'file:///only']) await tell(tool, uri)
    await expect
      .poll(() => client.updates.toSorted(), PATIENCE)
      .toEqual(['two+file:///shared', 'two+note://1'])
    for (const stop of stops) await stop()
    await tell('two__notify', 'file:///shared')
    await client.call('state')
    expect(client.updates).toHaveLength(2)
  })
})

describe.each(CLIENTS)('a client of the %s', (_, connect) => {
  it('has the instructions of all servers', async () => {
    await using client = await connect({ url: gateway.url })
    expect(client.instructions).toBe('# one\n\nAsk one.\n\n# two\n\nAsk two.')
  })
})

const SAMPLED = { model: 'm', role: 'assistant', content: { type: 'text', text: 'written' } }

describe('servers of the newest protocol that ask in place of a result', () => {
  it.each(CLIENTS)(
    'are answered by a client of the %s: many at once, and round after round',
    async (_, connect) => {
      const person = ({ message }: { message: string }) => ({ action: 'accept', content: { to: message } })
      await using client = await connect({ url: gateway.url }, { person, model: () => SAMPLED })
      const many = json(await client.call('two__many', { count: 8 }))
      expect(Object.keys(many)).toHaveLength(8)
      for (const [key, { content }] of Object.entries<{ content: unknown }>(many))
        expect(content).toEqual({ to: `two: Question ${key.slice(1)}` })
      const { content } = await client.call('two__rounds', { count: 5 })
      expect(content[0].text).toContain('after 5 rounds')
      expect(json(await client.call('two__ask'))).toMatchObject({ state: 'state "ü" \n ✓' })
      const endless = await client.call('two__rounds', { count: 1_000 })
      expect(endless).toMatchObject({ isError: true })
      expect(endless.content[0].text).toContain('more than 10 times')
      const flood = await client.call('two__many', { count: 1_000 })
      expect(flood.content[0].text).toContain('more than 16 inputs at once')
    },
  )
})
