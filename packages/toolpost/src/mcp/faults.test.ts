import { describe, expect, it } from 'vitest'
import { isRunning, startHostile, startServers } from '../../test/hostile-server/harness.ts'
import { hostileServer } from '../../test/hostile-server/hostile-server.ts'

/** The bounds of the design are 50 to 100 ms; a test machine may be busy. */
const SOON_MS = 1_000

describe('a server that dies under a call', () => {
  it('[F01] a call is repeated no more than once, and only if it may run twice', async () => {
    await using server = await startHostile()
    expect(await server.executor.execute('die_idempotent')).toBe('alive')
    const result = await server.executor.run({ name: 'die_reading', args: { times: 5 } })
    expect(result).toMatchObject({ code: 'unavailable', error: expect.not.stringContaining('outcome') })
    expect([server.count('call die_idempotent'), server.count('call die_reading')]).toEqual([2, 2])
  })

  it('[F02] a server that closes its stdout and lives on is replaced', async () => {
    await using server = await startHostile()
    const { pid = 0 } = server.status()
    expect(await server.executor.run({ name: 'close_stdout' })).toMatchObject({
      code: 'unavailable',
      error: expect.stringContaining('the server closed its stdout'),
    })
    await server.log.logged('MCP connection succeeded', 2)
    expect(isRunning(pid)).toBe(false)
  })

  it('[F01] calls that come while a server is gone fail at once, with the reason and the time of the next attempt', async () => {
    await using server = await startHostile({ healthyStarts: 1, crashCode: 9, stderr: 'still broken' })
    await server.executor.run({ name: 'die', args: { how: 'exit', code: 5 } })
    await server.log.logged('MCP connection attempt 1 failed')
    const result = await server.executor.run({ name: 'echo', args: { text: 'anybody?' } })
    expect(result).toMatchObject({
      code: 'unavailable',
      error: 'The hostile service is unavailable: the server exited with code 9 before it was ready',
      diagnosis: {
        details: { exitCode: 9, stderr: 'still broken', nextAttemptAt: expect.stringMatching(/^\d{4}-.*Z$/) },
      },
    })
    expect(result.execution_time_ms).toBeLessThan(SOON_MS)
    expect(server.status()).toMatchObject({
      state: 'lost',
      exitCode: 9,
      error: expect.stringContaining('code 9'),
    })
  })
})

describe('output without measure', () => {
  it('[F10] junk on stdout is reported with its content, skipped and counted', async () => {
    await using server = await startHostile()
    const lines = ['Server listening on 1234', '{"level":30,"msg":"a log"}', '{broken', '42', '']
    expect(await server.executor.execute('junk', { lines })).toBe('after the junk')
    const warnings = server.log.messages('warn').filter(message => message.includes('stdout'))
    expect(warnings).toEqual(['MCP server wrote a non-JSON-RPC line to stdout: Server listening on 1234'])
    expect(server.status().junkLines).toBe(4)
  })

  it('[F12] a server that fills stderr while it is closed does not hold up the close', async () => {
    const server = await startHostile({ stderrBytesAtClose: 2_000_000 })
    const { pid = 0 } = server.status()
    await server.mcp.close()
    expect(isRunning(pid)).toBe(false)
  })

  it('[F13] a line without end holds no memory, and only calls on that server fail', async () => {
    const entry = { maxLineBytes: 100_000 }
    await using server = await startHostile({}, entry)
    await using other = await startServers({ other: hostileServer() })
    const endless = server.executor.run(
      { name: 'endless_line', args: { bytes: 50_000_000 } },
      { timeoutMs: 1_000 },
    )
    expect(await other.executor.execute('echo', { text: 'not concerned' })).toBe('not concerned')
    expect(await endless).toMatchObject({ success: false, code: 'timeout' })
  })

  it('[F14] a result over the limit fails its own call; the connection stays', async () => {
    await using server = await startHostile({}, { maxLineBytes: 10_000 })
    const { pid } = server.status()
    const caller = new AbortController()
    const beside = server.executor.run({ name: 'never' }, { signal: caller.signal })
    for (const id of ['first', 'last'])
      expect(await server.executor.run({ name: 'big_result', args: { bytes: 500_000, id } })).toMatchObject({
        code: 'tool_error',
        error: expect.stringMatching(/over the limit of 10000 bytes \(maxLineBytes\)/),
      })
    expect(server.status()).toMatchObject({ pid, state: 'ready' })
    caller.abort()
    expect(await beside).toMatchObject({ code: 'cancelled' })
  })
})

describe('processes that do not want to go', () => {
  it('[F15] a death is noticed although a child that left the group holds the pipes for ever', async () => {
    await using server = await startHostile()
    const [child] = JSON.parse(await server.executor.execute('children', { detached: true }))
    const result = await server.executor.run({ name: 'die' })
    process.kill(child, 'SIGKILL')
    expect(result).toMatchObject({ code: 'unavailable' })
    expect(result.execution_time_ms).toBeLessThan(SOON_MS)
  })
})
