import { describe, expect, it } from 'vitest'
import { startServers } from '../../test/hostile-server/harness.ts'
import { streamableServer } from './test-servers/http-servers.ts'

describe('Streamable HTTP of SDK v1', () => {
  it('connects, lists and calls', async () => {
    await using server = await streamableServer()
    await using client = await startServers({ remote: { url: server.url } })
    expect(client.status()).toMatchObject({
      state: 'ready',
      attempts: 1,
      protocolVersion: '2025-11-25',
      stderr: '',
      pid: undefined,
    })
    expect(client.status().tools).toContain('echo')
    expect(await client.executor.execute('echo', { text: 'hello' })).toBe('hello')
    expect(await client.executor.run({ name: 'fail', args: { text: 'my own words' } })).toMatchObject({
      code: 'tool_error',
      error: 'my own words',
    })
    expect(await client.executor.run({ name: 'structured' })).toMatchObject({
      result: { much: 5 },
      text: 'so much',
    })
  })

  it('[F34] takes user and password out of the address, into a header', async () => {
    await using server = await streamableServer()
    const url = server.url.replace('://', '://me:p%40ss-of-the-address@')
    await using client = await startServers({ remote: { url } })
    expect(client.status().state).toBe('ready')
    expect(await client.executor.execute('echo', { text: 'hello' })).toBe('hello')
    expect([...server.authorizations]).toEqual([
      `Basic ${Buffer.from('me:p@ss-of-the-address').toString('base64')}`,
    ])
    expect(JSON.stringify([client.log.records, client.status()])).not.toContain('ss-of-the-address')
  })

  it('is lost when the server goes, and comes back by itself', async () => {
    await using server = await streamableServer()
    await using client = await startServers({ remote: { url: server.url } })
    await client.executor.execute('echo', { text: 'before' })
    await server.stop()
    const result = await client.executor.run({ name: 'write' })
    expect(result).toMatchObject({
      code: 'unavailable',
      error: expect.stringMatching(/^The remote service is unavailable: /),
    })
    expect(client.status().state).not.toBe('ready')
    await server.restart()
    await client.log.logged('MCP connection succeeded', 2)
    expect(await client.executor.execute('echo', { text: 'after' })).toBe('after')
  })
})
