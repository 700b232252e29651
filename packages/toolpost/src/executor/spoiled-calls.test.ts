import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../schema/json-schema.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { ToolExecutor } from './executor.ts'

type Args = Record<string, unknown>

interface Subject {
  schema: JsonSchema
  calls: Args[]
}

const text = { type: 'string' }
const list = (items: object) => ({ type: 'array', items })
const object = (properties: object, required: string[] = []): JsonSchema => ({
  type: 'object',
  properties,
  required,
})

/** Tools as servers write them, with calls that are right. */
const SUBJECTS: Subject[] = [
  {
    schema: object({ sizes: list({ enum: ['S', 'M', 'L', 'Extra Large'] }), count: { type: 'integer' } }),
    calls: [{ sizes: ['M', 'L'], count: 2 }, { sizes: ['Extra Large'] }, { sizes: [] }],
  },
  {
    schema: object({ tags: list(text), note: text, on: { type: 'boolean' } }, ['tags']),
    calls: [
      { tags: ['red'] },
      { tags: ['red', 'green'], note: 'None', on: true },
      { tags: ['living room', 'hall'], on: false },
      { tags: [], note: '[]' },
      { tags: ['[a]', '"b"'], note: '5' },
    ],
  },
  {
    schema: object({ ids: list({ type: 'integer' }), matrix: list(list({ type: 'number' })) }),
    calls: [
      { ids: [7] },
      { ids: [1, 2, 3] },
      { matrix: [[1, 2]] },
      { matrix: [[1], [2]] },
      { ids: [], matrix: [] },
    ],
  },
  {
    schema: object({
      rows: list(object({ name: text, level: { type: 'number' } }, ['name'])),
      any: list({}),
      open: list({ type: 'object' }),
    }),
    calls: [
      { rows: [{ name: 'a', level: 1 }] },
      { rows: [{ name: 'a' }, { name: 'b', level: 2.5 }] },
      { any: [1, 'a', null], open: [{ x: 1 }, { y: [2] }] },
      { any: [['deep']], open: [{}] },
    ],
  },
  {
    schema: object({
      filter: object({ from: { type: 'string', format: 'date' }, mode: { enum: ['on', 'off'] } }, ['mode']),
      either: { anyOf: [{ type: 'integer' }, list(text)] },
      urls: list({ type: 'string', format: 'uri' }),
    }),
    calls: [
      { filter: { from: '2026-11-16', mode: 'on' } },
      { filter: { mode: 'off' }, either: ['1', '2'] },
      { either: 12, urls: ['https://example.com/a?b=c'] },
      { urls: ['https://example.com/a', 'https://example.com/b'] },
    ],
  },
]

const entries = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value])
/** A list of one list, joined, is the JSON text of a list, and is read as that. */
const joined = (separator: string) => (value: unknown) => {
  if (!Array.isArray(value) || value.some(Array.isArray)) return value
  return value.map(entry => (typeof entry === 'string' ? entry : JSON.stringify(entry))).join(separator)
}

/** What models do to a value. */
const SPOILS: Record<string, (value: unknown) => unknown> = {
  'as JSON text': value => JSON.stringify(value),
  'as JSON text, twice': value => JSON.stringify(JSON.stringify(value)),
  'as JSON text, thrice': value => JSON.stringify(JSON.stringify(JSON.stringify(value))),
  'in a code block': value => `\`\`\`json\n${JSON.stringify(value)}\n\`\`\``,
  'in Python': value => JSON.stringify(value).replaceAll('"', "'").replaceAll('true', 'True'),
  'joined by a comma': joined(', '),
  'joined by commas alone': joined(','),
  'joined by a semicolon': joined(';'),
  'joined by a bar': joined('|'),
  'joined by a slash': joined('/'),
  'joined by lines': joined('\n'),
  'joined by blanks': joined(' '),
  'joined by and': joined(' and '),
  'as a bulleted list': value => (Array.isArray(value) ? value.map(entry => `- ${entry}`).join('\n') : value),
  'in brackets without quotes': value => (Array.isArray(value) ? `[${value.join(', ')}]` : value),
  'in parentheses': value => `(${entries(value).join(', ')})`,
  'in quotes': value => (typeof value === 'string' ? `"${value}"` : value),
  'by index': value => (Array.isArray(value) ? { ...value } : value),
  'in an object': value => ({ item: value }),
  'in an object of values': value => ({ value }),
  'in a list': value => [value],
  'in two lists': value => [[value]],
  'the first entry': value => (Array.isArray(value) && value.length === 1 ? value[0] : value),
  'the only entry as text': value => (Array.isArray(value) && value.length === 1 ? String(value[0]) : value),
  'one list less': value => (Array.isArray(value) ? value.flat() : value),
  'as text': value => String(value),
  'cut off': value => JSON.stringify(value).slice(0, -1),
  None: value => (Array.isArray(value) && value.length === 0 ? 'None' : value),
  null: value => (Array.isArray(value) && value.length === 0 ? 'null' : value),
  nothing: value => (Array.isArray(value) && value.length === 0 ? '' : value),
  'in capitals': value => (typeof value === 'string' ? value.toUpperCase() : value),
  'with blanks around': value => (typeof value === 'string' ? ` ${value} ` : value),
}

/** Wrappers around the whole call. */
const WRAPPERS: Record<string, (args: Args) => unknown> = {
  arguments: args => ({ arguments: args }),
  args: args => ({ args }),
  parameters: args => ({ parameters: args }),
  input: args => ({ input: args }),
  tool_input: args => ({ tool_input: args }),
  'arguments as text': args => ({ arguments: JSON.stringify(args) }),
  'name and arguments': args => ({ name: 'subject', arguments: args }),
  'all as text': args => JSON.stringify(args),
  'all as text, twice': args => JSON.stringify(JSON.stringify(args)),
}

interface Case {
  schema: JsonSchema
  right: Args
  spoiled: unknown
  how: string
}

function spoiledCalls(): Case[] {
  return SUBJECTS.flatMap(({ schema, calls }) =>
    calls.flatMap(right => [
      ...Object.entries(WRAPPERS).map(([how, wrap]) => ({ schema, right, spoiled: wrap(right), how })),
      ...Object.keys(right).flatMap(name =>
        Object.entries(SPOILS).map(([how, spoil]) => ({
          schema,
          right,
          spoiled: { ...right, [name]: spoil(right[name]) },
          how: `${name} ${how}`,
        })),
      ),
    ]),
  )
}

async function heal({ schema, spoiled }: Case) {
  const manager = new ToolManager()
  manager.addCustomTool({ name: 'subject', description: 'd', schema, invoke: got => got })
  return new ToolExecutor(manager).run({ name: 'subject', args: spoiled }, { repair: true })
}

describe('spoiled calls', () => {
  it('are healed to what was meant, or refused', async () => {
    const cases = spoiledCalls()
    expect(cases.length).toBeGreaterThan(700)
    const wrong: unknown[] = []
    let healed = 0
    for (const one of cases) {
      const result = await heal(one)
      // What is valid as it came is not repaired: nobody can know that it was meant otherwise.
      if (!result.success || !result.repairs) continue
      if (JSON.stringify(result.result) === JSON.stringify(one.right)) healed++
      else wrong.push({ how: one.how, right: one.right, spoiled: one.spoiled, got: result.result })
    }
    expect(wrong).toEqual([])
    expect(healed).toBeGreaterThan(200)
  })

  it.each([
    ['one word', { tags: 'red' }, { tags: ['red'] }],
    ['a choice in another case', { sizes: 'extra large' }, { sizes: ['Extra Large'] }],
    ['a number', { ids: 7 }, { ids: [7] }],
    ['a number as text', { ids: '7' }, { ids: [7] }],
    ['an object that is an entry', { rows: { name: 'a' } }, { rows: [{ name: 'a' }] }],
    ['a URL', { urls: 'https://example.com/a' }, { urls: ['https://example.com/a'] }],
    ['a list encoded twice', { tags: '"[\\"a\\"]"' }, { tags: ['a'] }],
    ['an empty list encoded twice', { tags: '"[]"' }, { tags: [] }],
    ['a wrapper', { arguments: { tags: ['a'] } }, { tags: ['a'] }],
    ['a wrapper with the name beside it', { name: 'subject', args: { tags: ['a'] } }, { tags: ['a'] }],
  ])('become a list, or lose a wrapper, where that is certain: %s', async (_what, spoiled, right) => {
    const [name = ''] = Object.keys(right)
    const { schema } = SUBJECTS.find(subject =>
      Object.hasOwn(subject.schema.properties as object, name),
    ) as Subject
    expect(await heal({ schema, spoiled, right, how: '' })).toMatchObject({ result: right })
  })

  it.each([
    ['text with a separator', { tags: 'M, L' }],
    ['None', { tags: 'None' }],
    ['several words', { tags: 'living room' }],
    ['an object by index', { rows: { 0: { name: 'a' } } }],
    ['an object that could be anything', { open: { item: [1] } }],
    ['an entry of a list of lists', { matrix: [1, 2] }],
  ])('never become a list of %s', async (_what, spoiled) => {
    const [name = ''] = Object.keys(spoiled)
    const { schema } = SUBJECTS.find(subject =>
      Object.hasOwn(subject.schema.properties as object, name),
    ) as Subject
    expect(await heal({ schema, spoiled, right: {}, how: '' })).toMatchObject({ code: 'invalid_arguments' })
  })

  it('keep a wrapper that the schema knows, or whose contents it does not know', async () => {
    const known = object({ input: { type: 'object' }, city: text })
    expect(
      await heal({ schema: known, spoiled: { input: { city: 'Rome' } }, right: {}, how: '' }),
    ).toMatchObject({
      result: { input: { city: 'Rome' } },
    })
    const unknown = object({ city: text })
    expect(
      await heal({ schema: unknown, spoiled: { args: { town: 'Rome' } }, right: {}, how: '' }),
    ).toMatchObject({
      result: { args: { town: 'Rome' } },
    })
  })
})
