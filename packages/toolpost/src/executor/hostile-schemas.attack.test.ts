import { describe, expect, it } from 'vitest'
import { unharmed } from '../../test/unharmed.ts'
import type { ToolResult } from '../call/tool-result.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { ToolExecutor } from './executor.ts'

const object = (properties: JsonSchema, more: JsonSchema = {}): JsonSchema => ({
  type: 'object',
  properties,
  ...more,
})

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))

function executorFor(schema: object, invoke: (args: object) => unknown = args => args): ToolExecutor {
  const manager = new ToolManager()
  manager.addCustomTool({ name: 'attacked', description: 'd', schema, invoke })
  return new ToolExecutor(manager)
}

const TIMEOUT_MS = 400

/** The result of a call of the attacked tool, with other calls beside it. */
async function attacked(
  executor: ToolExecutor,
  args: unknown,
  { repair = false, timeoutMs = TIMEOUT_MS } = {},
): Promise<ToolResult> {
  return unharmed(() => executor.run({ name: 'attacked', args }, { repair, timeoutMs }), { executor })
}

it('what is said about a schema is short, however long its parts are', async () => {
  const long = 'x'.repeat(20_000)
  const enumeration = { enum: many(8, n => `${n}${long}`) }
  for (const a of [{ type: long }, enumeration, { type: 'string', pattern: `^${'x'.repeat(900)}$` }]) {
    const executor = executorFor(object({ a }, { required: ['a'] }))
    for (const args of [{}, { a: 1 }, { a: {} }]) {
      const text = await executor.execute('attacked', args)
      expect(text).toMatch(/^Error: /)
      expect(text.length).toBeLessThan(25_000)
    }
  }
})

describe('hostile text from a model', () => {
  const FENCE = '```'

  it.each([
    ['6,000 line breaks in a code block', FENCE + '\n'.repeat(6_000)],
    ['30,000 quotes', '\\"'.repeat(30_000)],
    ['30,000 escaped quotes', `"${'\\"'.repeat(30_000)}`],
    ['30,000 zeros', `{"a": ${'0'.repeat(30_000)}1}`],
    ['30,000 brackets', '['.repeat(30_000)],
    ['960 kB of escapes without an end', `{"a": "${'\\n'.repeat(480_000)}`],
    ['960 kB that are nearly JSON', `{'a': [${'{},'.repeat(320_000)}1]}`],
    ['960 kB of numbers', `{"a": [${'1,'.repeat(480_000)}"x"]}`],
    ['100,000 objects in each other', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
  ])('[F47] is answered at once: %s', async (_what, text) => {
    const executor = executorFor(
      object({ a: { type: 'number' }, list: { type: 'array', items: { type: 'number' } } }),
    )
    for (const args of [text, { a: text }, { list: text }])
      expect(await attacked(executor, args, { repair: true })).toMatchObject({ code: 'invalid_arguments' })
  })
})

it('names in 16,000 objects with 100 alternatives hold up nobody', async () => {
  const anyOf = many(100, n => object({ [`k${n}`]: { type: 'integer' } }, { required: [`k${n}`] }))
  const schema = object({ a: { type: 'array', items: { anyOf } } })
  const manager = new ToolManager()
  manager.addMcpTools([{ name: 'attacked', description: 'd', schema, invoke: args => args }], { server: 's' })
  const executor = new ToolExecutor(manager)
  expect(await attacked(executor, { a: many(16_000, () => ({ k: '1' })) })).toMatchObject({
    code: 'invalid_arguments',
  })
})

describe('huge results', () => {
  const row = { id: 1, text: 'x'.repeat(60) }

  it.each<[string, () => unknown]>([
    ['a million rows', () => ({ rows: new Array(1_000_000).fill(row) })],
    ['a map of 300,000', () => new Map(many(300_000, n => [n, row]))],
    ['90 MB in a hundred texts', () => new Array(100).fill('é"\n'.repeat(300_000))],
    ['one text of 90 MB', () => Buffer.alloc(90_000_000, 'abc ').toString()],
  ])('[F32] are cut before they are written for a model: %s', async (_what, make) => {
    const value = make()
    const executor = executorFor({ type: 'object' }, () => value)
    const text = await unharmed(() => executor.execute('attacked', {}), { executor })
    expect(text).toMatch(/bytes left out|… \d+ more/)
    expect(Buffer.byteLength(text)).toBeLessThan(100_200)
  })
})
