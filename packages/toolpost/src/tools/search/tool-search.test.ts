import { describe, expect, it } from 'vitest'
import { defineTool, type Tool } from '../tool.ts'
import { ToolManager } from '../tool-manager.ts'
import { innerCall, searchTools } from './search-tools.ts'
import { searchOf } from './tool-search.ts'

function tool(name: string, description: string, properties: object = {}): Tool {
  const schema: Record<string, unknown> = { type: 'object', properties }
  return defineTool({ name, description, schema, handler: () => name })
}

const FILES = [
  tool('move_file', 'Move or rename files and directories', { source: { type: 'string' } }),
  tool('listDirectory', 'Get a detailed listing of all files in a path'),
  tool('create_entities', 'Create multiple new entities in the knowledge graph'),
  tool('delete_observations', 'Delete specific observations from entities'),
  tool('get_weather', 'Current weather for a city', { units: { enum: ['celsius', 'fahrenheit'] } }),
  tool('play', 'Starts it', { song: { type: 'string', description: 'The title of the track' } }),
]

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
    expect(names(await searchOf(new ToolManager({ tools: FILES })).search(query))[0]).toBe(expected)
  })

  it('follows what is added, replaced and removed', async () => {
    const manager = new ToolManager({ tools: FILES })
    const search = searchOf(manager)
    expect(names(await search.search('thermostat'))).not.toContain('set_heating')
    manager.addCustomTool(tool('set_heating', 'Sets the thermostat'))
    expect(names(await search.search('thermostat'))[0]).toBe('set_heating')
    manager.addCustomTool(tool('set_heating', 'Waters the garden'))
    expect(names(await search.search('garden'))).toEqual(['set_heating'])
    manager.remove('set_heating')
    expect(names(await search.search('garden'))).toEqual([])
  })
})

describe('find_tools and call_tool', () => {
  const invoke = async (args: object) => {
    const tools = new ToolManager({ tools: FILES })
    const found: string[] = []
    const onFound = (all: readonly Tool[]) => found.push(...names(all))
    const [findTools] = searchTools({ tools, among: () => tools.getTools(), onFound })
    return { text: String(await findTools?.invoke(args)), found }
  }

  it('tells signature and description of what it finds', async () => {
    const { text, found } = await invoke({ query: 'rename a file', limit: 1 })
    expect(text).toBe(
      '1 of 6 tools. Call one by its name, or with call_tool:\n- move_file(source?: string): Move or rename files and directories',
    )
    expect(found).toEqual(['move_file'])
  })

  it('offers the nearest if nothing fits, or says what there is', async () => {
    const { text } = await invoke({ query: 'obzervashuns', limit: 1 })
    expect(text).toMatch(/^No tool matches "obzervashuns". Closest matches:\n- delete_observations\(…\): /)
    expect((await invoke({ query: 'qqqqq' })).text).toContain('Available:\n- local: move_file, listDirectory')
  })

  it('a call of call_tool is the call inside it', () => {
    const inner = { name: 'x', args: { a: 1 } }
    const wrapped = { name: 'call_tool', args: { name: 'x', arguments: { a: 1 } } }
    expect(innerCall(inner)).toEqual(inner)
    expect(innerCall(wrapped)).toEqual(inner)
    const twice = { name: 'call_tool', args: { name: 'call_tool', arguments: wrapped.args } }
    expect(innerCall(twice)).toEqual(inner)
    expect(innerCall({ name: 'call_tool', args: {} })).toEqual({ name: 'call_tool', args: {} })
  })
})
