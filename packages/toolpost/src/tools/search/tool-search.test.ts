import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defineTool, type Tool } from '../tool.ts'
import { ToolManager } from '../tool-manager.ts'
import { innerCall, searchTools } from './search-tools.ts'
import { searchOf } from './tool-search.ts'
import { splitWords, termOf } from './words.ts'

function tool(name: string, description: string, properties: object = {}): Tool {
  return defineTool({
    name,
    description,
    schema: { type: 'object', properties } as Record<string, unknown>,
    handler: () => name,
  })
}

const FILES = [
  tool('move_file', 'Move or rename files and directories', { source: { type: 'string' } }),
  tool('listDirectory', 'Get a detailed listing of all files in a path'),
  tool('create_entities', 'Create multiple new entities in the knowledge graph'),
  tool('delete_observations', 'Delete specific observations from entities'),
  tool('get_weather', 'Current weather for a city', { units: { enum: ['celsius', 'fahrenheit'] } }),
  tool('play', 'Starts it', { song: { type: 'string', description: 'The title of the track' } }),
]

function managerWith(tools: readonly Tool[] = FILES): ToolManager {
  const manager = new ToolManager()
  for (const each of tools) manager.addCustomTool(each)
  return manager
}

const names = (tools: readonly Tool[]) => tools.map(({ name }) => name)

describe('the search for tools', () => {
  it.each([
    ['rename a document', 'move_file'],
    ['what is in this folder', 'listDirectory'],
    ['erase facts about somebody', 'delete_observations'],
    ['is it going to rain', 'get_weather'],
    ['fahrenheit', 'get_weather'],
    ['track title', 'play'],
    ['wether', 'get_weather'],
    ['direct', 'listDirectory'],
  ])('finds for "%s" first %s', async (query, expected) => {
    expect(names(await searchOf(managerWith()).search(query))[0]).toBe(expected)
  })

  it('finds a tool by its server', async () => {
    const manager = managerWith()
    manager.addMcpTools([tool('open', 'Opens it')], { server: 'garage' })
    expect(names(await searchOf(manager).search('garage'))).toEqual(['open'])
  })

  it('follows what is added, replaced and removed', async () => {
    const manager = managerWith()
    const search = searchOf(manager)
    expect(names(await search.search('thermostat'))).not.toContain('set_heating')
    manager.addCustomTool(tool('set_heating', 'Sets the thermostat'))
    expect(names(await search.search('thermostat'))[0]).toBe('set_heating')
    manager.addCustomTool(tool('set_heating', 'Waters the garden'))
    expect(names(await search.search('garden'))).toEqual(['set_heating'])
    manager.remove('set_heating')
    expect(names(await search.search('garden'))).toEqual([])
  })

  it('forgets what is gone, however much that is', async () => {
    const many = Array.from({ length: 300 }, (_, at) => tool(`mow_${at}`, `Mows lawn ${at}`))
    const manager = managerWith([...FILES, ...many])
    const search = searchOf(manager)
    expect(await search.search('mow a lawn', { limit: 500 })).toHaveLength(300)
    manager.removeAll(many.slice(0, 299).map(({ name }) => name))
    expect(names(await search.search('mow a lawn'))).toEqual(['mow_299'])
    expect(names(await search.search('rename a document'))[0]).toBe('move_file')
  })

  it('answers from an index of 10,000 tools, and lets the rest of the program in while it reads them', async () => {
    const verbs = ['create', 'list', 'delete', 'update', 'search']
    const many = Array.from({ length: 10_000 }, (_, at) =>
      tool(`${verbs[at % 5]}_item_${at}`, `${verbs[at % 5]} the item ${at} of kind ${at % 97}`),
    )
    const search = searchOf(managerWith(many))
    const spentMs = async (query: string) => {
      const before = process.cpuUsage()
      await search.search(query)
      const { user, system } = process.cpuUsage(before)
      return (user + system) / 1_000
    }
    let turns = 0
    const watch = setInterval(() => turns++, 1)
    const readingMs = await spentMs('first')
    clearInterval(watch)
    expect(turns).toBeGreaterThan(5)
    const times: number[] = []
    for (const query of ['make a new item', 'qwertzuiop asdfghjkl', 'erase entry 77', 'x '.repeat(250)])
      for (let round = 0; round < 5; round++) times.push(await spentMs(query))
    // How many milliseconds that is, is measured in bench/src/tool-search.mjs.
    expect(times.sort((a, b) => a - b)[times.length >> 1]).toBeLessThan(readingMs / 5)
  })

  it('finds only what may be found', async () => {
    const manager = managerWith()
    const among = manager.getTools().filter(({ name }) => name !== 'move_file')
    expect(names(await searchOf(manager).search('rename a file', { among }))).not.toContain('move_file')
  })

  it('finds every tool by its own name, whatever that is, and never fails', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.string({ minLength: 1, maxLength: 30 }), { maxLength: 20 }),
        async given => {
          const manager = managerWith(given.filter(name => name.trim() !== '').map(name => tool(name, 'x')))
          for (const { name } of manager.getTools()) {
            const found = names(await searchOf(manager).search(name, { limit: 50 }))
            if (splitWords(name).length > 0) expect(found).toContain(name)
          }
        },
      ),
      { numRuns: 30 },
    )
  })
})

describe('words', () => {
  it('are told apart at case and signs', () => {
    expect(splitWords('listOpenIssues_v2 getHTTPResponse')).toEqual([
      'list',
      'Open',
      'Issues',
      'v2',
      'get',
      'HTTP',
      'Response',
    ])
  })

  it.each([
    ['directories', 'directory'],
    ['deleting', 'delete'],
    ['deletes', 'deleted'],
    ['notification', 'notify'],
    ['files', 'file'],
  ])('%s and %s have one stem', (a, b) => {
    expect(termOf(a)).toBe(termOf(b))
  })
})

describe('find_tools and call_tool', () => {
  const invoke = async (args: object) => {
    const tools = managerWith()
    const found: string[] = []
    const [findTools] = searchTools({
      tools,
      among: () => tools.getTools(),
      onFound: all => found.push(...names(all)),
    })
    return { text: String(await findTools?.invoke(args)), found }
  }

  it('tells signature and description of what it finds', async () => {
    const { text, found } = await invoke({ query: 'rename a file', limit: 1 })
    expect(text).toBe(
      '1 of 6 tools. Call one by its name, or with call_tool:\n- move_file(source?: string): Move or rename files and directories',
    )
    expect(found).toEqual(['move_file'])
  })

  it('offers the nearest if nothing fits', async () => {
    const { text, found } = await invoke({ query: 'obzervashuns', limit: 1 })
    expect(text).toBe(
      'No tool matches "obzervashuns". Closest matches:\n- delete_observations(…): Delete specific observations from entities',
    )
    expect(found).toEqual([])
  })

  it('says what there is if nothing is even near', async () => {
    const { text } = await invoke({ query: 'qqqqq' })
    expect(text).toContain('No tool matches "qqqqq". Available:\n- local: move_file, listDirectory')
  })

  it.each([
    [
      { name: 'x', args: { a: 1 } },
      { name: 'x', args: { a: 1 } },
    ],
    [
      { name: 'call_tool', args: { name: 'x', arguments: { a: 1 } } },
      { name: 'x', args: { a: 1 } },
    ],
    [
      { name: 'call_tool', args: { name: 'x' } },
      { name: 'x', args: {} },
    ],
    [
      { name: 'call_tool', args: { arguments: {} } },
      { name: 'call_tool', args: { arguments: {} } },
    ],
    [
      { name: 'call_tool', args: { name: 'call_tool', arguments: { name: 'x', arguments: { a: 1 } } } },
      { name: 'x', args: { a: 1 } },
    ],
  ])('%j means %j', (call, inner) => {
    expect(innerCall(call)).toEqual(inner)
  })
})
