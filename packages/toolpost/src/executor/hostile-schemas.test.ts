import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../schema/json-schema.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { ToolExecutor } from './tool-executor.ts'

const object = (properties: JsonSchema, more: JsonSchema = {}): JsonSchema => ({
  type: 'object',
  properties,
  ...more,
})

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))

const named = <T>(count: number, make: (index: number) => T): Record<string, T> =>
  Object.fromEntries(many(count, index => [`p${index}`, make(index)]))

/** A chain of definitions, each of which refers to the next several times: `width ** depth` branches. */
function branching(keyword: string, width: number, depth: number, leaf: JsonSchema): JsonSchema {
  const levels = named(depth, level => ({
    [keyword]: many(width, () => ({ $ref: `#/$defs/p${level + 1}` })),
  }))
  return object({ a: { $ref: '#/$defs/p0' } }, { $defs: { ...levels, [`p${depth}`]: leaf } })
}

/** The same behind anchors that stand where no estimate looks for them. */
function anchoredBranching(width: number, depth: number): JsonSchema {
  const hidden = named(depth + 1, level => ({
    $anchor: `n${level}`,
    ...(level < depth ? { anyOf: many(width, () => ({ $ref: `#n${level + 1}` })) } : { type: 'number' }),
  }))
  return object({ x: { $ref: '#n0' }, hold: { $defs: hidden } })
}

function dynamicBranching(width: number): JsonSchema {
  const branch = (k: number) => object({ c: { $dynamicRef: '#node' }, k: { const: k } }, { required: ['k'] })
  return { $dynamicAnchor: 'node', type: 'object', anyOf: many(width, branch) }
}

function nestedChildren(depth: number): object {
  return depth === 0 ? { k: 9 } : { k: 9, c: nestedChildren(depth - 1) }
}

function executorFor(schema: JsonSchema): ToolExecutor {
  const manager = new ToolManager()
  manager.addCustomTool({ name: 'attacked', description: 'd', schema, invoke: args => args })
  manager.addCustomTool({ name: 'other', description: 'd', schema: { type: 'object' }, invoke: () => 'fine' })
  return new ToolExecutor(manager)
}

/** How long calls of another tool, one after the other, took at most while `attack` was under way. */
async function slowestBeside(executor: ToolExecutor, attack: Promise<unknown>): Promise<number> {
  let isOver = false
  attack.then(() => {
    isOver = true
  })
  let slowest = 0
  while (!isOver) {
    const before = performance.now()
    await new Promise(resolve => setTimeout(resolve, 1))
    await executor.run({ name: 'other' })
    slowest = Math.max(slowest, performance.now() - before)
  }
  return slowest
}

/** 100 ms on a machine that has nothing else to do; each of these stood still for seconds, and more, before. */
const MAX_BESIDE_MS = 600
const TIMEOUT_MS = 1_000
const MAX_LATE_MS = 1_000

const rows = (count: number, row: object) => ({ rows: many(count, () => row) })

const ATTACKS: [string, { schema: JsonSchema; args: object; repair?: boolean }][] = [
  ['8^11 branches of anyOf', { schema: branching('anyOf', 8, 11, { type: 'string' }), args: { a: 1 } }],
  ['8^8 branches behind anchors', { schema: anchoredBranching(8, 8), args: { x: 's' } }],
  ['4^14 branches by $dynamicRef', { schema: dynamicBranching(4), args: nestedChildren(14) }],
  [
    'names that depend on 20,000 others',
    { schema: { type: 'object', dependentRequired: { a: many(20_000, n => `n${n}`) } }, args: {} },
  ],
  ['8^11 branches of oneOf', { schema: branching('oneOf', 8, 11, {}), args: { a: 1 } }],
  ['9^8 branches of allOf', { schema: branching('allOf', 9, 8, { type: 'string' }), args: { a: 1 } }],
  ['10,000 properties', { schema: object(named(10_000, () => ({ type: 'string' }))), args: { p1: 1 } }],
  [
    '2,000 patterns',
    { schema: object(named(2_000, n => ({ pattern: `^(a|b)+[0-9]{${n % 500}}x` }))), args: { p1: 'a' } },
  ],
  [
    'patterns that repeat a lot',
    { schema: object(named(40, n => ({ pattern: `^(a{1,900}b{1,90${n % 10}})` }))), args: { p1: 'a' } },
  ],
  [
    'patterns for names',
    {
      schema: { type: 'object', patternProperties: Object.fromEntries(many(60, n => [`^(a|b)*${n}$`, {}])) },
      args: Object.fromEntries(many(3_000, n => [`${'ab'.repeat(40)}${n}`, 1])),
    },
  ],
  [
    'uniqueItems over objects',
    { schema: object({ a: { type: 'array', uniqueItems: true } }), args: { a: many(20_000, n => ({ n })) } },
  ],
  [
    'uniqueItems in every entry of a list',
    {
      schema: object({ a: { type: 'array', items: { type: 'array', uniqueItems: true } } }),
      args: { a: many(20, row => many(2_500, n => [row, n])) },
    },
  ],
  [
    'a recursive schema with two branches, on nested arguments',
    {
      schema: object(
        { a: { $ref: '#/$defs/node' } },
        {
          $defs: {
            node: {
              anyOf: [
                object({ next: { $ref: '#/$defs/node' } }, { required: ['x'] }),
                object({ next: { $ref: '#/$defs/node' } }, { required: ['y'] }),
              ],
            },
          },
        },
      ),
      args: { a: many(40, n => n).reduce<object>(next => ({ next }), {}) },
    },
  ],
  [
    'extras in 40,000 entries',
    {
      schema: object({ rows: { type: 'array', items: object({ a: {} }, { additionalProperties: false }) } }),
      args: rows(40_000, { a: 1, extra: 2 }),
    },
  ],
  [
    'errors in 40,000 entries',
    { schema: object({ rows: { type: 'array', items: { type: 'string' } } }), args: rows(40_000, {}) },
  ],
  [
    '900 nulls to leave out',
    {
      schema: object(named(900, () => ({ type: 'string' }))),
      args: named(900, () => null),
      repair: true,
    },
  ],
  [
    '900 nulls in a small schema',
    {
      schema: object({
        rows: { type: 'array', items: object({ a: { anyOf: [{ type: 'string' }, { type: 'number' }] } }) },
      }),
      args: rows(900, { a: null }),
      repair: true,
    },
  ],
  [
    'a reference to itself and nothing else',
    { schema: { type: 'object', properties: { a: { $ref: '#/properties/a' } } }, args: { a: 1 } },
  ],
  [
    '300 references to 100 properties',
    {
      schema: object(
        named(100, () => ({ $ref: '#/$defs/big' })),
        { $defs: { big: object(named(100, () => ({ type: 'string' }))) } },
      ),
      args: { p1: { p1: 1 } },
    },
  ],
  [
    'an enum of 100,000 on 1,000 values',
    {
      schema: object({ a: { type: 'array', items: { enum: many(20_000, n => n) } } }),
      args: { a: many(5_000, () => 'x') },
    },
  ],
]

describe('hostile schemas and arguments', () => {
  it.each(ATTACKS)(
    '[F46] %s: the call ends in time, and the calls beside it go on',
    async (_name, attack) => {
      const { schema, args, repair = false } = attack
      const executor = executorFor(schema)
      await executor.run({ name: 'other' })
      const before = performance.now()
      const running = executor.run({ name: 'attacked', args }, { repair, timeoutMs: TIMEOUT_MS })
      const beside = await slowestBeside(executor, running)
      const result = await running
      const took = performance.now() - before
      expect(beside).toBeLessThan(MAX_BESIDE_MS)
      expect(took).toBeLessThan(TIMEOUT_MS + MAX_LATE_MS)
      if (!result.success) expect(['timeout', 'invalid_arguments', 'invalid_schema']).toContain(result.code)
    },
  )
})

describe('hostile text from a model', () => {
  const QUOTES = '"'.repeat(30_000)
  const FENCE = '```'

  it.each([
    ['6,000 line breaks in a code block', FENCE + '\n'.repeat(6_000)],
    ['6,000 line breaks between two fences', `${FENCE}json${'\n'.repeat(6_000)}x${FENCE}`],
    ['30,000 quotes', QUOTES],
    ['30,000 quotes of two kinds', `"'`.repeat(15_000)],
    ['30,000 escaped quotes', `"${'\\"'.repeat(15_000)}`],
    ['30,000 zeros', `{"a": ${'0'.repeat(30_000)}1}`],
    ['30,000 digits', `{"a": ${'1'.repeat(30_000)}}`],
    ['30,000 brackets', '['.repeat(30_000)],
    ['100,000 objects in each other', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
  ])('[F47] is answered at once: %s', async (_what, text) => {
    const executor = executorFor(
      object({ a: { type: 'number' }, list: { type: 'array', items: { type: 'number' } } }),
    )
    await executor.run({ name: 'attacked', args: '{}' }, { repair: true })
    const before = performance.now()
    for (const args of [text, { a: text }, { list: text }])
      expect(await executor.run({ name: 'attacked', args }, { repair: true })).toMatchObject({
        code: 'invalid_arguments',
      })
    // Each took seconds to minutes before.
    expect(performance.now() - before).toBeLessThan(1_000)
  })
})

it('[F46] refuses arguments whose names are endless, in words and at once', async () => {
  const items = { type: 'array', items: { type: 'object', additionalProperties: false } }
  const executor = executorFor({ type: 'object', patternProperties: { '^a': items } })
  const args = { ['a'.repeat(100_000)]: many(1_000, () => ({ x: 1 })) }
  expect(await executor.run({ name: 'attacked', args })).toMatchObject({
    code: 'invalid_arguments',
    error: 'Invalid parameters: an argument name is longer than 2000 characters',
  })
})
