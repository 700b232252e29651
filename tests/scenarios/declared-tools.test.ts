import { type DeclareOptions, declareTools, type ToolDeclaration } from 'toolpost'
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
  it('[B01 B10] finds the tool, validates its arguments, runs its implementation and returns the result', async () => {
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

  it('[B06 B07] checks types and choices, and takes only whole numbers for an integer', async () => {
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
    expect(await run({ location: 'Oslo', unit: 'kelvin' })).toMatchObject({
      code: 'invalid_arguments',
      error: "Invalid parameters: 'unit' must be one of: celsius, fahrenheit",
    })
    expect(await run({ location: 'Oslo', days: 2, unit: 'celsius' })).toMatchObject({ success: true })
  })

  it('[B08] passes extra arguments through if the schema is open', async () => {
    const { run, forecast } = weather()
    expect(await run({ location: 'Oslo', mood: 'good' })).toMatchObject({ success: true })
    expect(forecast.mock.calls[0]?.[0]).toEqual({ location: 'Oslo', mood: 'good' })
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

describe('builtin and internal tools', () => {
  it.each([
    ['builtin', 'missing', "Builtin handler 'missing' not found"],
    ['builtin', 'toString', "Builtin handler 'toString' not found"],
    // A builtin of that name is not an internal handler.
    ['internal', 'echo', "Internal handler 'echo' not found"],
  ] as const)(
    '[B11 B15] answer with an error if there is no handler: %s %s',
    async (type, handler, error) => {
      expect(await run({ type, handler }, {})).toMatchObject({ success: false, code: 'tool_error', error })
    },
  )

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

  it('[B14] call the handler that the host program supplies', async () => {
    const rag_query = vi.fn(async ({ query }: { query: string }) => ({ found: query }))
    expect(
      await run({ type: 'internal', handler: 'rag_query' }, { query: 'gate' }, { internals: { rag_query } }),
    ).toMatchObject({ success: true, result: { found: 'gate' } })
    expect(rag_query).toHaveBeenCalledOnce()
  })
})

describe('results', () => {
  it('[B17 B18 E06] have one form for every failure, of any tool', async () => {
    const clock = fakeClock()
    const tools = [
      ...declareTools([WEATHER], { builtins: { forecast: () => 1 } }),
      toolThat('hang', () => new Promise(() => {})),
    ]
    const failing = () => new Promise((_, fail) => clock.setTimer(() => fail(new Error('no')), 40))
    const { executor, tools: manager } = executorFor(tools, { clock })
    manager.addMcpTools([toolThat('fail', failing)], { server: 'home' })
    const names = ['nothing', 'weather', 'fail', 'hang']
    const running = Promise.all(names.map(name => executor.run({ name, args: {} })))
    await clock.advance(30_000)
    const results = await running
    for (const [at, result] of results.entries())
      expect(result).toMatchObject({
        success: false,
        error: expect.stringMatching(/\S/),
        tool_name: names[at],
      })
    expect(results.map(result => result.execution_time_ms)).toEqual([0, 0, 40, 30_000])
    expect(results.map(result => !result.success && result.code)).toEqual([
      'unknown_tool',
      'invalid_arguments',
      'tool_error',
      'timeout',
    ])
  })
})
