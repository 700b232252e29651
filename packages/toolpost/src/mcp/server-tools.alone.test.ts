import { describe, expect, it } from 'vitest'
import { closedGate, gatedServer, lateServer } from '../../test/gated-server.ts'
import { harnessFor, startHostile, startServers } from '../../test/hostile-server/harness.ts'
import { hostileServer } from '../../test/hostile-server/hostile-server.ts'
import { createGateway } from '../gateway/gateway.ts'

const sameName = [{ name: 'lookup', description: 'Looks it up', inputSchema: { type: 'object' } }]

describe('the tools of a server', () => {
  it('[F35] a list that changes is followed: new tools appear, gone ones go, changed ones are logged', async () => {
    await using server = await startHostile()
    const untouched = server.tools.findTool('write')
    await server.executor.execute('change_tools')
    await server.log.logged('MCP tools removed')
    expect(server.tools.findTool('removable')).toBeUndefined()
    expect(server.tools.findTool('added')).toMatchObject({ description: 'Was not there before' })
    expect(server.tools.findTool('write')).toBe(untouched)
    const changed = server.log.records.find(
      record => record.message === "The definition of MCP tool 'echo' changed",
    )
    expect(changed?.fields).toMatchObject({
      server: 'hostile',
      tool: 'echo',
      changes: ['description', 'schema'],
    })
    expect(await server.executor.run({ name: 'echo', args: { text: 'old' } })).toMatchObject({
      code: 'invalid_arguments',
    })
    expect(await server.executor.execute('added')).toBe('hostile added')
  })

  it('[F36] of two servers with one tool name the first in the configuration keeps it', async () => {
    const labelled = (label: string) => hostileServer({ tools: sameName, label })
    await using both = await startServers({ first: labelled('first'), second: labelled('second') })
    const answers = ['lookup', 'second__lookup'].map(name => both.executor.execute(name))
    expect(await Promise.all(answers)).toEqual(['first lookup', 'second lookup'])
    expect(both.mcp.status().map(status => status.tools)).toEqual([['lookup'], ['second__lookup']])
  })

  it.each(['called', 'listed'])('[F36] keep the names under which they were %s', async how => {
    const gate = closedGate()
    await using servers = harnessFor({ first: lateServer('first', gate.path), second: gatedServer('second') })
    await servers.mcp.ready('second')
    if (how === 'called') expect(await servers.executor.execute('label')).toBe('second')
    else await createGateway({ ...servers, token: false }).fetch(new Request('http://127.0.0.1/api/tools'))
    gate.open()
    await servers.mcp.ready()
    const answers = ['label', 'first__label'].map(name => servers.executor.execute(name))
    expect(await Promise.all(answers)).toEqual(['second', 'first'])
  })

  it('[F27] that are nested too deeply are left out with a message, and do no harm when they come again', async () => {
    const deep = JSON.parse('['.repeat(2_000) + ']'.repeat(2_000))
    await using server = await startHostile({
      tools: [...sameName, { name: 'deep', _meta: { deep } }, { name: deep }],
    })
    await server.mcp.restart('hostile')
    expect(server.status()).toMatchObject({ state: 'ready', tools: ['lookup'] })
    expect(server.log.text()).toContain("'deep' is nested too deeply")
  })

  it('are offered as include and exclude say, with their sentences, limits and argument names', async () => {
    const limits = { timeoutMs: 5_000, maxTimeoutMs: 9_000 }
    const offered = { include: ['e*', 'write', 'progress'], exclude: ['*dless*', 'env?ronment'] }
    const words = { sentences: { echo: ['say {text}'] }, parameterNames: { echo: { words: 'text' } } }
    await using server = await startHostile({}, { ...offered, ...limits, ...words })
    expect(server.status().tools).toEqual(['echo', 'write', 'progress'])
    expect(server.tools.findTool('echo')).toMatchObject({ ...limits, sentences: ['say {text}'] })
    expect(await server.executor.execute('echo', { words: 'by another name' })).toBe('by another name')
  })
})

describe('secrets', () => {
  it('[F34] of the configuration are in no log, no status and no result', async () => {
    const secret = 'sk-very-secret-value'
    const entry = hostileServer({ stderr: `starting with ${secret}`, healthyStarts: 1_000 })
    const servers = { mine: { ...entry, env: { MY_API_KEY: secret } } }
    await using server = await startServers(servers)
    expect(server.status().stderr).toBe('starting with [removed]')
    const result = await server.executor.run({ name: 'die', args: { stderr: `dying with ${secret}` } })
    await server.log.logged('MCP connection succeeded', 2)
    expect(JSON.stringify([result, server.log.records, server.mcp.status()])).not.toContain(secret)
  })

  it('of this process are not handed on to a server', async () => {
    process.env.TOOLPOST_TEST_SECRET = 'something private'
    await using server = await startHostile()
    const names = (await server.executor.execute('environment')).split(',')
    delete process.env.TOOLPOST_TEST_SECRET
    expect(names).toContain('PATH')
    expect(names).not.toContain('TOOLPOST_TEST_SECRET')
  })
})
