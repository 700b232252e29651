import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { dataOf, testGateway } from '../../test/gateway.ts'
import { unharmed } from '../../test/unharmed.ts'
import { ToolExecutor } from '../executor/tool-executor.ts'
import { defineTool, type Tool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import type { JsonSchema, StandardSchema } from './json-schema.ts'
import { signatureOf } from './signature.ts'
import { knownNames } from './walk-schema.ts'

const toolOf = (schema: JsonSchema | StandardSchema, name = 'subject'): Tool =>
  defineTool({ name, description: 'd', schema: schema as JsonSchema, handler: args => args })

async function check(schema: JsonSchema | StandardSchema, args: unknown) {
  const manager = new ToolManager()
  manager.addCustomTool(toolOf(schema))
  const result = await new ToolExecutor(manager).run({ name: 'subject', args })
  return result.success ? 'ok' : result.error.replace('Invalid parameters: ', '')
}

const TREE = { value: { type: 'integer' } }
const tree = (ref: string, more: JsonSchema = {}): JsonSchema => ({
  type: 'object',
  properties: { ...TREE, children: { type: 'array', items: { $ref: ref } } },
  required: ['value'],
  ...more,
})

const Category = z.object({
  name: z.string(),
  get parts() {
    return z.array(Category).optional()
  },
})

describe('recursive schemas', () => {
  it.each([
    ['the root', tree('#')],
    ['the $id of the root', tree('https://example.com/tree', { $id: 'https://example.com/tree' })],
    ['the root of a draft-07 schema', tree('#', { $schema: 'http://json-schema.org/draft-07/schema#' })],
    ['an anchor', { type: 'object', $ref: '#tree', $defs: { tree: tree('#tree', { $anchor: 'tree' }) } }],
    ['a definition', { $ref: '#/$defs/tree', type: 'object', $defs: { tree: tree('#/$defs/tree') } }],
  ])('[F45] work if they refer to %s', async (_where, schema) => {
    expect(await check(schema, { value: 1, children: [{ value: 2, children: [] }] })).toBe('ok')
    expect(await check(schema, { value: 1, children: [{ children: [{ value: 'x' }] }] })).toBe(
      "missing 'children[0].value'; 'children[0].children[0].value' must be integer, got string",
    )
  })

  it('[F45] work as zod writes them', async () => {
    expect(await check(Category, { name: 'a', parts: [{ name: 'b' }] })).toBe('ok')
    expect(await check(Category, { name: 'a', parts: [{}] })).toBe("missing 'parts[0].name'")
    const json = z.object({ value: z.json() })
    expect(await check(json, { value: { a: [1, { b: null }] } })).toBe('ok')
    expect(await check(json, {})).toBe("missing 'value'")
    const lazy: z.ZodType = z.lazy(() => z.union([z.number(), z.array(lazy)]))
    expect(await check(z.object({ list: lazy }), { list: [1, [2]] })).toBe('ok')
  })

  it.each([
    'http://json-schema.org/draft-06/schema#',
    'http://json-schema.org/draft-07/schema#',
    'https://json-schema.org/draft-07/schema#',
    'https://json-schema.org/draft/2019-09/schema',
    'https://json-schema.org/draft/2020-12/schema',
  ])('may refer to the meta-schema %s', async $ref => {
    const schema = { type: 'object', properties: { schema: { $ref } } }
    expect(await check(schema, { schema: { type: 'object', properties: {} } })).toBe('ok')
    expect(await check(schema, { schema: { type: 5 } })).toMatch(/'schema\.type'/)
  })

  it.each(['http://json-schema.org/draft-04/schema#', 'https://json-schema.org/draft-03/schema'])(
    'may refer to the meta-schema %s, of which only little is checked',
    async $ref => {
      const schema = { type: 'object', properties: { schema: { $ref } } }
      expect(await check(schema, { schema: { minimum: 1, exclusiveMinimum: true } })).toBe('ok')
      expect(await check(schema, { schema: 5 })).toMatch(/'schema'/)
    },
  )

  it.each([
    ['itself', { $ref: '#' }],
    ['each other', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }],
    ['themselves in a branch', { $ref: '#/$defs/a', $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }] } } }],
  ])('that are nothing but a reference to %s are refused with a reason', async (_what, schema) => {
    expect(await check({ type: 'object', ...schema }, {})).toMatch(/unusable schema: infinite self-reference/)
  })
})

const branching = (keyword: string, width: number, depth: number): JsonSchema => {
  const $defs: JsonSchema = { [`d${depth}`]: { type: 'object', properties: { leaf: {} } } }
  for (let level = 0; level < depth; level++)
    $defs[`d${level}`] = { [keyword]: Array(width).fill({ $ref: `#/$defs/d${level + 1}` }) }
  return { type: 'object', properties: { a: { $ref: '#/$defs/d0' } }, $ref: '#/$defs/d0', $defs }
}

const HOSTILE: Record<string, JsonSchema | StandardSchema> = {
  itself: tree('#'),
  json: z.object({ value: z.json() }),
  anyOf: branching('anyOf', 8, 8),
  allOf: branching('allOf', 9, 8),
  malformed: { type: 'object', properties: { a: { $ref: '#/%' } } },
  surrogate: { type: 'object', properties: { '\ud800': { type: 'string', enum: ['\udc00'] } } },
  wide: {
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`p${n}`, {}])),
  },
}

describe('listing', () => {
  it('[F45] shows every tool, whatever the schemas of some are', async () => {
    const tools = Object.entries(HOSTILE).map(([name, schema]) => toolOf(schema, name))
    await using gateway = testGateway([...tools, toolOf({ type: 'object' }, 'odd \ud800 name')])
    const list = (path: string) => unharmed(() => dataOf(gateway.get(path)))
    expect((await list('/api/tools')).tools).toHaveLength(tools.length + 1)
    const { paths } = await list('/api/openapi.json')
    for (const name of Object.keys(HOSTILE)) expect(paths).toHaveProperty([`/api/tools/${name}/call`])
  })

  it('[F45] gives a short form that says that it is one', () => {
    const signature = (name: string) => signatureOf(toolOf(HOSTILE[name] as JsonSchema, name))
    expect(signature('itself')).toBe(
      'itself(value: integer, children?: { value: integer, children?: object[] }[])',
    )
    expect(signature('anyOf')).toMatch(/^anyOf\(a\?: .*…/)
    expect(signature('wide')).toMatch(/p59\?: any, … 4940 more\)$/)
    for (const name of Object.keys(HOSTILE)) expect(signature(name).length).toBeLessThan(2_000)
  })

  it('[F45] knows the names behind branches of branches', () => {
    expect([...knownNames(branching('allOf', 9, 8))]).toEqual(['a', 'leaf'])
  })

  it('[F45] says what is wrong with the arguments of such a tool', async () => {
    expect(await check(HOSTILE.itself as JsonSchema, { value: 'x' })).toBe(
      "'value' must be integer, got string",
    )
    expect(await check(HOSTILE.malformed as JsonSchema, { a: 1 })).toMatch(/unusable schema: /)
  })

  it('[F31] says which part of a name is not Unicode text', async () => {
    expect(await check(HOSTILE.surrogate as JsonSchema, { '\ud800': 'x' })).toMatch(
      /unusable schema: one of its names has half a surrogate pair \(\\ud800\)/,
    )
    const $defs = { '%E0%A4': { type: 'string' } }
    const percent = { type: 'object', properties: { a: { $ref: '#/$defs/%E0%A4' } }, $defs }
    expect(await check(percent as JsonSchema, {})).toMatch(/its \$ref, \$id or \$anchor is not a valid URI/)
    const long = { type: 'object', properties: { a: { type: 'x'.repeat(100_000) } } }
    expect((await check(long as unknown as JsonSchema, {}))?.length).toBeLessThan(500)
  })
})
