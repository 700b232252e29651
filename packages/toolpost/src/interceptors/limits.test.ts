import { describe, expect, it } from 'vitest'
import type { ToolResult } from '../call/tool-result.ts'
import { ToolExecutor } from '../executor/executor.ts'
import type { RunOptions } from '../executor/options.ts'
import { fakeClock } from '../testing/index.ts'
import { defineTool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import type { Clock } from '../util/clock.ts'
import { type LimitsOptions, limits } from './index.ts'

/** Tools that end when they are told to, and count how many of them run. */
function bench(options: LimitsOptions, clock: Clock = fakeClock()) {
  const ends: (() => void)[] = []
  const begun: string[] = []
  let peak = 0
  let all = 0
  const toolOf = (name: string) =>
    defineTool({
      name,
      description: 'Ends when it is told to',
      schema: { type: 'object' },
      handler: async (args: Record<string, unknown>) => {
        begun.push(String(args.n ?? name))
        peak = Math.max(peak, ++all)
        await new Promise<void>(resolve => ends.push(resolve))
        all--
        return name
      },
    })
  const tools = new ToolManager()
  tools.addCustomTool(toolOf('local'))
  tools.addCustomTool(toolOf('search'))
  tools.addMcpTools([toolOf('read'), toolOf('write')], { server: 'fs' })
  tools.addMcpTools([toolOf('light')], { server: 'zwave' })
  const executor = new ToolExecutor(tools, { clock })
  executor.use(limits({ clock, ...options }))
  return {
    executor,
    begun,
    get peak() {
      return peak
    },
    run: (name: string, more: RunOptions & { n?: number } = {}) =>
      executor.run({ name, args: { n: more.n } }, more),
    /** Ends the call that began first of those that run; lets everything that follows from it happen. */
    async endOne() {
      ends.shift()?.()
      await settled()
    },
    async endAll() {
      await settled()
      while (ends.length > 0) {
        for (const end of ends.splice(0)) end()
        await settled()
      }
    },
  }
}

const settled = () => new Promise<void>(resolve => setImmediate(resolve))
const codes = (results: ToolResult[]) => results.map(result => (result.success ? 'ok' : result.code))

describe('limits', () => {
  it('let only so many run at once, and the others wait in the order they came', async () => {
    const at = bench({ tools: { search: { concurrency: 2 } } })
    const calls = [1, 2, 3, 4, 5].map(n => at.run('search', { n }))
    await settled()
    expect(at.begun).toEqual(['1', '2'])
    await at.endOne()
    expect(at.begun).toEqual(['1', '2', '3'])
    await at.endAll()
    expect(codes(await Promise.all(calls))).toEqual(Array(5).fill('ok'))
    expect(at.begun).toEqual(['1', '2', '3', '4', '5'])
    expect(at.peak).toBe(2)
  })

  it('refuse a call that finds the queue full, with a reason and when to try again', async () => {
    const at = bench({ tools: { search: { concurrency: 1, queue: 1 } } })
    const calls = [at.run('search'), at.run('search')]
    const notes: unknown[] = []
    at.executor.observe(event => event.result && notes.push(event.notes))
    const refused = await at.run('search')
    expect(refused).toMatchObject({
      success: false,
      code: 'limited',
      error: "Tool 'search' is over its limit: tools.search allows 1 at once, and 1 are waiting",
      retry_after_ms: expect.any(Number),
    })
    expect(at.executor.text(refused)).toMatch(/^Error: Tool 'search' is over its limit: /)
    expect(notes).toEqual([{ limit: 'tools.search' }])
    await at.endAll()
    expect(codes(await Promise.all(calls))).toEqual(['ok', 'ok'])
  })

  it('free a place at the deadline of a call, and when its caller gives up', async () => {
    const clock = fakeClock()
    const at = bench({ tools: { search: { concurrency: 1 } } }, clock)
    const gone = new AbortController()
    const late = at.run('search', { timeoutMs: 1_000 })
    const cancelled = at.run('search', { signal: gone.signal })
    const last = at.run('search')
    await clock.advance(1_000)
    expect(await late).toMatchObject({ code: 'timeout' })
    gone.abort()
    await settled()
    expect(await cancelled).toMatchObject({ code: 'cancelled' })
    await at.endAll()
    expect((await last).success).toBe(true)
  })

  it('each caller that matches a pattern has its own limit, and calls without a caller count as default', async () => {
    const at = bench({ callers: { '*': { concurrency: 1, queue: 0 } } })
    const calls = [at.run('local', { caller: 'ann' }), at.run('local', { caller: 'bob' }), at.run('local')]
    expect(await at.run('search', { caller: 'ann' })).toMatchObject({ code: 'limited' })
    expect(await at.run('search')).toMatchObject({ code: 'limited' })
    expect(await at.run('search', { caller: 'default' })).toMatchObject({ code: 'limited' })
    await at.endAll()
    expect(codes(await Promise.all(calls))).toEqual(Array(3).fill('ok'))
  })

  it('a minute has exactly perMinute tokens, and each comes back on time', async () => {
    for (const perMinute of [1, 7, 59]) {
      const clock = fakeClock(123)
      const at = bench({ tools: { search: { perMinute } } }, clock)
      const tryMany = async (count: number) => {
        const calls = Array.from({ length: count }, () => at.run('search'))
        await at.endAll()
        return Promise.all(calls)
      }
      const burst = await tryMany(2_000)
      expect(codes(burst).filter(code => code === 'ok')).toHaveLength(perMinute)
      const refused = burst.at(-1) as ToolResult & { success: false }
      expect(refused).toMatchObject({ code: 'limited', retry_after_ms: Math.ceil(60_000 / perMinute) })
      expect(refused.error).toContain(`allows ${perMinute} per minute; try again in `)
      const retryAfterMs = refused.retry_after_ms ?? 0
      await clock.advance(retryAfterMs - 1)
      expect(codes(await tryMany(1))).toEqual(['limited'])
      await clock.advance(1)
      expect(codes(await tryMany(2))).toEqual(['ok', 'limited'])
      await clock.advance(59_999)
      expect(codes(await tryMany(2_000)).filter(code => code === 'ok').length).toBeGreaterThanOrEqual(
        perMinute - 1,
      )
      await clock.advance(600_000)
      expect(codes(await tryMany(2_000)).filter(code => code === 'ok')).toHaveLength(perMinute)
    }
  })

  it.each([
    ['tools', { search: { concurrency: 0 } }, 'search.concurrency must be a whole number, at least 1; got 0'],
    ['servers', { fs: { perMinute: 1.5 } }, 'fs.perMinute must be a whole number, at least 1; got 1.5'],
    ['tools', { '*': { queue: 5 } }, "tools.* limits nothing: set 'concurrency' or 'perMinute'"],
  ])('an invalid limit is refused where it is made: %s %j', (kind, rules, message) => {
    expect(() => limits({ [kind]: rules })).toThrow(message)
  })
})
