import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { unharmed } from '../../test/unharmed.ts'
import type { ToolResult } from '../call/tool-result.ts'
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

function executorFor(schema: object, invoke: (args: object) => unknown = args => args): ToolExecutor {
  const manager = new ToolManager()
  manager.addCustomTool({ name: 'attacked', description: 'd', schema, invoke })
  return new ToolExecutor(manager)
}

/** Room for a busy machine: each of these took seconds, and more, before. */
const TIMEOUT_MS = 400
const MAX_LATE_MS = 3_000

/** The result of a call of the attacked tool, which must end in time and not be felt beside it. */
async function attacked(
  executor: ToolExecutor,
  args: unknown,
  { repair = false, timeoutMs = TIMEOUT_MS } = {},
): Promise<ToolResult> {
  let took = 0
  const attack = async () => {
    const before = performance.now()
    const outcome = await executor.run({ name: 'attacked', args }, { repair, timeoutMs })
    took = performance.now() - before
    return outcome
  }
  const result = await unharmed(attack, { executor })
  expect(took).toBeLessThan(timeoutMs + MAX_LATE_MS)
  return result
}

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
    async (_name, { schema, args, repair = false }) => {
      const result = await attacked(executorFor(schema), args, { repair })
      if (!result.success) expect(['timeout', 'invalid_arguments', 'invalid_schema']).toContain(result.code)
    },
  )
})

describe('arguments that are too many', () => {
  const manyNames = named(75_000, () => 'x')

  it.each<[string, object]>([
    ['an open schema', object({})],
    ['a closed schema', object({ a: {} }, { additionalProperties: false })],
    ['a record of zod', z.record(z.string(), z.number())],
    ['an object of zod', z.object({ list: z.record(z.string(), z.number()) })],
  ])('[F46] 75,000 names for %s are refused in words, and not felt', async (_what, schema) => {
    const executor = executorFor(schema)
    for (const args of [manyNames, { list: manyNames }])
      expect(await attacked(executor, args)).toMatchObject({
        error: 'Invalid parameters: an object in the arguments has more than 25000 names',
      })
  })

  it('[F46] 60,000 wrong entries are explained by the JSON Schema, and zod is not asked', async () => {
    let asked = 0
    const entry = z.number().refine(() => ++asked)
    const executor = executorFor(z.object({ list: z.array(entry) }))
    const args = { list: many(60_000, () => 'x') }
    const result = await attacked(executor, args, { timeoutMs: 20_000 })
    expect(result).toMatchObject({ error: expect.stringContaining("'list[0]' must be number, got string") })
    expect(asked).toBe(0)
  })
})

describe('what is said about a schema', () => {
  const LONG = 'x'.repeat(100_000)

  it.each<[string, JsonSchema]>([
    ['a type', { type: LONG }],
    ['a fixed value', { const: LONG }],
    ['choices', { enum: many(8, n => `${n}${LONG}`) }],
    ['types', { type: many(20_000, () => 'string') }],
    ['a pattern', { type: 'string', pattern: `^${'x'.repeat(5_000)}$` }],
    ['a required name', { type: 'object', required: many(20, n => `${LONG.slice(0, 20_000)}${n}`) }],
  ])('is short, however long %s is', async (_what, a) => {
    const executor = executorFor(object({ a }, { required: ['a'] }))
    for (const args of [{}, { a: 1 }, { a: {} }]) {
      const text = await executor.execute('attacked', args)
      expect(text).toMatch(/^Error: /)
      expect(text.length).toBeLessThan(25_000)
    }
  })

  it('tells a chain of references that is too long from one that refers to itself', async () => {
    const chain = named(10_000, n => ({ $ref: `#/$defs/p${n + 1}` }))
    const schema = object({ a: { $ref: '#/$defs/p0' } }, { $defs: { ...chain, p10000: { type: 'string' } } })
    const run = executorFor(schema).run({ name: 'attacked', args: { a: 1 } }, { timeoutMs: 20_000 })
    expect(await run).toMatchObject({
      error: "Tool 'attacked' has an unusable schema: its chain of references is too long or endless",
    })
  }, 30_000)
})

describe('hostile text from a model', () => {
  const FENCE = '```'

  it.each([
    ['6,000 line breaks in a code block', FENCE + '\n'.repeat(6_000)],
    ['6,000 line breaks between two fences', `${FENCE}json${'\n'.repeat(6_000)}x${FENCE}`],
    ['30,000 quotes', '\\"'.repeat(30_000)],
    ['30,000 quotes of two kinds', `\\"\\'`.repeat(15_000)],
    ['30,000 escaped quotes', `"${'\\"'.repeat(30_000)}`],
    ['30,000 zeros', `{"a": ${'0'.repeat(30_000)}1}`],
    ['30,000 digits', `{"a": ${'1'.repeat(30_000)}}`],
    ['30,000 brackets', '['.repeat(30_000)],
    ['960 kB of escapes', `{"a": "${'\\u0041'.repeat(160_000)}"}`],
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

describe('huge results', () => {
  const row = { id: 1, text: 'x'.repeat(60) }

  it.each<[string, () => unknown]>([
    ['a million rows', () => ({ rows: new Array(1_000_000).fill(row) })],
    ['a map of 300,000', () => new Map(many(300_000, n => [n, row]))],
    ['90 MB in a hundred texts', () => new Array(100).fill('é"\n'.repeat(300_000))],
    ['one text of 90 MB', () => Buffer.alloc(90_000_000, 'abc ').toString()],
    ['two million numbers', () => new Array(2_000_000).fill(1.25)],
  ])('[F32] are cut before they are written for a model: %s', async (_what, make) => {
    const value = make()
    const executor = executorFor({ type: 'object' }, () => value)
    const text = await unharmed(() => executor.execute('attacked', {}), { executor })
    expect(text).toMatch(/\n… \[\d+ of (about )?\d+ bytes left out\] …\n/)
    expect(Buffer.byteLength(text)).toBeLessThan(100_200)
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
