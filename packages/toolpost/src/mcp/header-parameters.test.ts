import { describe, expect, it } from 'vitest'
import { headerParameters } from './header-parameters.ts'

const object = (properties: object) => ({ type: 'object', properties })
const region = { type: 'string', 'x-mcp-header': 'Region' }

describe('headerParameters', () => {
  it('finds arguments that go along in headers, however deep', () => {
    const schema = object({ region, at: object({ floor: { type: 'integer', 'x-mcp-header': 'Floor' } }) })
    expect(headerParameters(schema)).toEqual({
      parameters: [
        { path: ['region'], header: 'Region', type: 'string' },
        { path: ['at', 'floor'], header: 'Floor', type: 'integer' },
      ],
      problem: undefined,
    })
  })

  it.each([
    ['a name with a blank', object({ a: { ...region, 'x-mcp-header': 'My Region' } })],
    ['a name with a line break', object({ a: { ...region, 'x-mcp-header': 'A\r\nB: c' } })],
    ['no name', object({ a: { ...region, 'x-mcp-header': '' } })],
    ['a name that is no text', object({ a: { ...region, 'x-mcp-header': 5 } })],
    ['two of one name, in any case', object({ a: region, b: { ...region, 'x-mcp-header': 'REGION' } })],
    ['a list', object({ a: { ...region, type: 'array' } })],
    ['a number, which has no one form', object({ a: { ...region, type: 'number' } })],
    ['no type', object({ a: { 'x-mcp-header': 'A' } })],
    ['the schema itself', { ...object({}), 'x-mcp-header': 'A' }],
    ['entries of a list', object({ a: { type: 'array', items: region } })],
    ['one of several', object({ a: { anyOf: [region] } })],
    ['a definition', { ...object({}), $defs: { region } }],
    ['a condition', { ...object({}), if: object({ region }) }],
  ])('says what is wrong with %s', (_, schema) => {
    expect(headerParameters(schema).problem).toMatch(/x-mcp-header/)
  })

  it('still knows a number, whose header a server compares', () => {
    const schema = object({ a: { type: 'number', 'x-mcp-header': 'A' } })
    expect(headerParameters(schema).parameters).toEqual([{ path: ['a'], header: 'A', type: 'number' }])
  })

  it('ends with schemas that go round in circles or very deep', () => {
    const round: Record<string, unknown> = { type: 'object' }
    round.properties = { again: round }
    expect(headerParameters(round).problem).toBe('its schema is too large')
    let deep: object = region
    for (let level = 0; level < 20_000; level++) deep = object({ a: deep })
    expect(headerParameters(deep as never).parameters[0]?.path).toHaveLength(20_000)
  })
})
