import { describe, expect, it } from 'vitest'
import { as, dataOf, echoTool, testGateway, toolNamed } from '../../test/gateway.ts'
import { CLIENTS } from '../../test/mcp-clients.ts'
import { ToolExecutor } from '../executor/executor.ts'
import { limits } from '../interceptors/index.ts'
import { OfflineClient } from '../models/index.ts'
import { recordingLogger } from '../testing/index.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import type { GatewayOptions } from './context.ts'
import { MAX_STREAMS } from './limits.ts'
import { serveGateway } from './serve-gateway.ts'

const CLAUDE = 'claude-token-0123456789'
const HOME = 'home-token-0123456789!?'
const OWN = 'own-token-0123456789abc'
const clients = {
  claude: { token: CLAUDE, tools: ['echo', 'fs__*'] },
  home: { token: HOME },
}

const tool = (name: string) => toolNamed(name, () => `${name} done`, { sentences: [`perform ${name}`] })

function gatewayWith(options: Partial<GatewayOptions> = {}, logger = recordingLogger()) {
  const manager = new ToolManager()
  for (const each of [echoTool, tool('secret'), tool('other')]) manager.addCustomTool(each)
  manager.addMcpTools([tool('read'), tool('write')], { server: 'fs' })
  manager.addMcpTools([tool('light')], { server: 'zwave' })
  const executor = new ToolExecutor(manager, { logger })
  const client = new OfflineClient({ executor })
  return testGateway([], { executor, clients, client, logger, ...options })
}

const call = (name: string) => `/api/tools/${name}/call`
const namesIn = (data: { tools: { name: string }[] }) => data.tools.map(({ name }) => name)

describe('clients with a token of their own', () => {
  it('[F65] list and find only what they may use: a pattern of a server means all its tools', async () => {
    await using gateway = gatewayWith()
    expect(namesIn(await dataOf(gateway.get('/api/tools', as(CLAUDE))))).toEqual(['echo', 'read', 'write'])
    expect(namesIn(await dataOf(gateway.get('/api/tools', as(HOME))))).toHaveLength(6)
    expect(namesIn(await dataOf(gateway.get('/api/tools')))).toHaveLength(6)
    const { paths } = await dataOf(gateway.get('/api/openapi.json', as(CLAUDE)))
    expect(Object.keys(paths)).toContain('/api/tools/read/call')
    expect(Object.keys(paths)).not.toContain('/api/tools/secret/call')
  })

  it('a tool that they may not use is as unknown as one that is not there', async () => {
    await using gateway = gatewayWith()
    const post = (name: string) => gateway.post(call(name), {}, { headers: as(CLAUDE) })
    expect((await post('read')).status).toBe(200)
    const hidden = await post('secret')
    const missing = await post('nothing')
    expect([hidden.status, missing.status]).toEqual([404, 404])
    expect(await dataOf(hidden)).toMatchObject({ code: 'unknown_tool', error: "Tool 'secret' not found" })
    const near = await dataOf(post('secre'))
    expect(JSON.stringify(near)).not.toContain('secret')
    expect((await gateway.post(call('secret'), {}, { headers: as(HOME) })).status).toBe(200)
  })

  it('see their own calls only, whatever they ask for: pages, exports, single calls', async () => {
    await using gateway = gatewayWith()
    await gateway.post(call('echo'), { who: 'claude' }, { headers: as(CLAUDE) })
    await gateway.post(call('echo'), { who: 'home' }, { headers: as(HOME) })
    const { calls } = await dataOf(gateway.get('/api/calls'))
    for (const query of ['limit=10', 'caller=home', 'q=home', 'tool=echo']) {
      const page = await dataOf(gateway.get(`/api/calls?${query}`, as(CLAUDE)))
      expect(JSON.stringify(page)).not.toContain('"who":"home"')
    }
    expect((await dataOf(gateway.get('/api/calls?limit=10', as(CLAUDE)))).calls).toHaveLength(1)
    const exported = await (await gateway.get('/api/calls/export?format=jsonl', as(CLAUDE))).text()
    expect(exported.trim().split('\n')).toHaveLength(1)
    expect(exported).toContain('claude')
    const [own, foreign] = calls.map(({ serial }: { serial: string }) => `/api/calls/${serial}`)
    expect((await gateway.get(own, as(CLAUDE))).status).toBe(200)
    expect((await gateway.get(foreign, as(CLAUDE))).status).toBe(404)
  })

  it('see of the servers what concerns them, and restart none', async () => {
    const servers = [
      { name: 'fs', state: 'ready', tools: ['read', 'write'], stderr: 'a secret', error: undefined },
      { name: 'zwave', state: 'failed', tools: ['light'], stderr: 'a secret', error: 'a secret' },
    ]
    const restarted: string[] = []
    const mcp = {
      status: () => servers,
      restart: async (name: string) => void restarted.push(name),
      on: () => () => {},
    } as unknown as GatewayOptions['mcp']
    await using gateway = gatewayWith({ mcp })
    const seen = await dataOf(gateway.get('/api/servers', as(CLAUDE)))
    expect(seen.servers).toMatchObject([{ name: 'fs', tools: ['read', 'write'] }])
    expect(JSON.stringify(seen)).not.toContain('a secret')
    for (const name of ['echo', 'secret']) await gateway.post(call(name), {})
    const metrics = await (await gateway.get('/metrics', as(CLAUDE))).text()
    expect(metrics).toContain('{tool="echo"}')
    expect(metrics).not.toContain('{tool="secret"}')
    const restart = '/api/servers/fs/restart'
    expect((await gateway.post(restart, undefined, { headers: as(CLAUDE) })).status).toBe(403)
    expect((await gateway.post(restart)).status).toBe(200)
    expect(restarted).toEqual(['fs'])
  })
})

describe.each(CLIENTS)('a named client over MCP, %s', (_, connect) => {
  it('lists and calls only what it may use', async () => {
    await using gateway = gatewayWith()
    const served = await serveGateway({ port: 0, executor: gateway.executor, clients, token: OWN })
    await using client = await connect({ url: served.url }, { token: CLAUDE })
    expect(namesIn({ tools: await client.tools() })).toEqual(['echo', 'read', 'write'])
    expect((await client.call('read')).content[0].text).toBe('read done')
    await expect(client.call('secret')).rejects.toMatchObject({ code: -32602 })
    expect((await dataOf(gateway.get('/api/calls'))).calls).toMatchObject([
      { tool: 'read', origin: 'mcp', caller: 'claude' },
      { tool: 'secret', caller: 'claude' },
    ])
    await served.close({ drainMs: 0 })
  })
})

it('[F54] a named client opens at most half of the streams, so that others can open theirs', async () => {
  await using gateway = gatewayWith()
  const open = (token: string) => gateway.get('/api/events', as(token))
  const opened = await Promise.all(Array.from({ length: MAX_STREAMS }, () => open(CLAUDE)))
  expect(opened.filter(({ status }) => status === 200)).toHaveLength(MAX_STREAMS / 2)
  expect((await open(HOME)).status).toBe(200)
})

describe('limits over HTTP', () => {
  it('a call over its limit is answered with 429 and Retry-After in whole seconds; its body is the result', async () => {
    await using gateway = gatewayWith()
    gateway.executor.use(limits({ callers: { claude: { perMinute: 1 } } }))
    const send = (token: string) => gateway.post(call('echo'), {}, { headers: as(token) })
    expect((await send(CLAUDE)).status).toBe(200)
    const refused = await send(CLAUDE)
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('60')
    expect(await dataOf(refused)).toMatchObject({ success: false, code: 'limited', tool_name: 'echo' })
    expect((await send(HOME)).status).toBe(200)
  })
})
