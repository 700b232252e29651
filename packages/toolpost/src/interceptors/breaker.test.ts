import { describe, expect, it } from 'vitest'
import type { FailureCode } from '../call/failure-codes.ts'
import { ToolExecutor } from '../executor/executor.ts'
import { fakeClock } from '../testing/index.ts'
import { defineTool } from '../tools/tool.ts'
import { ToolFailureError } from '../tools/tool-failure-error.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { type BreakerOptions, breaker } from './index.ts'

/** A server whose calls end as `next` says. */
function bench(options: BreakerOptions = {}) {
  const clock = fakeClock()
  const state = { next: 'ok' as 'ok' | 'never' | FailureCode, calls: 0 }
  const endings: (() => void)[] = []
  const changes: string[] = []
  const tool = (name: string) =>
    defineTool({
      name,
      description: 'Ends as it is told to',
      schema: { type: 'object' },
      handler: async () => {
        state.calls++
        const { next } = state
        if (next === 'never') await new Promise<void>(resolve => endings.push(resolve))
        if (next !== 'ok' && next !== 'never') throw new ToolFailureError(next, `it is ${next}`)
        return 'fine'
      },
    })
  const tools = new ToolManager()
  tools.addMcpTools([tool('read'), tool('write')], { server: 'fs' })
  tools.addMcpTools([tool('light')], { server: 'zwave' })
  tools.addCustomTool(tool('local'))
  const executor = new ToolExecutor(tools, { clock })
  const guard = breaker({ clock, onChange: server => changes.push(server), ...options })
  executor.use(guard)
  const run = (name = 'read', signal?: AbortSignal) => executor.run({ name }, { signal, timeoutMs: 60_000 })
  const fail = async (times: number, code: FailureCode = 'unavailable', name?: string) => {
    state.next = code
    for (let n = 0; n < times; n++) expect(await run(name)).toMatchObject({ success: false })
  }
  return { clock, state, endings, changes, executor, guard, run, fail }
}

describe('breaker', () => {
  it.each(['unavailable', 'timeout'] as const)(
    'after five %s in a row the calls of a server fail immediately, with a reason, until one is let through',
    async code => {
      const at = bench()
      await at.fail(5, code)
      at.state.next = 'ok'
      expect(await at.run('write')).toMatchObject({
        code: 'unavailable',
        error:
          "The write service is unavailable: the last 5 calls to server 'fs' failed, so calls are paused; next attempt in 10 s",
        diagnosis: { causes: [`it is ${code}`] },
        retry_after_ms: 10_000,
      })
      expect(at.state.calls).toBe(5)
      await at.clock.advance(9_999)
      expect((await at.run()).success).toBe(false)
      expect(at.state.calls).toBe(5)
      await at.clock.advance(1)
      expect((await at.run()).success).toBe(true)
      expect((await at.run()).success).toBe(true)
      expect(at.state.calls).toBe(7)
    },
  )

  it('only one call is let through after the cool-down, and if it fails the wait starts over', async () => {
    const at = bench({ failures: 2, coolDownMs: 1_000 })
    await at.fail(2)
    await at.clock.advance(1_000)
    at.state.next = 'never'
    const probe = at.run()
    await at.clock.advance(0)
    expect(await at.run()).toMatchObject({ error: expect.stringContaining('a trial call is in progress') })
    expect(at.guard.status('fs').state).toBe('half-open')
    expect(at.state.calls).toBe(3)
    at.endings[0]?.()
    expect((await probe).success).toBe(true)
    expect(at.guard.status('fs')).toEqual({ state: 'closed', failures: 0 })
    await at.fail(2)
    await at.clock.advance(1_000)
    await at.fail(1)
    expect(at.guard.status('fs')).toMatchObject({ state: 'open', failures: 3, retryAt: expect.any(String) })
    expect((await at.run()).success).toBe(false)
    expect(at.state.calls).toBe(6)
  })

  it('tells when a breaker opens and closes; reset forgets it', async () => {
    const at = bench({ failures: 2, coolDownMs: 1_000 })
    await at.fail(3)
    expect(at.changes).toEqual(['fs'])
    await at.clock.advance(1_000)
    at.state.next = 'ok'
    await at.run()
    expect(at.changes).toEqual(['fs', 'fs'])
    await at.fail(2)
    at.guard.reset('fs')
    at.state.next = 'ok'
    expect((await at.run()).success).toBe(true)
  })
})
