import { describe, expect, it } from 'vitest'
import { fakeClock, recordingLogger } from '../testing/index.ts'
import { declareTools } from '../tools/declared-tools.ts'
import { defineTool, type Tool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { ToolExecutor } from './executor.ts'
import type { ExecutorOptions } from './options.ts'

const weatherSchema = {
  type: 'object',
  properties: {
    location: { type: 'string' },
    days: { type: 'integer' },
    unit: { enum: ['celsius', 'fahrenheit'] },
  },
  required: ['location'],
}

const weather = defineTool<{ location: string }>({
  name: 'weather',
  description: 'The weather somewhere',
  schema: weatherSchema,
  handler: async ({ location }) => ({ location, temperature: 22 }),
})

function toolThat(name: string, handler: Tool['invoke'], extra: Partial<Tool> = {}): Tool {
  return { name, description: `does ${name}`, schema: { type: 'object' }, invoke: handler, ...extra }
}

function executorWith(tools: Tool[], options: ExecutorOptions = {}): ToolExecutor {
  const manager = new ToolManager(options.logger ? { logger: options.logger } : {})
  for (const tool of tools) manager.addCustomTool(tool)
  return new ToolExecutor(manager, options)
}

/** A tool that never answers, and tells when it was called and aborted. */
function hangingTool(extra: Partial<Tool> = {}) {
  const seen = { calls: 0, signal: undefined as AbortSignal | undefined }
  const tool = toolThat(
    'hang',
    (_args, options) => {
      seen.calls++
      seen.signal = options?.signal
      return new Promise(() => {})
    },
    extra,
  )
  return { tool, seen }
}

describe('a call that succeeds', () => {
  it('gives a tool that asks for an envelope exactly { input: args }', async () => {
    const tool = toolThat('boxed', args => args, { inputEnvelope: true })
    expect(await executorWith([tool]).run({ name: 'boxed', args: { a: 1 } })).toMatchObject({
      result: { input: { a: 1 } },
    })
  })

  it('takes a call without arguments as one with none', async () => {
    expect(await executorWith([toolThat('none', args => args)]).run({ name: 'none' })).toMatchObject({
      result: {},
    })
  })
})

describe('a call that fails', () => {
  it.each([
    ['weahter', ['weather']],
    ['weather_', ['weather', 'weather_alarm', 'the_weather_of_tomorrow']],
    ['quartz', []],
    ['a_very_long_name', []],
  ])('suggests for %s what is near, the nearest first', async (name, suggestions) => {
    const names = ['the_weather_of_tomorrow', 'weather_alarm', 'weather', 'a', 'on']
    const executor = executorWith(names.map(tool => toolThat(tool, async () => 'done')))
    const result = await executor.run({ id: '1', name, args: {} })
    expect(result).toMatchObject({ code: 'unknown_tool' })
    expect((result as { diagnosis?: { suggestions?: string[] } }).diagnosis?.suggestions).toEqual(suggestions)
  })

  it.each([
    ['a text', 'just text', 'just text'],
    ['nothing', undefined, "Tool 'fail' failed without a message"],
    ['null', null, 'Tool threw null'],
    ['an empty error', new TypeError(''), "Tool 'fail' failed without a message (TypeError)"],
    ['an object', { reason: 7 }, '{"reason":7}'],
    ['an object with a message', { message: 'odd' }, 'odd'],
  ])('says something when a tool throws %s', async (_what, thrown, error) => {
    const failing = toolThat('fail', () => {
      throw thrown
    })
    expect(await executorWith([failing]).run({ name: 'fail' })).toMatchObject({ code: 'tool_error', error })
  })

  it('keeps the causes of an error for whoever looks into it', async () => {
    const failing = toolThat('fail', () => {
      throw new Error('no reading', { cause: new Error('sensor gone') })
    })
    expect(await executorWith([failing]).run({ name: 'fail' })).toMatchObject({
      diagnosis: { causes: ['sensor gone'] },
    })
  })

  const unreachable: [string, Error][] = [
    [
      'a refused connection',
      Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), { code: 'ECONNREFUSED' }),
    ],
    [
      'fetch failed',
      new TypeError('fetch failed', {
        cause: Object.assign(new Error('getaddrinfo ENOTFOUND x'), { code: 'ENOTFOUND' }),
      }),
    ],
    [
      'several addresses',
      new AggregateError([Object.assign(new Error('connect EHOSTUNREACH'), { code: 'EHOSTUNREACH' })], ''),
    ],
    ['HTTP 503', Object.assign(new Error('Service Unavailable'), { status: 503 })],
  ]

  it.each(unreachable)('says that the service is unavailable after %s', async (_what, thrown) => {
    const failing = toolThat('lookup', async () => {
      throw thrown
    })
    const result = await executorWith([failing]).run({ name: 'lookup' })
    expect(result).toMatchObject({ code: 'unavailable' })
    expect(result.success === false && result.error).toMatch(/^The lookup service is unavailable: \S/)
  })

  it('answers a tool whose schema does not compile with invalid_schema, and the others go on', async () => {
    const broken = toolThat('broken', () => 1, {
      schema: { type: 'object', properties: { a: { type: 'wat' } } },
    })
    const executor = executorWith([broken, weather])
    const result = await executor.run({ name: 'broken', args: { a: 1 } })
    expect(result).toMatchObject({ code: 'invalid_schema' })
    expect(result.success === false && result.error).toMatch(/^Tool 'broken' has an unusable schema: /)
    expect(await executor.run({ name: 'weather', args: { location: 'Oslo' } })).toMatchObject({
      success: true,
    })
  })

  it('answers a call that is not a call at all', async () => {
    for (const call of [undefined, null, {}, { name: 7 }]) {
      expect(await executorWith([weather]).run(call as never)).toMatchObject({ code: 'unknown_tool' })
    }
  })
})

describe('extra arguments', () => {
  it('are dropped before the call where it is closed, at any depth and in alternatives', async () => {
    const closed = { type: 'object', properties: { n: { type: 'number' } }, additionalProperties: false }
    const form = (kind: string, key: string) => ({
      type: 'object',
      properties: { kind: { const: kind }, [key]: { type: 'string' } },
      required: ['kind', key],
      additionalProperties: false,
    })
    const schema = {
      type: 'object',
      properties: {
        inner: closed,
        list: { type: 'array', items: closed },
        either: { oneOf: [form('a', 'x'), form('b', 'y')] },
      },
      additionalProperties: false,
    }
    const tool = toolThat('closed', args => args, { schema })
    const args = {
      inner: { n: 1, z: 2 },
      list: [{ n: 1 }, { q: 0 }],
      either: { kind: 'a', x: '1', c: 2 },
      extra: true,
    }
    const before = structuredClone(args)
    expect(await executorWith([tool]).run({ name: 'closed', args })).toMatchObject({
      success: true,
      result: { inner: { n: 1 }, list: [{ n: 1 }, {}], either: { kind: 'a', x: '1' } },
    })
    expect(args).toEqual(before)
  })
})

describe('extra arguments of alternatives', () => {
  const closed = (properties: object, more: object = {}) => ({
    type: 'object',
    properties,
    additionalProperties: false,
    ...more,
  })
  const circle = closed({ kind: { const: 'circle' }, radius: { type: 'number' } }, { required: ['kind'] })
  const square = closed({ kind: { const: 'square' }, side: { type: 'number' } }, { required: ['kind'] })
  const run = (schema: object, args: object, repair = false) =>
    executorWith([toolThat('subject', got => got, { schema })]).run({ name: 'subject', args }, { repair })

  it('never take away what one of them knows and only finds wrong', async () => {
    const oneOf = { type: 'object', oneOf: [circle, square] }
    expect(await run(oneOf, { kind: 'circle', radius: 'abc' })).toMatchObject({
      error: "Invalid parameters: 'radius' must be number, got string",
    })
    expect(await run(oneOf, { kind: 'circle', radius: '5' }, true)).toMatchObject({
      result: { kind: 'circle', radius: 5 },
    })
    expect(
      await run(
        { type: 'object', anyOf: [closed({ a: {} }), { properties: { b: { type: 'integer' } } }] },
        { x: 1, b: 'no' },
      ),
    ).toMatchObject({ success: false })
    const unevaluated = {
      type: 'object',
      anyOf: [{ properties: { n: { type: 'integer' } } }],
      unevaluatedProperties: false,
    }
    expect(await run(unevaluated, { n: 'wrong' })).toMatchObject({
      error: "Invalid parameters: 'n' must be integer, got string",
    })
    expect(
      await run({ type: 'object', oneOf: [circle, square] }, { kind: 'circle', radius: 1, extra: 2 }),
    ).toMatchObject({ result: { kind: 'circle', radius: 1 } })
  })
})

describe('many first calls at once', () => {
  it('read the tool once, and warn once', async () => {
    const logger = recordingLogger()
    const schema = { type: 'object', properties: { a: { pattern: '^(y)\\1$' } } }
    const executor = executorWith([toolThat('subject', () => 1, { schema })], { logger })
    await Promise.all(Array.from({ length: 50 }, () => executor.run({ name: 'subject', args: {} })))
    expect(logger.at('warn')).toHaveLength(1)
  })
})

describe('what could make a call throw or hang', () => {
  it('is answered like anything else', async () => {
    const odd = toolThat('odd', async () => {
      throw {
        get cause() {
          throw Object.create(null)
        },
      }
    })
    const executor = executorWith([odd, weather])
    expect(await executor.run({ name: 'odd' })).toMatchObject({ code: 'tool_error' })
    expect(await executor.run({ name: 'weather', args: { location: 'x' } }, null as never)).toMatchObject({
      success: true,
    })
    expect(await executor.execute('weather', { location: 'x' }, null as never)).toContain('22')
    const trap = {
      get name(): string {
        throw new Error('no')
      },
    }
    expect(await executor.run(trap)).toMatchObject({ code: 'unknown_tool' })
    expect(executor.metrics.snapshot().inFlight).toBe(0)
  })

  it('a schema that answers with promises is unusable', async () => {
    const schema = { $async: true, type: 'object', required: ['n'] }
    const result = await executorWith([toolThat('later', () => 1, { schema })]).run({
      name: 'later',
      args: {},
    })
    expect(result).toMatchObject({ code: 'invalid_schema', error: expect.stringContaining('$async') })
  })

  it('a limit that is not a number counts as not given', async () => {
    const clock = fakeClock()
    const { tool } = hangingTool()
    const running = executorWith([tool], { clock }).run({ name: 'hang' }, { timeoutMs: Number.NaN })
    await clock.advance(30_000)
    expect(await running).toMatchObject({ error: "Tool 'hang' timed out after 30000 ms" })
  })

  it('a tool may write into the arguments of a call that had none', async () => {
    const writing = toolThat('writing', args => Object.assign(args, { unit: 'c' }))
    expect(await executorWith([writing]).run({ name: 'writing' })).toMatchObject({ result: { unit: 'c' } })
  })
})

describe('deadlines', () => {
  it('take the shortest way: the call, then the tool, then the executor', async () => {
    const clock = fakeClock()
    const { tool } = hangingTool({ timeoutMs: 200 })
    const executor = executorWith([tool], { clock, timeoutMs: 5_000 })
    const byTool = executor.run({ name: 'hang', args: {} })
    const byCall = executor.run({ name: 'hang', args: {} }, { timeoutMs: 50 })
    await clock.advance(50)
    expect(await byCall).toMatchObject({ error: "Tool 'hang' timed out after 50 ms" })
    await clock.advance(150)
    expect(await byTool).toMatchObject({ error: "Tool 'hang' timed out after 200 ms" })
  })

  it('hold on the real clock, and longer ones than a timer can count do not fire at once', async () => {
    const { tool } = hangingTool()
    const executor = executorWith([tool])
    const controller = new AbortController()
    const patient = executor.run(
      { name: 'hang', args: {} },
      { timeoutMs: 2 ** 33, signal: controller.signal },
    )
    expect(await executor.run({ name: 'hang', args: {} }, { timeoutMs: 20 })).toMatchObject({
      code: 'timeout',
    })
    controller.abort()
    expect(await patient).toMatchObject({ code: 'cancelled' })
  })

  it('leave no timer behind that fires for calls that have ended', async () => {
    const clock = fakeClock()
    const executor = executorWith([weather], { clock })
    for (let round = 0; round < 100; round++)
      await executor.run({ name: 'weather', args: { location: 'Oslo' } })
    expect(clock.pending).toBe(1)
    await clock.advance(30_000)
    expect(clock.pending).toBe(0)
  })

  it('are extended by progress only where the tool allows it, and never beyond that', async () => {
    const clock = fakeClock()
    const reports: unknown[] = []
    const slow = (maxTimeoutMs?: number) =>
      toolThat(
        `slow${maxTimeoutMs ?? ''}`,
        (_args, options) => {
          const tick = () => {
            options?.reportProgress?.({ progress: 1 })
            clock.setTimer(tick, 60)
          }
          clock.setTimer(tick, 60)
          return new Promise(() => {})
        },
        { timeoutMs: 100, ...(maxTimeoutMs && { maxTimeoutMs }) },
      )
    const executor = executorWith([slow(), slow(250)], { clock })
    const plain = executor.run({ name: 'slow', args: {} }, { onProgress: report => reports.push(report) })
    const extended = executor.run({ name: 'slow250', args: {} })
    await clock.advance(1_000)
    expect(await plain).toMatchObject({ error: "Tool 'slow' timed out after 100 ms" })
    expect(await extended).toMatchObject({ error: "Tool 'slow250' timed out after 250 ms" })
    expect(reports).toEqual([{ progress: 1 }])
  })

  it('drops a late answer and logs it', async () => {
    const clock = fakeClock()
    const logger = recordingLogger()
    const late = toolThat('late', () => new Promise(done => clock.setTimer(() => done('too late'), 80)))
    const executor = executorWith([late], { clock, logger, timeoutMs: 50 })
    const running = executor.run({ name: 'late', args: {} })
    await clock.advance(100)
    expect(await running).toMatchObject({ code: 'timeout' })
    expect(logger.at('warn').map(record => record.message)).toContainEqual(
      expect.stringContaining('Late answer'),
    )
  })
})

describe('cancelling', () => {
  it('answers at once when the caller gives up, and tells the tool', async () => {
    const { tool, seen } = hangingTool()
    const controller = new AbortController()
    const executor = executorWith([tool, weather])
    await executor.run({ name: 'weather', args: { location: 'x' } })
    const running = executor.run({ name: 'hang', args: {} }, { signal: controller.signal })
    await new Promise(resolve => setImmediate(resolve))
    controller.abort()
    expect(await running).toMatchObject({ code: 'cancelled', error: "Tool 'hang' was cancelled" })
    expect(seen.signal?.aborted).toBe(true)
  })

  it('does not run a tool for a caller that has already given up', async () => {
    const { tool, seen } = hangingTool()
    const result = await executorWith([tool]).run({ name: 'hang', args: {} }, { signal: AbortSignal.abort() })
    expect(result).toMatchObject({ code: 'cancelled' })
    expect(seen.calls).toBe(0)
  })

  it('hands a tool that looks late a signal that is already aborted', async () => {
    let look: (() => AbortSignal) | undefined
    const tool = toolThat('peek', (_args, options) => {
      look = () => options?.signal as AbortSignal
      return new Promise(() => {})
    })
    await executorWith([tool]).run({ name: 'peek', args: {} }, { timeoutMs: 5 })
    expect(look?.().aborted).toBe(true)
  })
})

describe('what is logged', () => {
  it('logs the arguments of a mock tool, which does not use them', async () => {
    const logger = recordingLogger()
    const [mock] = declareTools([
      { name: 'mock', description: 'm', implementation: { type: 'mock', mock_response: { ok: 1 } } },
    ])
    await executorWith([mock as Tool], { logger }).run({ name: 'mock', args: { any: 'thing' } })
    expect(logger.at('info')[0]?.fields).toMatchObject({ args: { any: 'thing' }, result: { ok: 1 } })
  })
})

describe('observers', () => {
  it('see every call begin and end, with who asked, until they stop', async () => {
    const executor = executorWith([weather])
    const seen: unknown[] = []
    const serials = new Set<string>()
    const stop = executor.observe(({ serial, call, origin, result }) => {
      serials.add(serial)
      seen.push([serials.size, call.name, origin, result?.success])
      throw new Error('an observer that fails')
    })
    await executor.run({ name: 'weather', args: { location: 'Oslo' } }, { origin: 'http' })
    await executor.run({ name: 'nothing' })
    stop()
    await executor.run({ name: 'weather', args: { location: 'Oslo' } })
    expect(seen).toEqual([
      [1, 'weather', 'http', undefined],
      [1, 'weather', 'http', true],
      [2, 'nothing', undefined, undefined],
      [2, 'nothing', undefined, false],
    ])
  })
})

describe('metrics', () => {
  it('count calls, failures by code, repairs, durations and calls under way', async () => {
    const clock = fakeClock()
    const { tool } = hangingTool()
    const executor = executorWith([weather, tool], { clock })
    await executor.run({ name: 'weather', args: { location: 'Oslo', days: '2' } }, { repair: true })
    await executor.run({ name: 'weather', args: {} })
    await executor.run({ name: 'made up' })
    const hanging = executor.run({ name: 'hang' })
    await clock.advance(0)
    expect(executor.metrics.snapshot()).toMatchObject({
      calls: 3,
      inFlight: 1,
      repairs: 1,
      failures: { invalid_arguments: 1, unknown_tool: 1 },
      tools: { weather: { calls: 2, repairs: 1 }, '(unknown)': { calls: 1 } },
    })
    await clock.advance(30_000)
    await hanging
    expect(executor.metrics.snapshot()).toMatchObject({ calls: 4, inFlight: 0, failures: { timeout: 1 } })
  })
})
