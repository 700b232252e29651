import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { startHostile } from '../../test/hostile-server/harness.ts'
import { unharmed } from '../../test/unharmed.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import * as limits from './limits.ts'

const MB = 1024 * 1024

describe('long messages', () => {
  it('[F49] a line just under the limit holds nothing up, and its memory comes back', async () => {
    await using server = await startHostile()
    await server.executor.execute('echo', { text: 'warm' })
    const before = process.memoryUsage().rss
    const records = `{"id":12345,"name":"${'a long name '.repeat(25)}","ok":true},`
    await unharmed(async () => {
      const result = await server.executor.run({
        name: 'fill',
        args: { unit: records, bytes: limits.MAX_MESSAGE_BYTES - 1_000 },
      })
      expect(result).toMatchObject({ success: true, result: { items: expect.any(Array) } })
    }, server)
    expect(process.memoryUsage().rss - before).toBeLessThan(400 * MB)
  })

  it('[F49] more values than anybody can handle are refused in words, and nothing else', async () => {
    await using server = await startHostile()
    await unharmed(async () => {
      const result = await server.executor.run({ name: 'fill', args: { unit: '{},', bytes: 9 * MB } })
      expect(result).toMatchObject({
        code: 'tool_error',
        error: `The server's answer has more than ${limits.MAX_JSON_VALUES} values; the outcome of the call is unknown`,
      })
    }, server)
    expect(server.status().state).toBe('ready')
    expect(await server.executor.execute('echo', { text: 'fine' })).toBe('fine')
  })
})

describe('a server that stops reading its stdin', () => {
  it('[F50] its calls fail in words, no more is kept than the limit, and it is restarted', async () => {
    await using server = await startHostile()
    await server.executor.execute('stop_reading')
    const text = 'x'.repeat(MB)
    const calls = Array.from({ length: (2 * limits.MAX_UNREAD_BYTES) / MB }, async () => {
      await turn()
      return server.executor.run({ name: 'write', args: { text } })
    })
    const results = await unharmed(() => Promise.all(calls), server)
    const refused = results.filter(
      result => !result.success && result.error.endsWith('the server has stopped reading its stdin'),
    )
    expect(refused.length).toBeGreaterThan(calls.length / 4)
    expect(results.every(result => !result.success && result.code === 'unavailable')).toBe(true)
    expect(results.some(result => !result.success && result.error.includes('outcome'))).toBe(true)
    const lost = await server.log.logged('MCP connection lost')
    expect(lost.fields).toMatchObject({ error: 'the server stopped reading its stdin' })
    await server.log.logged('MCP connection succeeded', 2)
    expect(await server.executor.execute('echo', { text: 'back' })).toBe('back')
  })
})

describe('storms', () => {
  it('[F51] a server that changes its tools after every list is listed less and less often', async () => {
    const clock = fakeClock()
    await using server = await startHostile({ listStorm: true }, {}, { clock })
    await unharmed(async () => {
      for (let second = 0; second < 120; second++) {
        await clock.advance(1_000)
        await server.executor.execute('echo', { text: 'so that the list has arrived' })
      }
    })
    // 0.5 + 1 + 2 + … + 30 + 30 s
    expect(server.count('list')).toBeGreaterThan(4)
    expect(server.count('list')).toBeLessThan(
      4 + Math.log2(limits.LIST_MAX_PAUSE_MS / 500) + 120_000 / limits.LIST_MAX_PAUSE_MS,
    )
  })

  it.each([
    ['answers to nothing', '{"jsonrpc":"2.0","id":9$n,"result":{}}'],
    ['requests that nobody knows', '{"jsonrpc":"2.0","id":$n,"method":"sampling/createMessage","params":{}}'],
    ['changes of its tools', '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'],
    ['junk', 'Listening on $n'],
  ])('[F51] a storm of %s fills no log and holds nothing up', async (_, line) => {
    await using server = await startHostile()
    await unharmed(async () => {
      const args = { line, times: 20_000 }
      expect(await server.executor.execute('flood', args)).toBe('after the flood')
    })
    expect(server.log.records.length).toBeLessThan(60)
    expect(server.status().state).toBe('ready')
    expect(server.count('list')).toBeLessThan(10)
  })

  it('[F51] a server with too many tools gives the first of them, and comes and goes without holding anything up', async () => {
    let tools = 0
    await unharmed(async () => {
      await using server = await startHostile({ toolCount: 20_000 })
      tools = server.status().tools.length
      expect(server.log.messages('warn')).toContain(
        `The server lists more than ${limits.MAX_LISTED} tools; the rest is left out`,
      )
      await server.executor.execute('change_tools')
      await server.log.logged('MCP tools removed')
      expect(server.status().tools.length).toBeLessThan(100)
    })
    expect(tools).toBe(limits.MAX_LISTED)
  })
})
