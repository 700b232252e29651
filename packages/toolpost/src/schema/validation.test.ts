import { toStandardJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ToolExecutor } from '../executor/executor.ts'
import { recordingLogger } from '../testing/index.ts'
import { defineTool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import type { JsonSchema, StandardSchema } from './json-schema.ts'

function executorFor(schema: object, logger = recordingLogger()): ToolExecutor {
  const tool = (name: string, schema: JsonSchema) =>
    defineTool({ name, description: 'd', schema, handler: args => args })
  const tools = [tool('subject', schema as JsonSchema), tool('other', { type: 'object' })]
  return new ToolExecutor(new ToolManager({ tools }), { logger, slowMs: 60_000 })
}

/** `ok`, or what is wrong. */
async function check(schema: JsonSchema | StandardSchema, args: unknown, logger = recordingLogger()) {
  const result = await executorFor(schema, logger).run({ name: 'subject', args })
  return result.success ? 'ok' : result.error.replace('Invalid parameters: ', '')
}

const object = (properties: JsonSchema, more: JsonSchema = {}) => ({ type: 'object', properties, ...more })
const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))
const named = <T>(count: number, make: (index: number) => T): Record<string, T> =>
  Object.fromEntries(many(count, index => [`p${index}`, make(index)]))

describe('what a schema can say', () => {
  it('2020-12: $defs, prefixItems, unevaluatedProperties', async () => {
    const pair = { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] }
    const $defs = { point: object({ x: { type: 'number' } }, { required: ['x'] }) }
    const $schema = 'https://json-schema.org/draft/2020-12/schema'
    const schema = object({ point: { $ref: '#/$defs/point' }, pair }, { $schema, $defs })
    expect(await check(schema, { point: { x: 1 }, pair: ['a', 1] })).toBe('ok')
    expect(await check(schema, { point: {}, pair: ['a', 'b'] })).toBe(
      "missing 'point.x'; 'pair[1]' must be number, got string",
    )
  })

  it('draft-07: definitions, tuple items, dependencies', async () => {
    const pair = { type: 'array', items: [{ $ref: '#/definitions/name' }, { type: 'number' }] }
    const more = { definitions: { name: { type: 'string' } }, dependencies: { a: ['b'] } }
    const schema = object({ pair }, { $schema: 'http://json-schema.org/draft-07/schema#', ...more })
    expect(await check(schema, { pair: ['a', 1] })).toBe('ok')
    expect(await check(schema, { pair: [1, 'a'], a: 1 })).toBe(
      "missing 'b' (needed with 'a'); 'pair[0]' must be string, got number; 'pair[1]' must be number, got string",
    )
  })

  it('alternatives are listed if none fits', async () => {
    const shape = (kind: string, own: string) =>
      object({ kind: { const: kind }, [own]: { type: 'integer' } }, { required: ['kind', own] })
    const [circle, box] = [shape('circle', 'radius'), shape('box', 'width')]
    const inline = { type: 'object', oneOf: [circle, box] }
    const oneOf = [{ $ref: '#/$defs/circle' }, { $ref: '#/$defs/box' }]
    const problem =
      'arguments must be one of: { kind: "circle", radius: integer } | { kind: "box", width: integer }'
    for (const schema of [inline, { type: 'object', oneOf, $defs: { circle, box } }]) {
      expect(await check(schema, { kind: 'box', width: 1 })).toBe('ok')
      expect(await check(schema, { kind: 'box' })).toBe(problem)
    }
    const types = object({ x: { anyOf: [{ type: 'string' }, { type: 'integer' }] } }, { required: ['y'] })
    expect(await check(types, { x: true })).toBe("missing 'y'; 'x' must be string or integer, got boolean")
    expect(await check(types, { x: 1, y: undefined })).toBe("missing 'y'")
  })

  it('[F45] a reference that never ends fails the call: the stack or the time runs out', async () => {
    const $defs = { loop: { anyOf: [{ $ref: '#/$defs/loop' }] } }
    expect(await check(object({ a: { $ref: '#/$defs/loop' } }, { $defs }), { a: 1 })).toMatch(
      /unusable schema: its chain of references is too long or endless$|take more than 200 ms to validate$/,
    )
  })
})

describe('schema libraries', () => {
  const schemas = {
    zod: z.object({ n: z.int().default(5), tag: z.string().trim().optional() }),
    valibot: toStandardJsonSchema(
      v.object({ n: v.optional(v.pipe(v.number(), v.integer()), 5), tag: v.optional(v.string()) }),
    ),
  }

  it.each(Object.entries(schemas))(
    '%s: the JSON Schema explains, and the tool gets the output',
    async (_, schema) => {
      const result = await executorFor(schema).run({ name: 'subject', args: { tag: 'a' } })
      expect(result).toMatchObject({ result: { n: 5, tag: 'a' } })
      expect(await check(schema, { n: 'x' })).toMatch(/^'n' must be (integer|number), got string$/)
    },
  )

  it('[F45] recursive types of zod', async () => {
    const Category = z.object({
      name: z.string(),
      get parts() {
        return z.array(Category).optional()
      },
    })
    expect(await check(Category, { name: 'a', parts: [{ name: 'b' }] })).toBe('ok')
    expect(await check(Category, { name: 'a', parts: [{}] })).toBe("missing 'parts[0].name'")
    expect(await check(z.object({ value: z.json() }), { value: { a: [1, { b: null }] } })).toBe('ok')
  })
})

describe('recursive schemas', () => {
  const tree = (ref: string, more: JsonSchema = {}): JsonSchema =>
    object(
      { value: { type: 'integer' }, children: { type: 'array', items: { $ref: ref } } },
      { required: ['value'], ...more },
    )

  it.each([
    ['the root', tree('#')],
    ['the $id of the root', tree('https://example.com/tree', { $id: 'https://example.com/tree' })],
    ['the root of a draft-07 schema', tree('#', { $schema: 'http://json-schema.org/draft-07/schema#' })],
    ['an anchor', { type: 'object', $ref: '#tree', $defs: { tree: tree('#tree', { $anchor: 'tree' }) } }],
    ['a definition', { $ref: '#/$defs/tree', type: 'object', $defs: { tree: tree('#/$defs/tree') } }],
    ['themselves dynamically', tree('#', { $dynamicAnchor: 'node', items: { $dynamicRef: '#node' } })],
  ])('[F45] work if they refer to %s', async (_where, schema) => {
    expect(await check(schema, { value: 1, children: [{ value: 2, children: [] }] })).toBe('ok')
    expect(await check(schema, { value: 1, children: [{ children: [{ value: 'x' }] }] })).toBe(
      "missing 'children[0].value'; 'children[0].children[0].value' must be integer, got string",
    )
  })
})

describe('patterns', () => {
  it('hold, each for itself, with Unicode whitespace', async () => {
    const schema = object(
      { a: { pattern: '^a+$' }, b: { pattern: '^b\\sb$' } },
      { patternProperties: { '^x_': { type: 'number' } } },
    )
    expect(await check(schema, { a: 'aa', b: 'b\u00a0b', x_1: 1 })).toBe('ok')
    expect(await check(schema, { a: 'bb', b: 'aa', x_1: 'no' })).toBe(
      `'a' must match pattern "^a+$"; 'b' must match pattern "^b\\sb$"; 'x_1' must be number, got string`,
    )
  })

  // With the built-in engine this test would never end.
  it('[F26] that would backtrack for ever are answered', async () => {
    const schema = object({ a: { pattern: '^(a|a)*$' }, b: { pattern: '^(([a-z])+.)+[A-Z]([a-z])+$' } })
    expect(await check(schema, { a: `${'a'.repeat(200)}!`, b: 'a'.repeat(200) })).toMatch(
      /'a' must match pattern/,
    )
  })

  it.each(['^(x)\\1$', '^(?<q>["\'])x\\k<q>$', '^(?=x)', '^\\p{Script=Greek}$', '^\\ud83d\\ude00$'])(
    '[F26] that the engine cannot express are left to the tool, with one warning: %s',
    async pattern => {
      const logger = recordingLogger()
      const executor = executorFor(object({ a: { pattern }, b: { pattern: '^b$' } }), logger)
      const run = (b: string) => executor.run({ name: 'subject', args: { a: 'anything', b } })
      expect(await run('b')).toMatchObject({ success: true })
      expect(await run('c')).toMatchObject({ error: `Invalid parameters: 'b' must match pattern "^b$"` })
      const warnings = logger.at('warn').filter(({ message }) => message.startsWith('Pattern left'))
      expect(warnings).toMatchObject([{ fields: { tool: 'subject', pattern } }])
    },
  )
})

/** A chain of definitions, each of which refers to the next several times: `width ** depth` branches. */
function branching(keyword: string, width: number, depth: number): JsonSchema {
  const levels = named(depth, at => ({ [keyword]: many(width, () => ({ $ref: `#/$defs/p${at + 1}` })) }))
  return object({ a: { $ref: '#/$defs/p0' } }, { $defs: { ...levels, [`p${depth}`]: { type: 'string' } } })
}

const NODE = (required: string) => object({ next: { $ref: '#/$defs/node' } }, { required: [required] })
const $defs = { node: { anyOf: [NODE('x'), NODE('y')] } }
const TWO_BRANCHES = object({ a: { $ref: '#/$defs/node' } }, { $defs })
const items = (schema: JsonSchema) => object({ a: { type: 'array', items: schema } })
const nested = (levels: number) => many(levels, n => n).reduce<object>(next => ({ next }), {})

/** Each would take longer than a test may: seconds, or for ever. */
const BOMBS: [string, JsonSchema, object][] = [
  ['8^11 branches of oneOf', branching('oneOf', 8, 11), { a: 1 }],
  ['a recursive schema with two branches', TWO_BRANCHES, { a: nested(40) }],
  [
    'contains in contains',
    object({ a: { type: 'array', uniqueItems: true, contains: { contains: { contains: { const: 1 } } } } }),
    { a: many(20_000, n => [n]) },
  ],
  [
    'an enum of 20,000 for 5,000 values',
    items({ enum: many(20_000, n => n) }),
    { a: many(5_000, () => 'x') },
  ],
  ['a large pattern', items({ pattern: '^(x?){400}(.?){500}$' }), { a: many(200, () => 'x'.repeat(5_000)) }],
]

describe('what would take too long', () => {
  it.each(BOMBS)('[F45 F46] is stopped, and other calls are answered: %s', async (_what, schema, args) => {
    const executor = executorFor(schema)
    const bombs = many(3, () => executor.run({ name: 'subject', args }))
    expect(await executor.run({ name: 'other' })).toMatchObject({ success: true })
    const error = 'Invalid parameters: arguments take more than 200 ms to validate'
    for (const result of await Promise.all(bombs))
      expect(result).toMatchObject({ code: 'invalid_arguments', error })
    // The same tool still works for arguments that are quickly checked.
    expect(await executor.run({ name: 'subject', args: {} })).toMatchObject({ success: true })
  })

  it('[F46] patterns that take long to compile make the schema unusable', async () => {
    const schema = object(named(400, n => ({ pattern: `^([a-z]{30}[0-9]{${n + 2}}){2}(x|y){900}$` })))
    expect(await check(schema, { p1: 'a' })).toBe(
      "Tool 'subject' has an unusable schema: it takes more than 200 ms to compile",
    )
  })
})

describe('limits of a schema', () => {
  it.each<[JsonSchema, string]>([
    [named(1_001, () => ({ type: 'string' })), 'it has more than 1000 subschemas'],
    [{ a: { pattern: 'x'.repeat(1_001) } }, 'one of its patterns is longer than 1000 characters'],
  ])('[F46] %#', async (properties, reason) => {
    const schema = object(properties)
    expect(await check(schema, {})).toBe(`Tool 'subject' has an unusable schema: ${reason}`)
  })

  it('[F27] levels and size: such a tool is refused when it is added', () => {
    const deep = many(1_000, n => n).reduce<JsonSchema>(inner => object({ a: inner }), {})
    expect(() => executorFor(deep)).toThrow(/nested more than 64 levels deep/)
    expect(() => executorFor(object({ a: { description: 'x'.repeat(256_000) } }))).toThrow(
      /larger than 256 kB/,
    )
  })
})

describe('limits of arguments', () => {
  const deep = (levels: number) => many(levels, n => n).reduce<object>(a => ({ a }), {})

  it.each<[string, object, string]>([
    ['[F28] levels', deep(5_000), 'arguments are nested more than 64 levels deep'],
    ['[F46] values', { a: many(60_000, n => n) }, 'arguments have more than 50000 values'],
    ['[F46] names', named(60_000, n => n), 'arguments have more than 50000 values'],
    ['[F46] size', { a: 'x'.repeat(10_000_001) }, 'arguments are larger than 10 MB'],
    ['[F46] a name', { ['a'.repeat(3_000)]: 1 }, 'an argument name is longer than 2000 characters'],
    ['[F29] __proto__', JSON.parse('{"a": {"__proto__": {}}}'), "'__proto__' is not an argument name"],
  ])('%s', async (_what, args, problem) => {
    expect(await executorFor({ type: 'object' }).run({ name: 'subject', args })).toMatchObject({
      code: 'invalid_arguments',
      error: `Invalid parameters: ${problem}`,
    })
  })

  it('20,000 mistakes are reported as the first twenty', async () => {
    const problems = (await check(items({ type: 'string' }), { a: many(20_000, n => n) })).split('; ')
    expect(problems).toHaveLength(21)
    expect(problems.slice(19)).toEqual(["'a[19]' must be string, got number", 'and 19980 more'])
  })
})
