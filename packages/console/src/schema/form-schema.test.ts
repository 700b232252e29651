import type { JsonSchema } from 'toolpost/gateway'
import { describe, expect, it } from 'vitest'
import { fitsForm, formSchema, UnfitSchemaError } from './form-schema.ts'

const text = { type: 'string' }

/** `$defs` of so many levels, each of which names the next `width` times. */
function levels(keyword: string, width: number, depth: number): JsonSchema {
  const $defs: JsonSchema = {}
  for (let level = 0; level < depth; level += 1)
    $defs[`l${level}`] = {
      [keyword]: Array.from({ length: width }, () => ({ $ref: `#/$defs/l${level + 1}` })),
    }
  $defs[`l${depth}`] = { type: 'object', properties: { x: text } }
  return { properties: { a: { $ref: '#/$defs/l0' } }, $defs }
}

function nested(depth: number): JsonSchema {
  let schema: JsonSchema = text
  for (let level = 0; level < depth; level += 1) schema = { properties: { a: schema } }
  return schema
}

describe('the schema of a form', () => {
  it('is the tool’s own, without its heading, with patterns that run in linear time', () => {
    const schema = {
      title: 'T',
      description: 'D',
      properties: {
        pattern: { ...text, pattern: '^a', title: 'P\u202e' },
        b: { format: 'url', default: { pattern: 1 } },
      },
    }
    expect(formSchema(schema)).toEqual({
      type: 'object',
      properties: {
        pattern: { ...text, format: 'pattern:^a', title: 'P\\u202e' },
        b: { default: { pattern: 1 } },
      },
    })
  })

  it('may contain itself where it is shown on demand', () => {
    const json = {
      anyOf: [
        text,
        { type: 'array', items: { $ref: '#/$defs/json' } },
        { additionalProperties: { $ref: '#/$defs/json' } },
      ],
    }
    expect(() =>
      formSchema({ properties: { value: { $ref: '#/$defs/json' } }, $defs: { json } }),
    ).not.toThrow()
    expect(() => formSchema({ properties: { children: { items: { $ref: '#' } } } })).not.toThrow()
  })

  it.each<[string, JsonSchema]>([
    ['contains itself', { properties: { next: { $ref: '#' } } }],
    ['contains itself as a choice', { properties: { next: { anyOf: [{ $ref: '#' }, { type: 'null' }] } } }],
    ['refers to itself', { properties: { a: { $ref: '#/properties/a' } } }],
    ['refers to nothing', { properties: { a: { $ref: '#/$defs/nowhere' } } }],
    ['refers to what cannot be decoded', { properties: { a: { $ref: '#/%' } } }],
    ['refers to another document', { properties: { a: { $ref: 'https://example.org/s' } } }],
    ['has 8 choices on each of 8 levels', levels('anyOf', 8, 8)],
    ['has 9 parts on each of 8 levels', levels('allOf', 9, 8)],
    ['is 100,000 levels deep', nested(100_000)],
    [
      'has 10,000 properties',
      { properties: Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`p${at}`, text])) },
    ],
    ['has a list of at least a billion', { properties: { a: { items: text, minItems: 1e9 } } }],
    ['has a default of 100,000 values', { properties: { a: { default: Array(100_000).fill(1) } } }],
    ['has 100,000 choices', { properties: { a: { enum: Array.from({ length: 100_000 }, (_, at) => at) } } }],
  ])('[F45] is refused with a reason if it %s', (_, schema) => {
    expect(() => formSchema(schema)).toThrow(UnfitSchemaError)
  })

  it('[F45] refuses arguments that are too large or too deep to show', () => {
    let deep: unknown = 1
    for (let level = 0; level < 100_000; level += 1) deep = [deep]
    expect([{ a: 1, b: [1, 2] }, deep, Array(1_000_000).fill(0)].map(fitsForm)).toEqual([true, false, false])
  })
})
