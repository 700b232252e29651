import { describe, expect, it } from 'vitest'
import { tableOf, viewsOf } from './views-of.ts'

const device = (name: string, more: object = {}) => ({ name, state: 'on', ...more })

describe('the ways to show a value', () => {
  it.each([
    ['plain text', 'It is 21:58 on Monday.', ['text']],
    ['a list with dashes in a sentence', 'a - b - c', ['text']],
    ['Markdown', '# Notes\n\n- one\n- two', ['markdown', 'text']],
    ['a fence', 'Try\n```sh\nls\n```', ['markdown', 'text']],
    ['JSON in a text', '{"a": [1]}', ['json', 'text']],
    ['what only begins like JSON', '{not json}', ['text']],
    ['an object', { a: 1 }, ['json', 'text']],
    ['alike objects', [device('a'), device('b', { level: 7 })], ['table', 'json', 'text']],
    ['alike objects in a text', JSON.stringify([device('a'), device('b')]), ['table', 'json', 'text']],
    ['a number', 7, ['text']],
  ])('of %s', (_, value, kinds) => expect(viewsOf(value).kinds).toEqual(kinds))

  it('find the one list of alike objects in an object, and what stands beside it', () => {
    const devices = [device('a'), device('b')]
    expect(tableOf({ devices, scenes: ['x'], total: 2 })).toEqual({
      columns: ['name', 'state'],
      rows: devices,
      rest: { scenes: ['x'], total: 2 },
    })
    expect(tableOf({ devices, others: devices })).toBeUndefined()
  })

  it('make no table of things that are not alike, of one, or of too many columns', () => {
    const wide = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`c${at}`, at]))
    for (const list of [
      [],
      [device('a')],
      [device('a'), 7],
      [{ a: 1 }, { b: 1 }, { c: 1 }],
      [wide, wide],
      [{}, {}],
    ])
      expect(tableOf(list)).toBeUndefined()
  })
})
