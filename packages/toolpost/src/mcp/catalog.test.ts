import { describe, expect, it } from 'vitest'
import { type Harness, harnessFor, startServers } from '../../test/hostile-server/harness.ts'
import { unharmed } from '../../test/unharmed.ts'
import { type OfferingOptions, offeringServer } from './test-servers/offering.ts'

const PATIENCE = { interval: 10, timeout: 10_000 }
const resource = (uri: string) => ({ uri, name: uri })
const prompt = (name: string) => ({ name })

function started(servers: Record<string, OfferingOptions>): Promise<Harness> {
  const entries = Object.entries(servers).map(([name, options]) => [
    name,
    offeringServer({ name, ...options }),
  ])
  return startServers(Object.fromEntries(entries))
}

describe('the names of what servers offer', () => {
  it('are unique: the first in the configuration keeps one, and none can take the prefixed name of another', async () => {
    await using servers = await started({
      evil: { prompts: [prompt('other__x'), prompt('x')], resources: [resource('file:///x')] },
      other: { prompts: [prompt('x'), prompt('y')], resources: [resource('file:///x')] },
    })
    const { catalog } = servers.mcp
    const prompts = (await catalog.list('prompts')).entries.map(({ name }) => name)
    expect(prompts).toEqual(['evil__other__x', 'x', 'other__x', 'y'])
    const text = async (name: string) => JSON.stringify((await catalog.prompt(name, undefined)).messages)
    expect(await text('other__x')).toContain('other x')
    expect(await text('evil__other__x')).toContain('evil other__x')
    expect(await text('other__y')).toContain('other y')
    const uris = (await catalog.list('resources')).entries.map(({ uri }) => uri)
    expect(uris).toEqual(['file:///x', 'other+file:///x'])
    await expect(catalog.prompt('none', undefined)).rejects.toThrow("Prompt 'none' not found")
  })
})

describe('a server', () => {
  it('that becomes ready later, or is closed, changes the names as the configuration says; one that is away does not', async () => {
    await using servers = harnessFor({
      first: offeringServer({ name: 'first', prompts: [prompt('x')] }),
      second: offeringServer({ name: 'second', prompts: [prompt('x')] }),
    })
    const { mcp } = servers
    const { catalog } = mcp
    let changes = 0
    catalog.on('prompts', () => changes++)
    const shown = async () => (await catalog.list('prompts')).entries.map(({ name }) => name)
    expect(await shown()).toEqual([])
    await mcp.ready()
    await expect.poll(shown, PATIENCE).toEqual(['x', 'second__x'])
    await expect.poll(() => changes, PATIENCE).toBeGreaterThan(0)
    const killed = servers.log.logged('MCP connection lost')
    process.kill(servers.status('first').pid ?? 0, 'SIGKILL')
    await killed
    expect(await shown()).toEqual(['x', 'second__x'])
    await expect.poll(() => servers.status('first').state, PATIENCE).toBe('ready')
    expect(await catalog.prompt('x', undefined)).toMatchObject({
      messages: [{ content: { text: 'first x {}' } }],
    })
    changes = 0
    await mcp.close()
    expect(await shown()).toEqual([])
    await expect.poll(() => changes, PATIENCE).toBeGreaterThan(0)
  })
})

describe('an attack with what a server offers', () => {
  it.each([
    ['resources', { generate: { resources: 20_000 } }, 'more than 5000 resources'],
    ['resources', { endless: 'resources' }, 'more than 1000 pages'],
  ] as const)(
    '%s without end are felt by nobody else: %o',
    async (kind, options, words) => {
      await using servers = await started({ one: options, two: { resources: [resource('file:///x')] } })
      const { catalog } = servers.mcp
      const { entries } = await unharmed(() => catalog.list(kind))
      expect(entries.length).toBeLessThanOrEqual(5_001)
      await expect.poll(() => servers.log.text(), { interval: 50, timeout: 30_000 }).toContain(words)
      expect(await catalog.read('two+file:///x')).toMatchObject({ contents: [{ text: 'two file:///x' }] })
    },
    60_000,
  )

  it('entries that cannot be used are left out, with the reason in the log', async () => {
    const bad = [7, null, {}, { uri: '' }, { uri: 'x:\u0007' }, { uri: `x:${'y'.repeat(9_000)}` }]
    await using servers = await started({ one: { resources: [...bad, resource('x:good')] } })
    expect((await servers.mcp.catalog.list('resources')).entries).toEqual([resource('x:good')])
    expect(servers.log.text()).toContain('Left out of the resources')
  })
})
