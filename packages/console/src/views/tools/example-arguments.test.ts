import { describe, expect, it } from 'vitest'
import { exampleArguments } from './example-arguments.ts'

describe('examples of a schema', () => {
  it('are whole arguments if it has any', () => {
    const properties = { a: { examples: [1] } }
    expect(exampleArguments({ properties, examples: [{ a: 2 }, 'no arguments', { a: 3 }] })).toEqual([
      { a: 2 },
      { a: 3 },
    ])
  })

  it('are put together from those of the properties, required ones from what they begin with', () => {
    const properties = {
      name: { examples: ['Kitchen'] },
      action: { enum: ['on', 'off'] },
      level: { default: 5 },
      note: { type: 'string' },
    }
    expect(exampleArguments({ properties, required: ['name', 'action'] })).toEqual([
      { name: 'Kitchen', action: 'on' },
    ])
  })

  it('are none if nobody gave one, or a required value would have to be made up', () => {
    expect(exampleArguments({ properties: { a: { default: 1 } } })).toEqual([])
    expect(exampleArguments({ properties: { a: { examples: [1] }, b: {} }, required: ['b'] })).toEqual([])
    expect(exampleArguments({ properties: 7, examples: 'x', required: 9 })).toEqual([])
  })
})
