import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../api/types.ts'
import { validate } from './validate.ts'

function problems(value: unknown, schema: JsonSchema): string[] {
  return validate(value, schema, schema).map(({ path, message }) => [...path, message].join(' '))
}

describe('the small validator', () => {
  it.each<[string, unknown, JsonSchema, string[]]>([
    ['a missing argument', {}, { required: ['a'] }, ['a is required']],
    ['an inherited name', {}, { required: ['toString'] }, ['toString is required']],
    ['an emptied field', { a: undefined }, { required: ['a'] }, ['a is required']],
    ['a wrong type', { n: 'x' }, { properties: { n: { type: 'integer' } } }, ['n must be integer']],
    ['one of several types', null, { type: ['string', 'null'] }, []],
    ['a fraction for an integer', 1.5, { type: 'integer' }, ['must be integer']],
    ['an enum', 'dim', { enum: ['on', 'off'] }, ['must be one of: on, off']],
    ['a constant', 2, { const: 1 }, ['must be 1']],
    ['a range', 120, { minimum: 0, maximum: 99 }, ['must be at most 99']],
    ['an open range', 0, { exclusiveMinimum: 0 }, ['must be more than 0']],
    ['a step', 0.3, { multipleOf: 0.1 }, []],
    ['a wrong step', 5, { multipleOf: 2 }, ['must be a multiple of 2']],
    ['a short text', '', { minLength: 1 }, ['must have at least 1 character']],
    ['characters, not code units', '🙂🙂', { maxLength: 2 }, []],
    ['too many items', [1, 2, 3], { maxItems: 2 }, ['must have at most 2 items']],
    ['equal items', [1, 1], { uniqueItems: true }, ['must not have an item twice']],
    [
      'an item inside',
      { l: [1, 'x'] },
      { properties: { l: { items: { type: 'number' } } } },
      ['l 1 must be number'],
    ],
    ['a tuple', ['a', 'b'], { prefixItems: [{ type: 'string' }, { type: 'number' }] }, ['1 must be number']],
    ['any of', true, { anyOf: [{ type: 'string' }, { type: 'number' }] }, ['fits none of the choices']],
    [
      'one of, both',
      3,
      { oneOf: [{ type: 'number' }, { type: 'integer' }] },
      ['fits more than one of the choices'],
    ],
    ['all of', 'x', { allOf: [{ minLength: 2 }, { type: 'string' }] }, ['must have at least 2 characters']],
    ['not', 1, { not: { const: 1 } }, ['has a value that is ruled out']],
    ['if and else', {}, { if: { required: ['a'] }, else: { required: ['b'] } }, ['b is required']],
    ['more than a closed schema has', { x: 1 }, { additionalProperties: false }, []],
    ['typed additions', { x: 1 }, { additionalProperties: { type: 'string' } }, ['x must be string']],
    ['a schema of false', 1, { properties: {}, not: true }, ['has a value that is ruled out']],
  ])('knows %s', (_, value, schema, expected) => {
    expect(problems(value, schema)).toEqual(expected)
  })

  it('follows references inside of the schema, also recursive ones', () => {
    const schema = {
      $ref: '#/$defs/node',
      $defs: {
        node: { type: 'object', properties: { next: { $ref: '#/$defs/node' }, id: { type: 'string' } } },
      },
    }
    expect(problems({ next: { next: { id: 1 } } }, schema)).toEqual(['next next id must be string'])
    expect(problems(1, { $ref: '#/$defs/nowhere' })).toEqual([])
    expect(problems(1, { $ref: '#' })).toEqual([])
  })

  it('never runs a pattern of a tool', () => {
    const startedAt = performance.now()
    expect(problems('a'.repeat(40), { pattern: '^(a|a)*$' })).toEqual([])
    expect(performance.now() - startedAt).toBeLessThan(500)
  })

  it('takes a broken schema for one that allows everything', () => {
    for (const schema of [{ type: 7 }, { properties: [] }, { required: 'a' }, { enum: 'x' }, { items: 3 }])
      expect(problems({ a: [1] }, schema as JsonSchema)).toEqual([])
  })
})
