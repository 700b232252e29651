import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { JsonSchema } from '../schema/json-schema.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { ToolExecutor } from './tool-executor.ts'

const HEAVY = { numbers: Array.from({ length: 5_000 }, () => 1) }
/** Also expensive to validate. */
const HEAVY_LIST = { ...HEAVY, list: Array.from({ length: 700 }, (_, n) => ({ n })) }
/** Long, but nothing to traverse. */
const LONG = { text: 'x'.repeat(20_000) }

/** Counts the turns of the event loop. */
let turn = 0
let counting: NodeJS.Immediate

beforeEach(() => {
  const count = () => {
    turn++
    counting = setImmediate(count)
  }
  counting = setImmediate(count)
})
afterEach(() => clearImmediate(counting))

/** With a compiled tool, at the start of a turn. */
async function executorFor(schema: JsonSchema): Promise<ToolExecutor> {
  const tools = new ToolManager()
  tools.addCustomTool({ name: 'tool', description: 'd', schema, invoke: () => 'done' })
  const executor = new ToolExecutor(tools)
  await executor.run({ name: 'tool' })
  await nextTurn()
  return executor
}

/** Arguments that record the turns in which they are read. */
function watched(more: Record<string, unknown> = {}) {
  const turns = new Set<number>()
  const get = () => {
    turns.add(turn)
    return 1
  }
  const args = Object.defineProperty({}, 'probe', { enumerable: true, get })
  return { args: Object.assign(args, more), turns }
}

const PLAIN = { type: 'object', properties: { probe: { type: 'integer' } } }
/** Expensive enough for a child process. */
const EXPENSIVE = { type: 'object', properties: { list: { type: 'array', uniqueItems: true } } }

describe('heavy arguments', () => {
  it('[F46] are looked at in a turn of the event loop each time', async () => {
    const executor = await executorFor(PLAIN)
    const { args, turns } = watched(HEAVY)
    expect(await executor.run({ name: 'tool', args })).toMatchObject({ success: true })
    expect(turns.size).toBeGreaterThanOrEqual(3)
  })

  it('that are light are looked at in one turn, also with a long text, and wait for nobody', async () => {
    const executor = await executorFor(PLAIN)
    const heavy = [1, 2, 3].map(() => executor.run({ name: 'tool', args: watched(HEAVY).args }))
    const { args, turns } = watched(LONG)
    const before = turn
    expect(await executor.run({ name: 'tool', args })).toMatchObject({ success: true })
    expect([...turns]).toEqual([before])
    await Promise.all(heavy)
  })

  it('[F46] are looked at, written and sent to a child in a turn each', async () => {
    const executor = await executorFor(EXPENSIVE)
    const { args, turns } = watched(HEAVY_LIST)
    const result = await executor.run({ name: 'tool', args }, { timeoutMs: 20_000 })
    expect(result).toMatchObject({ success: true })
    expect(turns.size).toBeGreaterThanOrEqual(5)
  })

  it('[F46] of several calls at once are looked at in different turns', async () => {
    const executor = await executorFor(PLAIN)
    // Nested deeply enough not to be read by the check for heavy arguments.
    const calls = [1, 2, 3].map(() => watched())
    const runs = calls.map(({ args }) => executor.run({ name: 'tool', args: { ...HEAVY, inner: [[args]] } }))
    await Promise.all(runs)
    const firstLooks = new Set(calls.map(call => Math.min(...call.turns)))
    expect(firstLooks.size).toBe(3)
  })

  it('[F46] whose caller gave up are neither written nor sent', async () => {
    const executor = await executorFor(EXPENSIVE)
    const controller = new AbortController()
    const { args, turns } = watched(HEAVY_LIST)
    const running = executor.run({ name: 'tool', args }, { signal: controller.signal })
    controller.abort()
    expect(await running).toMatchObject({ code: 'cancelled' })
    for (const end = turn + 20; turn < end; ) await nextTurn()
    expect(turns.size).toBeLessThanOrEqual(2)
  })
})
