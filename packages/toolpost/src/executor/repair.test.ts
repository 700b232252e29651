import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../schema/json-schema.ts'
import { recordingLogger } from '../testing/index.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { ToolExecutor } from './executor.ts'

const schema: JsonSchema = {
  type: 'object',
  properties: {
    n: { type: 'integer' },
    x: { type: 'number' },
    on: { type: 'boolean' },
    mode: { enum: ['on', 'off', 'Night Mode'] },
    tags: { type: 'array', items: { type: 'string' } },
    filter: { type: 'object', properties: { level: { type: 'integer' } }, required: ['level'] },
    either: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
    loose: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
    torn: { anyOf: [{ type: 'boolean' }, { type: 'array' }] },
    note: { type: 'string' },
  },
  required: ['n'],
}

async function repaired(args: unknown, repair = true, logger = recordingLogger()) {
  const manager = new ToolManager()
  manager.addCustomTool({ name: 'subject', description: 'd', schema, invoke: got => got })
  const result = await new ToolExecutor(manager, { logger }).run({ name: 'subject', args }, { repair })
  return result.success
    ? { args: result.result, repairs: result.repairs }
    : { error: result.error, code: result.code }
}

describe('repair', () => {
  it.each<[string, object, object, string]>([
    ['numeric text', { n: '5' }, { n: 5 }, 'n: numeric text → number'],
    ['decimal text', { x: '-0.50' }, { x: -0.5 }, 'x: numeric text → number'],
    ['"true"', { on: 'True' }, { on: true }, 'on: text → true'],
    ['an enum in another case', { mode: ' ON ' }, { mode: 'on' }, 'mode: text → "on"'],
    ['an enum with other blanks', { mode: 'nightmode' }, { mode: 'Night Mode' }, 'mode: text → "Night Mode"'],
    ['one value for a list', { tags: 'a' }, { tags: ['a'] }, 'tags: one value → list of one'],
    ['a list as JSON text', { tags: '["a","b"]' }, { tags: ['a', 'b'] }, 'tags: JSON text → list'],
    ['an object as JSON', { filter: '{"level":2}' }, { filter: { level: 2 } }, 'filter: JSON text → object'],
    ['null for an optional argument', { note: null }, {}, 'note: null → left out'],
    ['the one alternative that fits', { either: '7' }, { either: 7 }, 'either: numeric text → number'],
  ])('puts right %s', async (_what, given, args, repair) => {
    expect(await repaired({ n: 1, ...given })).toEqual({ args: { n: 1, ...args }, repairs: [repair] })
  })

  it('goes on inside of what it has opened', async () => {
    expect(await repaired({ n: '1', filter: '{"level":"2"}' })).toEqual({
      args: { n: 1, filter: { level: 2 } },
      repairs: [
        'n: numeric text → number',
        'filter: JSON text → object',
        'filter.level: numeric text → number',
      ],
    })
  })

  it('is off unless it is asked for', async () => {
    expect(await repaired({ n: '5' }, false)).toMatchObject({
      error: "Invalid parameters: 'n' must be integer, got string",
    })
    expect(await repaired('{"n": 5}', false)).toMatchObject({
      error: 'Invalid parameters: arguments must be object, got string',
    })
  })

  it('leaves alone what is valid as it is', async () => {
    expect(await repaired({ n: 1, loose: '5', note: '7' })).toEqual({ args: { n: 1, loose: '5', note: '7' } })
  })

  it.each([
    ['null → 0', { n: null }],
    ['an unsafe integer', { n: '9007199254740993' }],
    ['infinity', { n: 1, x: '1e400' }],
    ['more digits than a number holds', { n: 1, x: '0.1000000000000000055511151231257827' }],
    ['a fraction for an integer', { n: '1.5' }],
    ['what may be thousands', { n: 1, x: '15.500' }],
    ['yes for true', { n: 1, on: 'yes' }],
    ['an unsafe integer inside JSON text', { n: 1, filter: '{"level": 9007199254740993}' }],
    ['what could be meant in two ways', { n: 1, torn: 'true' }],
    ['an enum that is something else', { n: 1, mode: 'o' }],
    ['a missing argument', {}],
    ['a list of a broken list', { n: 1, tags: '["a","b"' }],
  ])('[F30] never makes %s', async (_what, given) => {
    expect(await repaired(given)).toMatchObject({ code: 'invalid_arguments' })
  })

  it('says how a text can be read that could be two numbers', async () => {
    const n = 1
    expect(await repaired({ n, x: '90.000' })).toMatchObject({
      error: expect.stringContaining('90 or 90000'),
    })
    for (const [x, value] of Object.entries({ '15.5': 15.5, '0.500': 0.5, '1234.500': 1234.5 }))
      expect(await repaired({ n, x })).toMatchObject({ args: { n, x: value } })
  })

  it('names what is still wrong after the repairs', async () => {
    expect(await repaired({ n: '5', on: 'yes' })).toMatchObject({
      error: "Invalid parameters: 'on' must be boolean, got string",
    })
  })
})

describe('arguments that came as text', () => {
  it.each([
    ['JSON', '{"n": 5}'],
    ['JSON in a code block', '```json\n{"n": 5}\n```'],
    ['JSON in JSON', '"{\\"n\\": 5}"'],
    ['a comma too many, single quotes, bare keys', "{n: 5, 'note': 'x',}"],
    ["Python's words", '{"n": 5, "on": True, "note": "True"}'],
  ])('[F44] are read: %s', async (_what, text) => {
    expect(await repaired(text)).toMatchObject({ args: { n: 5 }, repairs: ['arguments: text → object'] })
  })

  it.each([
    ['cut off', '{"n": 5, "note": "hel'],
    ['cut off between values', '{"n": 5, "filter": {"level": 1}'],
    ['a hole', '{"n": 5, "tags": [1, ..., 9]}'],
    ['an unsafe integer', '{"n": 9007199254740993}'],
  ])('[F44] are refused where it is not certain: %s', async (_what, text) => {
    expect(await repaired(text)).toMatchObject({ code: 'invalid_arguments' })
  })
})
