import { describe, expect, it } from 'vitest'
import { type CallEvent, defineTool, type Tool, ToolExecutor, ToolManager } from '../index.ts'

const OBJECT = { type: 'object' } as const

function executorWith(...tools: Tool[]) {
  return { executor: new ToolExecutor(new ToolManager({ tools })) }
}

function toolReturning(value: unknown): Tool {
  return defineTool({ name: 'subject', description: 'x', schema: OBJECT, handler: () => value })
}

describe('a call through the public names', () => {
  it('tells which argument of a tool object has the wrong type', async () => {
    const properties = { n: { type: 'number' } } as const
    const tool = defineTool({
      name: 'subject',
      description: 'x',
      schema: { type: 'object', properties, required: ['n'] },
      handler: ({ n }) => n + 1,
    })
    const { executor } = executorWith(tool)
    // @ts-expect-error: a string is not a number
    const result = await executor.run({ tool, args: { n: 'x' } })
    expect(result).toMatchObject({ code: 'invalid_arguments' })
    expect(await executor.run({ tool, args: { n: 1 } })).toMatchObject({ result: 2 })
  })
})

describe('a text that could be two numbers', () => {
  const schema = { type: 'object', properties: { n: { type: 'number' } } }
  const tool = { name: 'subject', description: 'x', schema, invoke: async (args: object) => args }
  const run = (n: string) =>
    executorWith(tool).executor.run({ name: 'subject', args: { n } }, { repair: true })

  it.each([
    ['15.500', '15.5 or 15500'],
    ['90.000', '90 or 90000'],
  ])('is refused with both readings: %s', async (text, readings) => {
    const result = await run(text)
    expect(result).toMatchObject({ code: 'invalid_arguments', error: expect.stringContaining(readings) })
  })

  it.each([
    ['15.5', 15.5],
    ['0.500', 0.5],
    ['15500', 15_500],
    ['1234.500', 1234.5],
  ])('is read if there is one reading: %s', async (text, n) => {
    expect(await run(text)).toMatchObject({ result: { n } })
  })
})

describe('the stages of an observed call', () => {
  it('follow each other, with each interceptor under its name', async () => {
    const { executor } = executorWith(toolReturning(1))
    const ended: CallEvent[] = []
    executor.observe(event => event.result && ended.push(event))
    executor.use(async function first(_, next) {
      return next()
    })
    await executor.run({ name: 'subject' })
    const stages = ended[0]?.stages ?? []
    expect(stages.map(({ name }) => name)).toEqual(['find', 'fit', 'first', 'invoke'])
    for (const [index, { start_ms, duration_ms }] of stages.entries()) {
      const before = stages[index - 1]
      expect(start_ms).toBeCloseTo(before ? before.start_ms + before.duration_ms : 0, 3)
      expect(duration_ms).toBeGreaterThanOrEqual(0)
    }
  })
})
