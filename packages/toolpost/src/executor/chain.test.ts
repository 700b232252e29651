import { describe, expect, it } from 'vitest'
import type { ToolResult } from '../call/tool-result.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { recordingLogger } from '../testing/recording-logger.ts'
import { defineTool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import type { Interceptor } from './chain.ts'
import { ToolExecutor } from './executor.ts'

const SCHEMA = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } as const

function setUp(handler: (args: { n: number }) => unknown = ({ n }) => n * 2) {
  const clock = fakeClock()
  const logger = recordingLogger()
  const tools = new ToolManager()
  let runs = 0
  const double = defineTool({
    name: 'double',
    description: 'Doubles a number',
    schema: SCHEMA,
    timeoutMs: 100,
    handler: (args, options) => {
      runs++
      return handler({ ...args, ...options.meta })
    },
  })
  tools.addCustomTool(double)
  const executor = new ToolExecutor(tools, { clock, logger })
  const run = (args: unknown = { n: 2 }, options = {}): Promise<ToolResult> =>
    executor.run({ id: 'c1', name: 'double', args }, options)
  return { clock, logger, tools, executor, run, runs: () => runs }
}

describe('executor.use', () => {
  it('wraps interceptors around a call, the first outermost', async () => {
    const { executor, run } = setUp()
    const seen: string[] = []
    const named =
      (name: string): Interceptor =>
      async (_call, next) => {
        seen.push(`${name} in`)
        const result = await next()
        seen.push(`${name} out`)
        return result
      }
    executor.use(named('a'))
    executor.use(named('b'))
    expect(await run()).toMatchObject({ success: true, result: 4, tool_call_id: 'c1' })
    expect(seen).toEqual(['a in', 'b in', 'b out', 'a out'])
  })
})

describe('an interceptor that makes a mistake', () => {
  const thrown = (error: unknown) => () => {
    throw error
  }
  it.each<[string, () => unknown, string]>([
    ['throws', thrown(new Error('boom')), 'boom'],
    ['rejects', async () => thrown(new Error('boom'))(), 'boom'],
    ['throws what cannot be shown', thrown(Object.create(null)), 'an unprintable value'],
    ['gives no result', async () => undefined, 'it did not return a ToolResult'],
    ['gives no promise and no result', () => 7, 'it did not return a ToolResult'],
  ])('and %s makes the call a tool_error that names it', async (_title, interceptor, problem) => {
    const { executor, run, runs } = setUp()
    executor.use((_call, next) => next())
    executor.use(named('guard', interceptor as Interceptor))
    const error = `The interceptor 'guard' failed: ${problem}`
    expect(await run()).toMatchObject({ success: false, code: 'tool_error', error })
    expect(runs()).toBe(0)
    expect(executor.metrics.snapshot().inFlight).toBe(0)
  })

  it('and calls next() twice is told so; the tool runs once', async () => {
    const { executor, run, runs } = setUp()
    executor.use(
      named('eager', async (_call, next) => {
        await next()
        return next()
      }),
    )
    expect(await run()).toMatchObject({
      code: 'tool_error',
      error: "The interceptor 'eager' failed: next() was called twice",
    })
    expect(runs()).toBe(1)
  })

  it('and calls next() after its answer does not run the tool unseen', async () => {
    const { executor, run, runs } = setUp()
    let late: (() => Promise<ToolResult>) | undefined
    executor.use(
      named('late', async (call, next) => {
        late = next
        return { success: false, code: 'denied', error: 'no', tool_name: call.name, execution_time_ms: 0 }
      }),
    )
    await run()
    expect(await late?.()).toMatchObject({
      error: "The interceptor 'late' failed: next() was called after the answer",
    })
    expect(runs()).toBe(0)
  })
})

describe('a call that interceptors hold back', () => {
  it('has its whole time left when the tool is invoked, and says how long it waited', async () => {
    const { executor, run, clock } = setUp(() => new Promise(() => {}))
    const release = holdBack(executor)
    const answer = run()
    await turn()
    await clock.advance(60_000)
    release()
    await turn()
    await clock.advance(99)
    await turn()
    await clock.advance(1)
    expect(await answer).toMatchObject({
      code: 'timeout',
      error: "Tool 'double' timed out after 100 ms",
      waited_ms: 60_000,
      execution_time_ms: 60_100,
    })
    expect(executor.metrics.snapshot().tools.double?.durationSumMs).toBe(100)
  })

  it('is cancelled at once when its caller gives up, and never runs', async () => {
    const { executor, run, runs } = setUp()
    const release = holdBack(executor)
    const caller = new AbortController()
    const answer = run({ n: 1 }, { signal: caller.signal })
    await turn()
    caller.abort()
    expect(await answer).toMatchObject({ code: 'cancelled' })
    release()
    await turn()
    expect(runs()).toBe(0)
    expect(executor.metrics.snapshot()).toMatchObject({ calls: 1, inFlight: 0 })
  })

  it('is cancelled, not denied, if somebody else cancels it', async () => {
    const { executor, run, runs } = setUp()
    executor.observe(({ cancel }) => setImmediate(() => cancel?.()))
    executor.use(async ({ signal, name }) => {
      await new Promise(resolve => signal.addEventListener('abort', resolve))
      return { success: false, code: 'denied', error: 'gave up', tool_name: name, execution_time_ms: 0 }
    })
    expect(await run({ n: 1 })).toMatchObject({ code: 'cancelled' })
    expect(runs()).toBe(0)
  })
})

/** Holds calls back until the returned function is called. */
function holdBack(executor: ToolExecutor): () => void {
  let release = () => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  executor.use((_call, next) => released.then(next))
  return release
}

function named(name: string, interceptor: Interceptor): Interceptor {
  return Object.defineProperty(interceptor, 'name', { value: name })
}

function turn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
