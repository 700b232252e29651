import type { JsonSchema } from 'toolpost/gateway'
import { describe, expect, it } from 'vitest'
import { formSchema } from './form-schema.ts'
import { formValidator } from './form-validator.ts'

/** What the form says about arguments, as `path message`. */
function problems(args: unknown, schema: JsonSchema): string[] {
  const root = formSchema(schema)
  const { errors } = formValidator(root).validateFormData(args, root)
  return errors.map(({ stack }) => stack.trim())
}

const one = (schema: unknown) => ({ properties: { a: schema } })

describe('the validator of a form', () => {
  it.each<[string, unknown, JsonSchema, string[]]>([
    ['a missing argument', {}, { required: ['a'] }, ['a is required']],
    ['an inherited name', {}, { required: ['toString'] }, ['toString is required']],
    ['an emptied field', { a: undefined }, { required: ['a'] }, ['a is required']],
    ['a wrong type', { a: 'x' }, one({ type: 'integer' }), ['a must be integer']],
    ['several types', { a: [] }, one({ type: ['string', 'null'] }), ['a must be string or null']],
    ['an emptied item', { a: [undefined] }, one({ items: { type: 'string' } }), ['a.0 must be string']],
    ['an enum', { a: 'dim' }, one({ enum: ['on', 'off'] }), ['a must be one of ["on","off"]']],
    ['a constant', { a: 2 }, one({ const: 1 }), ['a must be 1']],
    ['a range', { a: 120 }, one({ minimum: 0, maximum: 99 }), ['a 120 is greater than 99']],
    ['a step', { a: 0.3 }, one({ multipleOf: 0.1 }), []],
    ['characters, not code units', { a: '🙂🙂' }, one({ maxLength: 2 }), []],
    ['a date', { a: 'tomorrow' }, one({ format: 'date' }), ['a is not a valid date']],
    [
      'a tuple of 2020-12',
      { a: ['x', 'y'] },
      one({ prefixItems: [{ type: 'string' }, { type: 'number' }] }),
      ['a.1 must be number'],
    ],
    [
      'a tuple of draft-07',
      { a: ['x', 'y'] },
      { $schema: 'http://json-schema.org/draft-07/schema#', ...one({ items: [{}, { type: 'number' }] }) },
      ['a.1 must be number'],
    ],
    [
      'any of',
      { a: true },
      one({ anyOf: [{ type: 'string' }, { type: 'number' }] }),
      ['a matches none of the options'],
    ],
    [
      'one of, both',
      { a: 3 },
      one({ oneOf: [{ type: 'number' }, { type: 'integer' }] }),
      ['a must match exactly one of the options'],
    ],
    ['all of', { a: '' }, one({ allOf: [{ minLength: 2 }] }), ['a String is too short (0 < 2)']],
    ['not', { a: 1 }, one({ not: { const: 1 } }), ['a has a value that is not allowed']],
    ['if and else', {}, { if: { required: ['a'] }, else: { required: ['b'] } }, ['b is required']],
    ['typed additions', { x: 1 }, { additionalProperties: { type: 'string' } }, ['x must be string']],
    [
      'names with slashes and blanks',
      { 'a/b c~%': 1 },
      { properties: { 'a/b c~%': { type: 'string' } } },
      ['a/b c~% must be string'],
    ],
    ['more than a closed schema has, which the gateway drops', { x: 1 }, { additionalProperties: false }, []],
  ])('knows %s', (_, args, schema, expected) => {
    expect(problems(args, schema)).toEqual(expected)
  })

  it('follows references, including recursive ones and those to the $id of the schema', () => {
    const node = {
      type: 'object',
      properties: { id: { type: 'string' }, next: { items: { $ref: '#/$defs/node' } } },
    }
    const schema = { ...one({ $ref: '#/$defs/node' }), $defs: { node } }
    expect(problems({ a: { next: [{ id: 1 }] } }, schema)).toEqual(['a.next.0.id must be string'])
    const own = {
      $id: 'https://example.org/s',
      required: ['b'],
      ...one({ items: { $ref: 'https://example.org/s' } }),
    }
    expect(problems({ a: [{}], b: 1 }, own)).toEqual(['a.0.b is required'])
  })

  it('tells the options of a choice apart, as the form hands them over', () => {
    const root = formSchema({
      $defs: { n: { type: 'number' } },
      ...one({ anyOf: [{ type: 'string' }, { $ref: '#/$defs/n' }] }),
    })
    const { isValid } = formValidator(root)
    expect(isValid({ $ref: '#/$defs/n' }, 1, root)).toBe(true)
    expect(isValid({ $ref: '#/$defs/n' }, 'x', root)).toBe(false)
    expect(isValid({ type: 'string' }, undefined, root)).toBe(false)
  })

  it('ignores a keyword with an invalid value', () => {
    for (const schema of [{ type: 7 }, { properties: [] }, { required: 'a' }, { enum: 'x' }, { items: 3 }])
      expect(() => problems({ a: [1] }, schema as JsonSchema)).not.toThrow()
  })

  it('checks patterns, and says what is wrong from the top of the form to its end', () => {
    const properties = {
      code: { type: 'string', pattern: '^[A-Z]+$' },
      owner: { properties: { a: {}, b: {} }, required: ['b', 'a'] },
    }
    const schema = { properties, required: ['owner', 'code'] }
    expect(problems({ code: 'x' }, schema)).toEqual(['code must match ^[A-Z]+$', 'owner is required'])
    expect(problems({ owner: {} }, schema)).toEqual([
      'code is required',
      'owner.a is required',
      'owner.b is required',
    ])
  })

  it('[F46] never hangs on a pattern of a tool', () => {
    const args = { a: 'a'.repeat(40), ['b'.repeat(40)]: 1 }
    const schema = { ...one({ pattern: '^(a|a)*$' }), patternProperties: { '^(b|b)*$': { type: 'string' } } }
    expect(problems(args, schema)).toEqual([])
  })

  it('[F46] gives up on a value and a schema that multiply each other', () => {
    // Every level is checked twice: 2^40 visits.
    const half = { properties: { next: { items: { $ref: '#/$defs/node' } } } }
    const schema = { ...one({ $ref: '#/$defs/node' }), $defs: { node: { allOf: [half, half] } } }
    let value: unknown = {}
    for (let level = 0; level < 40; level += 1) value = { next: [value] }
    expect(problems({ a: value }, schema)).toEqual([])
  })
})
