import { describe, expect, it } from 'vitest'
import { withNamedChoices } from './choices.ts'

function names(anyOf: unknown[], isOptional = false): unknown[] {
  const { anyOf: choices } = withNamedChoices({ anyOf }, isOptional)
  return (choices as { title?: string }[]).map(({ title }) => title)
}

describe('the choices of a schema', () => {
  it('say what each is', () => {
    const choices = [
      { type: 'string' },
      { type: 'string', format: 'email' },
      { type: ['integer', 'boolean'] },
      { type: 'array', items: { type: 'number' } },
      { properties: { city: {}, street: {} } },
      { enum: ['on', 'off'] },
      { const: 7 },
      { $ref: '#/$defs/Address' },
      { title: 'Mine', type: 'string' },
      { description: 'Whatever you like\nreally' },
      { type: 'string', description: 'A name' },
      {},
    ]
    expect(names(choices)).toEqual([
      'Text',
      'Text (email)',
      'Whole number or Yes or no',
      'List of number',
      'Object with city, street',
      'on, off',
      '7',
      'Address',
      'Mine',
      'Whatever you like',
      'Text: A name',
      'Option 12',
    ])
  })

  it('start with none if the argument is optional, and null is a value', () => {
    const { anyOf } = withNamedChoices({ anyOf: [{ type: 'string' }, { type: 'null' }] }, true)
    expect(anyOf).toEqual([
      { type: 'null', not: {}, title: 'Not set' },
      { type: 'string', title: 'Text' },
      { const: null, title: 'Null' },
    ])
    expect(names([{ type: 'string' }, { type: 'null' }])).toEqual(['Text', 'Null'])
  })

  it('that are fixed values stay a plain list', () => {
    const list = { oneOf: [{ const: 'a', title: 'A' }, { const: 'b' }] }
    expect(withNamedChoices(list, true)).toEqual(list)
  })
})
