import { describe, expect, it } from 'vitest'
import { fakeClock, recordingLogger } from '../testing/index.ts'
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

describe('deadlines', () => {
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
