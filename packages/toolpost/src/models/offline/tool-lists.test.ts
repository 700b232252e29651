import { describe, expect, it } from 'vitest'
import { household } from '../../../test/household.ts'
import { defineTool } from '../../tools/tool.ts'
import { readSettings, type SentenceSettings } from './spoken-words.ts'
import { ToolLists } from './tool-lists.ts'

const order = defineTool({
  name: 'order_drink',
  description: 'Orders a drink',
  schema: { type: 'object', properties: { drink: { type: 'string' } }, required: ['drink'] },
  sentences: ['<bring> [me] [a|an] {drink@drinks}', 'what is on the menu {drink=menu}'],
  handler: () => 'It is on its way',
})

/** A bar with a menu that may change, and that may be closed. */
function bar({ isReadOnly = true, source = {} }: { isReadOnly?: boolean; source?: object } = {}) {
  const menu: { result: unknown; asked: unknown[] } = {
    result: { menu: { drinks: [{ name: 'flat white', id: 'fw' }, { name: 'tea', id: 't' }, { id: 'x' }] } },
    asked: [],
  }
  const list = {
    ...defineTool({
      name: 'list_drinks',
      description: 'Lists',
      schema: {},
      handler: (args: unknown) => {
        menu.asked.push(args)
        if (menu.result instanceof Error) throw menu.result
        return menu.result
      },
    }),
    readOnly: isReadOnly,
  }
  const drinks = { tool: 'list_drinks', args: { bar: 1 }, items: 'menu.drinks', value: 'id', ...source }
  const sentences: SentenceSettings = { rules: { bring: 'bring|fetch' }, lists: { Drinks: drinks } }
  const { client, executor, manager } = household([], { tools: [list, order], sentences })
  const drinkOf = (said: string) => client.match(said)?.args.drink
  const problems = async () => {
    const lists = new ToolLists(readSettings(sentences).sources, () => {})
    await lists.read(manager.getTools(), executor)
    return lists.problems(manager.getTools(), executor)
  }
  return { menu, client, drinkOf, problems }
}

describe('lists that tools fill', () => {
  it('are read when they are first needed, and give the tool their values', async () => {
    const { client, menu, drinkOf } = bar()
    expect(drinkOf('bring me a flat white')).toBeUndefined()
    const { results } = await client.ask('bring me a flat white')
    expect(results).toMatchObject([{ success: true, result: 'It is on its way' }])
    expect(drinkOf('fetch a tea')).toBe('t')
    expect(menu.asked).toEqual([{ bar: 1 }])
  })

  it('understand nothing that is not in them', async () => {
    const { client, drinkOf } = bar()
    await client.refresh()
    expect(['bring me a beer', 'fetch the moon', 'bring x'].map(drinkOf)).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  it('follow the tool, and tell that other things can be said', async () => {
    const { client, menu, drinkOf } = bar()
    await client.refresh()
    let changes = 0
    client.onGraphChange(() => changes++)
    await client.refresh()
    expect(changes).toBe(0)
    menu.result = { menu: { drinks: ['cocoa'] } }
    await client.refresh()
    expect([changes, drinkOf('bring cocoa'), drinkOf('bring tea')]).toEqual([1, 'cocoa', undefined])
  })

  it('stay as they were if they cannot be read again', async () => {
    const { client, menu, drinkOf } = bar()
    await client.refresh()
    menu.result = new Error('The bar is closed')
    await client.refresh()
    expect(drinkOf('bring tea')).toBe('t')
  })

  it.each([
    ['JSON as text', '[{"name":"tea"}]', { items: undefined, value: undefined }, 'tea'],
    ['plain texts', ['tea', 7, null, ''], { items: undefined }, 'tea'],
    ['several ways to say it', [{ called: ['chai', 'tea'], id: 3 }], { items: undefined, say: 'called' }, 3],
    ['what is deeper', { a: [{ n: { en: 'tea' } }] }, { items: 'a', say: 'n.en', value: 'id' }, 'tea'],
  ])('take %s', async (_, result, source, expected) => {
    const { client, menu, drinkOf } = bar({ source })
    menu.result = result
    await client.refresh()
    expect(drinkOf('bring tea')).toBe(expected)
  })

  it.each([
    [
      'no list',
      { menu: {} },
      {},
      "list 'drinks' could not be read: 'list_drinks' returned no list at 'menu.drinks'",
    ],
    [
      'prose',
      'Tea, coffee',
      { items: undefined },
      "list 'drinks' could not be read: 'list_drinks' returned no list",
    ],
    ['an error', new Error('closed'), {}, "'list_drinks' returned no list at 'menu.drinks'"],
    ['no tool', {}, { tool: 'list_beer' }, "list 'drinks' needs a tool 'list_beer' that does not exist"],
  ])('leave their sentences out, and say so, if there is %s', async (_, result, source, problem) => {
    const { client, menu, drinkOf, problems } = bar({ source })
    menu.result = result
    await client.refresh()
    expect([drinkOf('bring tea'), drinkOf('what is on the menu')]).toEqual([undefined, 'menu'])
    expect(await problems()).toEqual([expect.stringContaining(problem)])
  })

  it('call no tool that may change something', async () => {
    const { client, menu, problems } = bar({ isReadOnly: false })
    await client.refresh()
    expect(menu.asked).toEqual([])
    expect(await problems()).toEqual([
      "list 'drinks' needs a read-only tool; 'list_drinks' may change something",
    ])
  })

  it('are bounded', async () => {
    const { client, menu, drinkOf } = bar({ source: { items: undefined } })
    menu.result = Array.from({ length: 20_000 }, (_, at) => `drink x${at}x`)
    await client.refresh()
    expect([drinkOf('bring drink x4999x'), drinkOf('bring drink x5000x')]).toEqual([
      'drink x4999x',
      undefined,
    ])
  })
})
