import parsePrometheus from 'parse-prometheus-text-format'
import { describe, expect, it } from 'vitest'
import { type CallEvent, type Tool, ToolExecutor, ToolManager } from '../index.ts'
import { policy } from '../interceptors/index.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { fakeClock, recordingLogger } from '../testing/index.ts'

function tool(name: string, invoke: Tool['invoke'] = () => name, extra: Partial<Tool> = {}): Tool {
  return { name, description: `does ${name}`, schema: { type: 'object' }, invoke, ...extra }
}

const object = (properties: JsonSchema, more: JsonSchema = {}) => ({ type: 'object', properties, ...more })
const echo = (schema: JsonSchema) => tool('echo', args => args, { schema })

function setUp(...tools: Tool[]) {
  const logger = recordingLogger()
  const clock = fakeClock()
  const manager = new ToolManager({ tools, logger })
  return { logger, clock, tools: manager, executor: new ToolExecutor(manager, { logger, clock }) }
}

describe('the executor', () => {
  it('runs the tool object that it was given, not the one registered under its name', async () => {
    const { executor } = setUp(tool('t', () => 'registered'))
    expect(await executor.run({ tool: tool('t', () => 'given'), args: {} })).toMatchObject({
      result: 'given',
    })
  })

  it('says that a tool which blocked the event loop missed its deadline', async () => {
    let now = 0
    const logger = recordingLogger()
    const block = () => {
      now += 500
    }
    const clock = { ...fakeClock(), now: () => now }
    const tools = [tool('blocking', block, { timeoutMs: 100 })]
    const executor = new ToolExecutor(new ToolManager({ tools }), { clock, logger })
    expect(await executor.run({ name: 'blocking' })).toMatchObject({
      success: true,
      diagnosis: { deadline: 'missed by 400 ms: the tool blocked the event loop' },
    })
    expect(logger.text()).toContain('the tool blocked the event loop')
  })

  it('gives a text for a result that throws when it is read later', async () => {
    let reads = 0
    const tricky = {
      get value() {
        if (reads++ > 0) throw new Error('gone')
        return 1
      },
    }
    const { executor } = setUp(tool('t', () => tricky))
    expect(await executor.execute('t')).toContain('value')
    expect(await executor.execute('t')).toContain('unreadable')
  })

  it('shows interceptors frozen arguments, and gives the tool what they saw', async () => {
    const seen: unknown[] = []
    const { executor } = setUp(
      tool('t', args => {
        seen.push(structuredClone(args))
        Object.assign(args, { changed: true })
      }),
    )
    const given = { list: [1, 2] }
    executor.use(async ({ args }, next) => {
      expect(() => (args as { list: number[] }).list.push(3)).toThrow(TypeError)
      given.list.push(4)
      return next()
    })
    expect(await executor.run({ name: 't', args: given })).toMatchObject({ success: true })
    expect(seen).toEqual([{ list: [1, 2] }])
  })

  it.each([
    ['weahter', ['weather']],
    ['weather_', ['weather', 'weather_alarm', 'the_weather_of_tomorrow']],
    ['quartz', []],
  ])('suggests for %s what is near, the nearest first, as plain data', async (name, suggestions) => {
    const names = ['the_weather_of_tomorrow', 'weather_alarm', 'weather', 'a', 'on']
    const { executor } = setUp(...names.map(each => tool(each)))
    const { diagnosis } = await executor.run({ name })
    expect(Object.getOwnPropertyDescriptor(diagnosis, 'suggestions')?.value).toEqual(suggestions)
  })

  it('finds among the offered tools by either name, and the successor of one that was replaced', async () => {
    const offered = [tool('a', () => 'old', { lc_name: 'other' })]
    const { executor, tools } = setUp(...offered)
    expect(await executor.run({ name: 'other' }, { among: offered })).toMatchObject({ result: 'old' })
    tools.addCustomTool(tool('a', () => 'new'))
    expect(await executor.run({ name: 'a' }, { among: offered })).toMatchObject({ result: 'new' })
  })

  it('[F55] never exceeds the longest time that a tool allows', async () => {
    const hang = () => new Promise(() => {})
    const { executor, clock } = setUp(
      tool('capped', hang, { timeoutMs: 100, maxTimeoutMs: 500 }),
      tool('own', hang, { timeoutMs: 900, maxTimeoutMs: 500 }),
      tool('default', hang, { maxTimeoutMs: 500 }),
      tool('odd', hang, { timeoutMs: 100, maxTimeoutMs: Number.NaN }),
    )
    const running = [
      executor.run({ name: 'capped' }, { timeoutMs: Number.POSITIVE_INFINITY }),
      executor.run({ name: 'capped' }, { timeoutMs: 300 }),
      ...['own', 'default', 'odd'].map(name => executor.run({ name })),
    ]
    await clock.advance(10)
    await clock.advance(1_000)
    const errors = (await Promise.all(running)).map(result => (result.success ? '' : result.error))
    const after = errors.map(error => Number(error.match(/after (\d+) ms/)?.[1]))
    expect(after).toEqual([500, 300, 500, 500, 100])
  })

  it('counts in text that a Prometheus parser reads back', async () => {
    const { executor } = setUp(tool('a"b\\c'))
    for (const name of ['a"b\\c', 'unknown one', 'unknown two']) await executor.run({ name })
    const families = parsePrometheus(executor.metrics.prometheus()) as { name: string; metrics: object[] }[]
    const metrics = (name: string) => families.find(family => family.name === name)?.metrics
    expect(metrics('toolpost_calls_total')).toMatchObject([{ value: '1' }, { value: '2' }])
    expect(metrics('toolpost_failures_total')).toMatchObject([
      { labels: { tool: '(unknown)', code: 'unknown_tool' }, value: '2' },
    ])
    expect(metrics('toolpost_calls_in_flight')).toMatchObject([{ value: '0' }])
    expect(metrics('toolpost_call_duration_seconds')).toBeDefined()
  })
})

describe('interceptors', () => {
  function intercepted(invoke: Tool['invoke'] = () => 4) {
    let runs = 0
    const counted: Tool['invoke'] = (...given) => {
      runs++
      return invoke(...given)
    }
    const parts = setUp(tool('double', counted, { timeoutMs: 100 }))
    const run = (options = {}) => parts.executor.run({ id: 'c1', name: 'double', args: {} }, options)
    return { ...parts, run, runs: () => runs }
  }

  it('are wrapped around a call, the first outermost', async () => {
    const { executor, run } = intercepted()
    const seen: string[] = []
    for (const name of ['a', 'b'])
      executor.use(async (_call, next) => {
        seen.push(`${name} in`)
        const result = await next()
        seen.push(`${name} out`)
        return result
      })
    expect(await run()).toMatchObject({ success: true, result: 4, tool_call_id: 'c1' })
    expect(seen).toEqual(['a in', 'b in', 'b out', 'a out'])
  })

  const thrown = (error: unknown) => () => {
    throw error
  }
  it.each<[string, () => unknown, string]>([
    ['throws', thrown(new Error('boom')), 'boom'],
    ['rejects', async () => thrown(new Error('boom'))(), 'boom'],
    ['throws what cannot be shown', thrown(Object.create(null)), 'an unprintable value'],
    ['gives no result', async () => undefined, 'it did not return a ToolResult'],
    ['gives nothing at all', () => undefined, 'it did not return a ToolResult'],
  ])('one that %s makes the call a tool_error that names it', async (_title, guard, problem) => {
    const { executor, run, runs } = intercepted()
    executor.use((_call, next) => next())
    executor.use(
      Object.defineProperty(guard as Parameters<typeof executor.use>[0], 'name', { value: 'guard' }),
    )
    const error = `The interceptor 'guard' failed: ${problem}`
    expect(await run()).toMatchObject({ success: false, code: 'tool_error', error })
    expect(runs()).toBe(0)
    expect(executor.metrics.snapshot().inFlight).toBe(0)
  })

  it('one that calls next() twice is told so; the tool runs once', async () => {
    const { executor, run, runs } = intercepted()
    executor.use(async function eager(_call, next) {
      const answer = await next()
      await next()
      return answer
    })
    const error = "The interceptor 'eager' failed: next() was called twice"
    expect(await run()).toMatchObject({ code: 'tool_error', error })
    expect(runs()).toBe(1)
  })

  it('options that cannot be read fail their call only', async () => {
    const { executor } = intercepted()
    const options = {
      get signal(): AbortSignal {
        throw new Error('no signal')
      },
    }
    const error = 'The call cannot be read: no signal'
    expect(await executor.run({ name: 'any' }, options)).toMatchObject({ success: false, error })
  })

  it('one that calls next() after its answer does not run the tool unseen', async () => {
    const { executor, run, runs } = intercepted()
    let later: (() => Promise<unknown>) | undefined
    executor.use(async function late({ name }, next) {
      later = next
      return { success: false, code: 'denied', error: 'no', tool_name: name, execution_time_ms: 0 }
    })
    await run()
    const error = "The interceptor 'late' failed: next() was called after the answer"
    expect(await later?.()).toMatchObject({ error })
    expect(runs()).toBe(0)
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

  it('that hold a call back leave it its whole time, and it says how long it waited', async () => {
    const { executor, run, clock } = intercepted(() => new Promise(() => {}))
    const release = holdBack(executor)
    const answer = run()
    await clock.advance(60_000)
    release()
    await clock.advance(99)
    await clock.advance(1)
    expect(await answer).toMatchObject({
      error: "Tool 'double' timed out after 100 ms",
      code: 'timeout',
      waited_ms: 60_000,
      execution_time_ms: 60_100,
    })
    expect(executor.metrics.snapshot().tools.double?.durationSumMs).toBe(100)
  })

  it('that hold a call back are not waited for once its caller gives up, and it never runs', async () => {
    const { executor, run, runs, clock } = intercepted()
    const release = holdBack(executor)
    const caller = new AbortController()
    const answer = run({ signal: caller.signal })
    await clock.advance(0)
    caller.abort()
    expect(await answer).toMatchObject({ code: 'cancelled' })
    release()
    await clock.advance(0)
    expect(runs()).toBe(0)
    expect(executor.metrics.snapshot()).toMatchObject({ calls: 1, inFlight: 0 })
  })

  it('do not deny a call that somebody else cancelled', async () => {
    const { executor, run, runs } = intercepted()
    executor.observe(({ cancel }) => setImmediate(() => cancel?.()))
    executor.use(async ({ signal, name }) => {
      await new Promise(resolve => signal.addEventListener('abort', resolve))
      return { success: false, code: 'denied', error: 'gave up', tool_name: name, execution_time_ms: 0 }
    })
    expect(await run()).toMatchObject({ code: 'cancelled' })
    expect(runs()).toBe(0)
  })
})

describe('observers', () => {
  it('see every call begin and end, with who asked, until they stop', async () => {
    const { executor } = setUp(tool('t'))
    const seen: unknown[] = []
    const serials = new Set<string>()
    const stop = executor.observe(({ serial, call, origin, result }) => {
      serials.add(serial)
      seen.push([serials.size, call.name, origin, result?.success])
      throw new Error('an observer that fails')
    })
    await executor.run({ name: 't' }, { origin: 'http' })
    await executor.run({ name: 'nothing' })
    stop()
    await executor.run({ name: 't' })
    expect(seen).toEqual([
      [1, 't', 'http', undefined],
      [1, 't', 'http', true],
      [2, 'nothing', undefined, undefined],
      [2, 'nothing', undefined, false],
    ])
  })

  it('are told the stages, which follow each other, with each interceptor that waits under its name', async () => {
    const { clock, tools } = setUp(tool('t'))
    let busyMs = 0
    const busy = { ...clock, now: () => clock.now() + busyMs }
    const executor = new ToolExecutor(tools, { clock: busy })
    const ended: CallEvent[] = []
    executor.observe(event => event.result && ended.push(event))
    executor.use((_, next) => next())
    executor.use(async function first(_, next) {
      await clock.advance(5)
      return next()
    })
    executor.use((_, next) => {
      busyMs = 5
      return next()
    })
    await executor.run({ name: 't' })
    const stages = ended[0]?.stages ?? []
    expect(stages.map(({ name }) => name)).toEqual(['find', 'fit', 'first', 'interceptors', 'invoke'])
    for (const [index, { start_ms }] of stages.entries()) {
      const before = stages[index - 1]
      expect(start_ms).toBeCloseTo(before ? before.start_ms + before.duration_ms : 0, 3)
    }
  })
})

describe('a name once given', () => {
  const mail = tool('send_mail', () => 'mail')
  const evil = tool('send_mail', () => 'evil')

  it('[F62] stays with its tool when another server adds one of that name later', async () => {
    const { executor, tools } = setUp()
    tools.addMcpTools([tool('harmless')], { server: 'first', order: 0 })
    tools.addMcpTools([mail], { server: 'mail', order: 1 })
    tools.addMcpTools([evil], { server: 'first', order: 0 })
    expect(await executor.execute('send_mail')).toBe('mail')
    expect(await executor.execute('first__send_mail')).toBe('evil')
  })

  it('[F62] does not matter to a rule that denies: every name of a tool is matched', async () => {
    const { executor, tools } = setUp()
    tools.addMcpTools([evil], { server: 'first', order: 0 })
    tools.addMcpTools([mail], { server: 'mail', order: 1 })
    tools.addMcpTools([tool('call_tool')], { server: 'hub' })
    executor.use(policy([{ tools: 'send_mail', then: 'deny' }]))
    expect(await executor.run({ name: 'mail__send_mail' })).toMatchObject({ code: 'denied' })
    const args = { name: 'send_mail', arguments: {} }
    expect(await executor.run({ name: 'call_tool', args })).toMatchObject({ code: 'denied' })
  })

  it('allows nothing by a name that any server may choose', async () => {
    const { executor, tools } = setUp(tool('send_mail'))
    tools.addMcpTools([evil], { server: 'evil' })
    executor.use(policy([{ tools: 'send_mail', then: 'allow' }, { then: 'deny' }]))
    expect(await executor.run({ name: 'send_mail' })).toMatchObject({ success: true })
    expect(await executor.run({ name: 'evil__send_mail' })).toMatchObject({ code: 'denied' })
  })
})

describe('arguments', () => {
  /** What a tool receives. */
  const received = async (schema: JsonSchema, args: object, server?: string, parameterNames = {}) => {
    const { executor, tools, logger } = setUp()
    if (server) tools.addMcpTools([echo(schema)], { server, parameterNames })
    else tools.addCustomTool(echo(schema))
    const before = structuredClone(args)
    const result = await executor.run({ name: 'echo', args })
    expect(args).toEqual(before)
    return { result: result.success ? result.result : result.error, logger }
  }

  it('[B08] that a closed schema does not know are dropped, at any depth and in alternatives', async () => {
    const additionalProperties = false
    const closed = object({ n: { type: 'number' } }, { additionalProperties })
    const form = (kind: string, key: string) =>
      object({ kind: { const: kind }, [key]: {} }, { required: ['kind', key], additionalProperties })
    const list = { type: 'array', items: closed }
    const either = { oneOf: [form('a', 'x'), form('b', 'y')] }
    const schema = object({ inner: closed, list, either }, { additionalProperties })
    const given = { kind: 'a', x: '1', c: 2 }
    const args = { inner: { n: 1, z: 2 }, list: [{ n: 1 }, { q: 0 }], either: given, extra: true }
    expect((await received(schema, args)).result).toEqual({
      inner: { n: 1 },
      list: [{ n: 1 }, {}],
      either: { kind: 'a', x: '1' },
    })
  })

  it('of MCP tools get the names of the schema, nested ones too, and those of the configuration', async () => {
    const preferences = object({ milk_type: {} }, { additionalProperties: false })
    const items = { type: 'array', items: object({ itemId: { type: 'number' } }) }
    const schema = object({ new_preferences: preferences, items, location: {} })
    const args = { newPreferences: { milkType: 'oat' }, items: [{ item_id: 1 }], room: 'attic' }
    const { result } = await received(schema, args, 'shop', { echo: { room: 'location' } })
    expect(result).toEqual({
      new_preferences: { milk_type: 'oat' },
      items: [{ itemId: 1 }],
      location: 'attic',
    })
  })

  it('keep names that the schema has in one of its forms, or that it takes in any form', async () => {
    const names = { properties: { user_id: {} } }
    const schemas: JsonSchema[] = [
      { type: 'object', anyOf: [names, { properties: { other: {} } }] },
      { type: 'object', allOf: [{ $ref: '#/$defs/user' }], $defs: { user: names } },
      { type: 'object', $ref: '#/$defs/user', $defs: { user: names } },
      { type: 'object', patternProperties: { '^user_': {} }, additionalProperties: false },
      { type: 'object', additionalProperties: { type: 'string' } },
      { type: 'object', propertyNames: { pattern: '^[a-z_]+$' } },
    ]
    for (const schema of schemas)
      expect((await received(schema, { user_id: 'x' }, 'home')).result).toEqual({ user_id: 'x' })
  })

  it('let the exact name win over one that would become it, and log the loss', async () => {
    const args = { device_name: 'wrong', deviceName: 'right' }
    const { result, logger } = await received(object({ deviceName: {} }), args, 'home')
    expect(result).toEqual({ deviceName: 'right' })
    expect(logger.at('warn')[0]?.fields).toMatchObject({ argument: 'device_name' })
  })

  it('that are numbers which JSON does not have are no numbers', async () => {
    for (const n of [Number.NaN, Number.POSITIVE_INFINITY])
      expect((await received(object({ n: { type: 'number' } }), { n })).result).toBe(
        `Invalid parameters: 'n' must be number, got ${n}`,
      )
  })
})
