import { describe, expect, it } from 'vitest'
import type { JsonSchema } from './json-schema.ts'
import { requiredArguments, signatureOf } from './signature.ts'

const signature = (schema: JsonSchema) => signatureOf({ name: 't', schema })

describe('signatures', () => {
  it('read as TypeScript would write them', () => {
    const properties = {
      name: { type: 'string' },
      action: { enum: ['on', 'off'] },
      level: { type: 'integer' },
      tags: { type: 'array', items: { type: ['string', 'null'] } },
      where: { type: 'object', properties: { room: { type: 'string' } }, required: ['room'] },
      'odd name': {},
    }
    expect(signature({ type: 'object', properties, required: ['name'] })).toBe(
      't(name: string, action?: "on" | "off", level?: integer, tags?: (string | null)[], where?: { room: string }, "odd name"?: any)',
    )
  })

  it('show alternatives, maps and what is required beyond the listed properties', () => {
    const a = { type: 'object', properties: { a: { type: 'string' } }, required: ['a', 'b'] }
    const properties = {
      where: { type: ['object', 'null'], properties: { room: { type: 'string' } }, required: ['room'] },
      labels: { type: 'object', additionalProperties: { type: 'string' } },
      both: { allOf: [a, { enum: ['x', 'y'] }] },
    }
    expect(signature({ type: 'object', properties })).toBe(
      't(where?: { room: string } | null, labels?: Record<string, string>, both?: { a: string, b: any } & ("x" | "y"))',
    )
  })

  it('follow references, even if the whole schema is one', () => {
    const $defs = {
      args: { type: 'object', properties: { a: { $ref: '#/$defs/size' } }, required: ['a'] },
      size: { enum: [1, 2] },
    }
    const schema = { $ref: '#/$defs/args', $defs }
    expect(signature(schema)).toBe('t(a: 1 | 2)')
    expect(requiredArguments(schema)).toBe('a (one of 1, 2)')
  })

  it('do not run away with a schema that refers to itself', () => {
    const $defs = { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } }
    expect(signature({ type: 'object', properties: { list: { $ref: '#/$defs/node' } }, $defs })).toMatch(
      /^t\(list\?: \{ next\?: /,
    )
  })
})
