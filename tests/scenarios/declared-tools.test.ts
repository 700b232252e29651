import { type DeclareOptions, declareTools, defineTool, type ToolDeclaration } from 'toolpost'
import { fakeClock } from 'toolpost/testing'
import { describe, expect, it, vi } from 'vitest'
import { executorFor, toolThat } from './support.ts'

const WEATHER: ToolDeclaration = {
  name: 'weather',
  description: 'The weather somewhere',
  parameters: {
    type: 'object',
    properties: {
      location: { type: 'string' },
      days: { type: 'integer' },
      unit: { type: 'string', enum: ['celsius', 'fahrenheit'] },
    },
    required: ['location'],
  },
  implementation: { type: 'builtin', handler: 'forecast' },
}

/** The weather tool, and the handler behind it. */
function weather() {
  const forecast = vi.fn(({ location }: { location: string }) => ({ location, temperature: 22 }))
  const { executor } = executorFor(declareTools([WEATHER], { builtins: { forecast } }))
  return { executor, forecast, run: (args: object) => executor.run({ name: 'weather', args }) }
}

/** Runs a declared tool without parameters of its own. */
function run(implementation: ToolDeclaration['implementation'], args: object, options: DeclareOptions = {}) {
  const declaration = { name: 'declared', description: 'A declared tool', implementation }
  return executorFor(declareTools([declaration], options)).executor.run({ name: 'declared', args })
}

describe('the flow of a call', () => {
  it('[B01] finds the tool, validates its arguments, runs its implementation and returns the result', async () => {
    const { run, forecast } = weather()
    expect(await run({ location: 'Oslo' })).toMatchObject({
      success: true,
      result: { location: 'Oslo', temperature: 22 },
      tool_name: 'weather',
      execution_time_ms: expect.any(Number),
    })
    expect(forecast).toHaveBeenCalledOnce()
    expect(forecast.mock.calls[0]?.[0]).toEqual({ location: 'Oslo' })
  })

  it('[B02] answers an unknown tool with an error and throws nothing', async () => {
    const { executor } = weather()
    expect(await executor.run({ name: 'wether', args: {} })).toMatchObject({
      success: false,
      error: "Tool 'wether' not found",
      code: 'unknown_tool',
      tool_name: 'wether',
      execution_time_ms: expect.any(Number),
    })
  })

  it('[B03] answers missing arguments with their names and does not run the tool', async () => {
    const { run, forecast } = weather()
    expect(await run({ unit: 'celsius' })).toMatchObject({
      success: false,
      error: "Invalid parameters: missing 'location'",
      code: 'invalid_arguments',
      tool_name: 'weather',
    })
    expect(forecast).not.toHaveBeenCalled()
  })

  it('[B04] catches what a tool throws and returns its message', async () => {
    const { executor } = executorFor([
      toolThat('sync', () => {
        throw new Error('The cellar is flooded')
      }),
      toolThat('async', () => Promise.reject(new Error('The attic is on fire'))),
    ])
    expect(await executor.run({ name: 'sync' })).toMatchObject({
      success: false,
      error: 'The cellar is flooded',
      code: 'tool_error',
      tool_name: 'sync',
    })
    expect(await executor.run({ name: 'async' })).toMatchObject({
      success: false,
      error: 'The attic is on fire',
    })
  })
})

describe('parameter validation', () => {
  it('[B05] requires every required argument to be present', async () => {
    const tool = toolThat('set', () => 'set', {
      schema: {
        type: 'object',
        properties: { device: { type: 'string' }, state: { type: 'string' } },
        required: ['device', 'state'],
      },
    })
    const { executor } = executorFor([tool])
    const errorFor = async (args: object) => (await executor.run({ name: 'set', args })) as { error?: string }
    expect((await errorFor({})).error).toBe("Invalid parameters: missing 'device'; missing 'state'")
    expect((await errorFor({ device: 'lamp' })).error).toBe("Invalid parameters: missing 'state'")
    expect(await errorFor({ device: 'lamp', state: 'on' })).toMatchObject({ success: true })
    // Inherited properties, such as toString, are not arguments.
    expect((await errorFor(Object.create({ device: 'lamp', state: 'on' }))).error).toContain(
      "missing 'device'",
    )
  })

  it('[B06] checks types, and takes only whole numbers for an integer', async () => {
    const { run } = weather()
    expect(await run({ location: 5 })).toMatchObject({
      error: "Invalid parameters: 'location' must be string, got number",
    })
    expect(await run({ location: 'Oslo', days: 1.5 })).toMatchObject({
      error: "Invalid parameters: 'days' must be integer, got number",
    })
    expect(await run({ location: 'Oslo', days: '2' })).toMatchObject({
      error: "Invalid parameters: 'days' must be integer, got string",
    })
    expect(await run({ location: 'Oslo', days: 2 })).toMatchObject({ success: true })
  })

  it('[B07] answers a value outside an enum with the allowed values', async () => {
    const { run } = weather()
    expect(await run({ location: 'Oslo', unit: 'kelvin' })).toMatchObject({
      code: 'invalid_arguments',
      error: "Invalid parameters: 'unit' must be one of: celsius, fahrenheit",
    })
    expect(await run({ location: 'Oslo', unit: 'celsius' })).toMatchObject({ success: true })
  })

  it('[B08] passes extra arguments through if the schema is open', async () => {
    const { run, forecast } = weather()
    expect(await run({ location: 'Oslo', mood: 'good' })).toMatchObject({ success: true })
    expect(forecast.mock.calls[0]?.[0]).toEqual({ location: 'Oslo', mood: 'good' })
  })

  it('[B08] drops extra arguments if the schema is closed, and leaves the call as it was', async () => {
    const inner = { type: 'object', properties: { n: { type: 'number' } }, additionalProperties: false }
    const schema = { type: 'object', properties: { inner }, additionalProperties: false }
    const { executor } = executorFor([toolThat('closed', args => args, { schema })])
    const args = { inner: { n: 1, extra: 2 }, extra: true }
    expect(await executor.run({ name: 'closed', args })).toMatchObject({
      success: true,
      result: { inner: { n: 1 } },
    })
    expect(args).toEqual({ inner: { n: 1, extra: 2 }, extra: true })
  })
})

describe('mock tools', () => {
  it('[B09] answer with their mock_response without waiting, and log the arguments', async () => {
    const mock_response = { temperature: 22, sky: ['clear'] }
    const declaration = { ...WEATHER, implementation: { type: 'mock' as const, mock_response } }
    // Time stands still: a mock that waited for anything would not answer.
    const { executor, logger } = executorFor(declareTools([declaration]), { clock: fakeClock() })
    const result = await executor.run({ name: 'weather', args: { location: 'Oslo' } })
    expect(result).toMatchObject({ success: true, result: mock_response })
    expect(result.execution_time_ms).toBeLessThan(10)
    expect(logger.at('info')).toMatchObject([{ fields: { tool: 'weather', args: { location: 'Oslo' } } }])
    expect(await executor.run({ name: 'weather', args: { location: 'Rome' } })).toMatchObject({
      result: mock_response,
    })
  })
})

describe('builtin tools', () => {
  it('[B10] call the handler of that name with their arguments', async () => {
    const builtins = { double: ({ n }: { n: number }) => n * 2, triple: ({ n }: { n: number }) => n * 3 }
    expect(await run({ type: 'builtin', handler: 'triple' }, { n: 4 }, { builtins })).toMatchObject({
      success: true,
      result: 12,
    })
  })

  it.each(['missing', 'toString'])('[B11] answer with an error if there is no handler %s', async handler => {
    expect(await run({ type: 'builtin', handler }, {})).toMatchObject({
      success: false,
      code: 'tool_error',
      error: `Builtin handler '${handler}' not found`,
    })
  })

  it('[B12] evaluate mathematics with mathjs, safely', async () => {
    const evaluate = (expression: string) => run({ type: 'builtin', handler: 'math_eval' }, { expression })
    expect(await evaluate('2+2')).toMatchObject({ success: true, result: { result: 4 } })
    expect(await evaluate('sqrt(16) + 2^3')).toMatchObject({ result: { result: 12 } })
    expect(await evaluate('2 +')).toMatchObject({
      code: 'tool_error',
      error: expect.stringContaining('Unexpected end of expression'),
    })
    expect(await evaluate('2 * foo')).toMatchObject({
      error: expect.stringContaining('Undefined symbol foo'),
    })
    for (const attack of ['process.exit(1)', 'import({ two: 2 })', 'createUnit("x")', '"".constructor'])
      expect(await evaluate(attack)).toMatchObject({ success: false, code: 'tool_error' })
  })

  it('[B13] echo their arguments', async () => {
    const args = { text: 'hello', list: [1, { deep: null }] }
    expect(await run({ type: 'builtin', handler: 'echo' }, args)).toMatchObject({
      success: true,
      result: { echo: args },
    })
  })
})

describe('internal tools', () => {
  it('[B14] call the handler that the host program supplies', async () => {
    const rag_query = vi.fn(async ({ query }: { query: string }) => ({ found: query }))
    expect(
      await run({ type: 'internal', handler: 'rag_query' }, { query: 'gate' }, { internals: { rag_query } }),
    ).toMatchObject({ success: true, result: { found: 'gate' } })
    expect(rag_query).toHaveBeenCalledOnce()
  })

  it('[B15] answer with an error if there is no such handler', async () => {
    // A builtin of that name is not an internal handler.
    expect(await run({ type: 'internal', handler: 'echo' }, {})).toMatchObject({
      success: false,
      code: 'tool_error',
      error: "Internal handler 'echo' not found",
    })
  })
})

describe('results', () => {
  it('[B16] have the time that the whole call took', async () => {
    const clock = fakeClock()
    const slow = toolThat('slow', () => new Promise(done => clock.setTimer(() => done('done'), 250)))
    const { executor } = executorFor([slow], { clock })
    const running = executor.run({ name: 'slow' })
    await clock.advance(250)
    expect(await running).toMatchObject({ success: true, execution_time_ms: 250 })
  })

  it('[B17] have it for failures too', async () => {
    const clock = fakeClock()
    const failing = toolThat(
      'failing',
      () => new Promise((_, fail) => clock.setTimer(() => fail(new Error('no')), 40)),
    )
    const { executor } = executorFor([failing], { clock })
    const running = executor.run({ name: 'failing' })
    await clock.advance(40)
    expect(await running).toMatchObject({ success: false, error: 'no', execution_time_ms: 40 })
    const { run } = weather()
    expect((await run({})).execution_time_ms).toBeGreaterThanOrEqual(0)
  })

  it('[B18] have one form for every failure', async () => {
    const clock = fakeClock()
    const tools = [
      ...declareTools([WEATHER], { builtins: { forecast: () => 1 } }),
      toolThat('fail', () => Promise.reject(new Error('no'))),
      toolThat('hang', () => new Promise(() => {})),
    ]
    const { executor } = executorFor(tools, { clock })
    const names = ['nothing', 'weather', 'fail', 'hang']
    const running = Promise.all(names.map(name => executor.run({ name, args: {} })))
    await clock.advance(30_000)
    const results = await running
    for (const [at, result] of results.entries())
      expect(result).toMatchObject({
        success: false,
        error: expect.stringMatching(/\S/),
        tool_name: names[at],
        execution_time_ms: expect.any(Number),
      })
    expect(results.map(result => !result.success && result.code)).toEqual([
      'unknown_tool',
      'invalid_arguments',
      'tool_error',
      'timeout',
    ])
  })

  it('[B19] have success, the value of the tool, its name and the time', async () => {
    const value = { lights: ['hall'], count: 1 }
    const list = defineTool({
      name: 'list',
      description: 'Lists lights',
      schema: { type: 'object' },
      handler: () => value,
    })
    expect(await executorFor([list]).executor.run({ id: 'c1', name: 'list' })).toEqual({
      success: true,
      result: value,
      tool_name: 'list',
      execution_time_ms: expect.any(Number),
      tool_call_id: 'c1',
    })
  })
})
