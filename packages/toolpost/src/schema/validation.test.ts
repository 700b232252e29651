import { describe, expect, it } from 'vitest'
import { ToolExecutor } from '../executor/tool-executor.ts'
import { recordingLogger } from '../testing/index.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import type { JsonSchema } from './json-schema.ts'

async function check(schema: JsonSchema, args: unknown, logger = recordingLogger()) {
  const manager = new ToolManager()
  manager.addCustomTool({ name: 'subject', description: 'd', schema, invoke: got => got })
  const result = await new ToolExecutor(manager, { logger, slowMs: 60_000 }).run({ name: 'subject', args })
  return result.success ? 'ok' : result.error.replace('Invalid parameters: ', '')
}

const object = (properties: JsonSchema, more: JsonSchema = {}): JsonSchema => ({
  type: 'object',
  properties,
  ...more,
})

describe('what a schema can say', () => {
  it('2020-12: $defs, $ref, prefixItems, unevaluatedProperties', async () => {
    const schema = object(
      {
        point: { $ref: '#/$defs/point' },
        pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] },
      },
      {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $defs: { point: object({ x: { type: 'number' } }, { required: ['x'] }) },
      },
    )
    expect(await check(schema, { point: { x: 1 }, pair: ['a', 1] })).toBe('ok')
    expect(await check(schema, { point: {}, pair: ['a', 'b'] })).toBe(
      "missing 'point.x'; 'pair[1]' must be number, got string",
    )
  })

  it('draft-07: definitions, tuple items, dependencies', async () => {
    const schema = object(
      { pair: { type: 'array', items: [{ $ref: '#/definitions/name' }, { type: 'number' }] } },
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        definitions: { name: { type: 'string' } },
        dependencies: { a: ['b'] },
      },
    )
    expect(await check(schema, { pair: ['a', 1] })).toBe('ok')
    expect(await check(schema, { pair: [1, 'a'], a: 1 })).toBe(
      "missing 'b' (needed with 'a'); 'pair[0]' must be string, got number; 'pair[1]' must be number, got string",
    )
  })

  it('anyOf of types reads as one sentence', async () => {
    const schema = object({ x: { anyOf: [{ type: 'string' }, { type: 'integer' }] } })
    expect(await check(schema, { x: true })).toBe("'x' must be string or integer, got boolean")
  })

  it('oneOf with a discriminator speaks of the form that was meant', async () => {
    const form = (kind: string, key: string) =>
      object({ kind: { const: kind }, [key]: { type: 'string' } }, { required: ['kind', key] })
    const schema = object({ target: { oneOf: [form('room', 'room'), form('device', 'name')] } })
    expect(await check(schema, { target: { kind: 'device' } })).toBe("missing 'target.name'")
  })

  it('tells list items apart', async () => {
    const schema = object({
      i: { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'integer' }] } },
    })
    const items = Array.from({ length: 12 }, (_, n) => (n === 1 || n === 10 ? true : n))
    expect(await check(schema, { i: items })).toBe(
      "'i[1]' must be string or integer, got boolean; 'i[10]' must be string or integer, got boolean",
    )
  })

  it('formats, limits and nullable types', async () => {
    const schema = object({
      at: { type: 'string', format: 'date' },
      n: { type: ['integer', 'null'], minimum: 3 },
    })
    expect(await check(schema, { at: '2026-11-15', n: null })).toBe('ok')
    expect(await check(schema, { at: 'soon', n: 2 })).toBe(
      "'at' must match format \"date\"; 'n' must be >= 3",
    )
  })

  it('tools may share an $id without sharing a schema', async () => {
    const schema = (type: string) => object({ a: { type } }, { $id: 'https://example.com/same' })
    expect(await check(schema('string'), { a: 'x' })).toBe('ok')
    expect(await check(schema('number'), { a: 1 })).toBe('ok')
  })

  it('a reference that leads nowhere makes the schema unusable', async () => {
    expect(await check(object({ a: { $ref: '#/$defs/none' } }), { a: 1 })).toMatch(
      /unusable schema: can't resolve reference/,
    )
  })

  it('a property that one part declares and another, closed, refuses is not dropped in silence', async () => {
    const schema = object(
      { a: { type: 'string' } },
      { allOf: [object({ b: {} }, { additionalProperties: false })] },
    )
    expect(await check(schema, { a: 'x', b: 1 })).toBe("unknown 'a'")
    expect(await check(schema, { b: 1, c: 2 })).toBe('ok')
    const nested = object({ rows: { type: 'array', items: schema } })
    expect(await check(nested, { rows: [{ b: 1 }, { a: 'x' }] })).toBe("unknown 'rows[1].a'")
  })

  it('names the property that the alternative that was meant does not have', async () => {
    const closed = (kind: string, own: string) =>
      object(
        { kind: { const: kind }, [own]: { type: 'integer' } },
        { required: ['kind'], additionalProperties: false },
      )
    const inline = { type: 'object', oneOf: [closed('circle', 'radius'), closed('box', 'width')] }
    const referred = {
      type: 'object',
      oneOf: [{ $ref: '#/$defs/circle' }, { $ref: '#/$defs/box' }],
      $defs: { circle: closed('circle', 'radius'), box: closed('box', 'width') },
    }
    for (const schema of [inline, referred]) {
      expect(await check(schema, { kind: 'box', width: 1, radius: 2 })).toBe("unknown 'radius'")
      expect(await check(schema, { kind: 'box', width: 1, height: 2 })).toBe('ok')
      expect(await check(schema, { kind: 'oval', width: 1 })).toBe("'kind' must be one of: circle, box")
      expect(await check(schema, { kind: 'box', width: 'x', radius: 2 })).toBe(
        "'width' must be integer, got string",
      )
    }
  })

  it('explains recursive alternatives, and those of an equal schema that was compiled before', async () => {
    const schema = () => ({
      type: 'object',
      properties: { rule: { $ref: '#/$defs/rule' } },
      $defs: {
        rule: { anyOf: [{ $ref: '#/$defs/all' }, { $ref: '#/$defs/one' }] },
        all: object({ all: { type: 'array', items: { $ref: '#/$defs/rule' } } }, { required: ['all'] }),
        one: object({ is: { const: 'one' }, n: { type: 'integer' } }, { required: ['is', 'n'] }),
      },
    })
    for (const each of [schema(), schema()]) {
      expect(await check(each, { rule: { all: [{ all: [{ all: 5 }] }] } })).toBe(
        "'rule.all[0].all[0].all' must be array, got number",
      )
      expect(await check(each, { rule: 5 })).toBe("'rule' must be object, got number")
    }
  })

  it('hints at a list where a text has separators', async () => {
    const schema = object({ sizes: { type: 'array', items: { type: 'string' } } })
    expect(await check(schema, { sizes: 'M, L' })).toBe(
      `'sizes' must be array, got string (if it is a list, write ["M","L"])`,
    )
    expect(await check(schema, { sizes: 'M' })).toBe("'sizes' must be array, got string")
  })

  it.each([
    ['string', "['M', 'L']", '["M","L"]'],
    ['string', "['M']", '["M"]'],
    ['string', '(M, L)', '["M","L"]'],
    ['string', '- M\n- Extra Large\n', '["M","Extra Large"]'],
    ['string', '1. M\n2. L', '["M","L"]'],
    ['string', 'M、L', '["M","L"]'],
    ['string', '1;2', '["1","2"]'],
    ['integer', '1, -2', '[1,-2]'],
    ['number', '[1.5,2,]', '[1.5,2]'],
    ['integer', '1, two', '["1","two"]'],
  ])('hints at a list of %s in the notation of JSON for %s', async (type, given, list) => {
    const schema = object({ sizes: { type: 'array', items: { type } } })
    expect(await check(schema, { sizes: given })).toBe(
      `'sizes' must be array, got string (if it is a list, write ${list})`,
    )
  })

  it('hints at a list where one of several types is a list', async () => {
    const schema = object({ size: { anyOf: [{ type: 'integer' }, { type: 'array' }] } })
    expect(await check(schema, { size: 'M, L' })).toBe(
      `'size' must be integer or array, got string (if it is a list, write ["M","L"])`,
    )
  })

  it('names at most ten problems', async () => {
    const schema = { type: 'object', required: Array.from({ length: 14 }, (_, index) => `a${index}`) }
    expect(await check(schema, {})).toMatch(/missing 'a9'; and 4 more$/)
  })
})

describe('patterns', () => {
  it('hold, each for itself', async () => {
    const schema = object(
      { a: { pattern: '^a+$' }, b: { pattern: '^b+$' } },
      { patternProperties: { '^x_': { type: 'number' } } },
    )
    expect(await check(schema, { a: 'aa', b: 'bb', x_1: 1 })).toBe('ok')
    expect(await check(schema, { a: 'bb', b: 'aa', x_1: 'no' })).toBe(
      `'a' must match pattern "^a+$"; 'b' must match pattern "^b+$"; 'x_1' must be number, got string`,
    )
  })

  it('[F26] that would backtrack forever are answered immediately', async () => {
    const schema = object({ a: { pattern: '^(a|a)*$' }, b: { pattern: '^(([a-z])+.)+[A-Z]([a-z])+$' } })
    const before = performance.now()
    expect(await check(schema, { a: `${'a'.repeat(5_000)}!`, b: 'a'.repeat(5_000) })).toMatch(
      /'a' must match pattern/,
    )
    // The built-in engine would need longer than the universe has been there; the bound is only generous.
    expect(performance.now() - before).toBeLessThan(5_000)
  })

  it.each(['^(x)\\1$', '^(?<q>["\'])x\\k<q>$'])(
    '[F26] that the engine cannot express are left to the tool, with one warning: %s',
    async pattern => {
      const logger = recordingLogger()
      const schema = object({ a: { pattern }, b: { pattern: '^b$' } })
      expect(await check(schema, { a: 'anything', b: 'b' }, logger)).toBe('ok')
      expect(await check(schema, { a: 'anything', b: 'c' })).toBe(`'b' must match pattern "^b$"`)
      expect(logger.at('warn')).toMatchObject([{ fields: { tool: 'subject', pattern } }])
    },
  )

  it.each([
    ['^\\p{Letter}+$', 'äß', 'a1'],
    ['^\\P{Letter}+$', '12', '1a'],
    ['^[\\p{Letter}\\d]+$', 'ä1', '-'],
    ['^[^\\p{Letter}]+$', '12', 'a'],
    ['^[\\P{Letter}]+$', '12', 'a'],
    ['^\\p{Script=Greek}+$', 'αβγ', 'abc'],
    ['^\\p{sc=Cyrl}+$', 'да', 'da'],
    ['^\\p{Script_Extensions=Latin}+$', 'abc', 'αβγ'],
    ['^\\p{General_Category=Uppercase_Letter}+$', 'ÄB', 'äb'],
    ['^\\p{gc=Decimal_Number}+$', '12', 'ab'],
    ['^\\p{ASCII}+$', 'abc', 'ä'],
    ['^\\p{Alphabetic}+$', 'aä', '1'],
    ['^\\p{ID_Start}\\p{ID_Continue}*$', 'a1', '1a'],
    ['^\\P{ASCII}+$', 'ä\u{10fffd}', 'a'],
    ['^[\\p{Letter}\\p{Mark}]+$', '葛\u{e0100}城市', '葛\u{e0080}'],
    ['^\\p{Variation_Selector}+$', '\ufe0f\u{e01ef}', '\u{e01f0}'],
    ['^\\p{Private_Use}+$', '\ue000\u{f0000}\u{10fffd}', '\u{10fffe}'],
    ['^\\p{Unassigned}+$', '\u{40000}\u{dfffd}\u{e1000}', '\u{f0000}'],
    ['^\\P{Unassigned}+$', 'a\u{e0001}\u{f1234}', '\u{50000}'],
    ['^\\ud83d\\ude00$', '😀', '😁'],
    ['^[\\uD83D\\uDE00-\\uD83D\\uDE4F]+$', '😀🙏', '🚀'],
    ['^a\\sb$', 'a\u00a0b', 'a\u200bb'],
    ['^a[\\s_]+b$', 'a\u3000\ufeff\t_b', 'a-b'],
    ['^\\S+$', 'a\u200bb', 'a\u00a0b'],
    ['^[^\\s]+$', 'a😀', 'a\u2028b'],
    ['^[\\S ]+$', 'a b', 'a\u00a0b'],
    ['^[\\s-]+$', ' -', 'a'],
    ['^\\\\s$', '\\s', ' '],
  ])('with classes of Unicode hold: %s', async (pattern, right, wrong) => {
    const logger = recordingLogger()
    expect(await check(object({ a: { pattern } }), { a: right }, logger)).toBe('ok')
    expect(logger.at('warn')).toEqual([])
    expect(await check(object({ a: { pattern } }), { a: wrong })).toMatch(/must match pattern/)
  })
})
