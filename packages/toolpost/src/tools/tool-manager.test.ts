import { describe, expect, it } from 'vitest'
import { recordingLogger } from '../testing/index.ts'
import { defineTool, type Tool } from './tool.ts'
import { ToolManager } from './tool-manager.ts'

function tool(name: string, answer: unknown = name): Tool {
  return defineTool({ name, description: `does ${name}`, schema: { type: 'object' }, handler: () => answer })
}

const ORDER = ['one', 'two']
const names = (manager: ToolManager) => manager.getTools().map(({ name }) => name)

describe('the order of the tools', () => {
  it.each([[['one', 'two']], [['two', 'one']]])(
    'is local, then the servers as they are configured, whoever connects first: %s',
    order => {
      const manager = new ToolManager()
      manager.addCustomTool(tool('local'))
      for (const server of order)
        manager.addMcpTools([tool(`${server}_a`), tool(`${server}_b`)], {
          server,
          order: ORDER.indexOf(server),
        })
      manager.addCustomTool(tool('late'))
      manager.addMcpTools([tool('one_c')], { server: 'one', order: 0 })
      expect(names(manager)).toEqual(['local', 'late', 'one_a', 'one_b', 'one_c', 'two_a', 'two_b'])
      for (const name of names(manager)) expect(manager.findTool(name)?.name).toBe(name)
    },
  )
})

describe('an array that others change', () => {
  it('is always what is found', () => {
    const manager = new ToolManager({ tools: Array.from({ length: 20 }, (_, at) => tool(`t${at}`)) })
    const array = manager.getTools()
    array[1] = tool('other')
    expect([manager.findTool('other'), manager.findTool('t1')]).toEqual([array[1], undefined])
    array.length = 0
    array.push(tool('twice', 1), tool('twice', 2))
    expect(manager.findTool('twice')?.invoke({})).toBe(1)
    expect(manager.remove('twice')).toBe(true)
    expect(manager.findTool('twice')?.invoke({})).toBe(2)
  })
})

describe('what a tool must have', () => {
  it('is a name, in defineTool too', () => {
    expect(() => tool('')).toThrow('A tool needs a name')
    expect(() => new ToolManager({ tools: [{ ...tool('a'), name: ' ' }] })).toThrow('A tool needs a name')
  })

  it('[F27] refuses a schema nested a thousand deep, with a message, and skips it from a server', () => {
    let schema: object = { type: 'string' }
    for (let level = 0; level < 1_000; level++) schema = { type: 'object', properties: { a: schema } }
    const deep = { ...tool('deep'), schema }
    const logger = recordingLogger()
    const manager = new ToolManager({ logger })
    expect(() => manager.addCustomTool(deep)).toThrow(/nested more than 64 levels/)
    manager.addMcpTools([deep, tool('fine')], { server: 'home' })
    expect(names(manager)).toEqual(['fine'])
    expect(logger.at('warn')[0]?.fields).toMatchObject({
      server: 'home',
      reason: expect.stringMatching("'deep'"),
    })
  })
})

describe('the same name twice', () => {
  it('[F36] never lets a server replace a local tool or one of another server', () => {
    const logger = recordingLogger()
    const manager = new ToolManager({ logger })
    manager.addCustomTool(tool('search', 'local'))
    manager.addMcpTools([tool('search', 'one'), tool('list', 'one')], { server: 'one' })
    manager.addMcpTools([tool('search', 'two'), tool('list', 'two')], { server: 'two' })
    const answers = Object.fromEntries(manager.getTools().map(({ name, ...rest }) => [name, rest.invoke({})]))
    const ofServers = { one__search: 'one', list: 'one', two__search: 'two', two__list: 'two' }
    expect(answers).toEqual({ search: 'local', ...ofServers })
    expect(logger.at('warn')).toHaveLength(3)
  })

  it.each([[['one', 'two']], [['two', 'one']]])(
    '[F36] gives the plain name by configuration, not by connecting: %s',
    order => {
      const manager = new ToolManager()
      for (const server of order)
        manager.addMcpTools([tool('list', server)], { server, order: ORDER.indexOf(server) })
      expect(manager.findTool('list')?.invoke({})).toBe('one')
      expect(manager.findTool('two__list')?.invoke({})).toBe('two')
      for (const server of order)
        manager.addMcpTools([tool('list', `${server} again`)], { server, order: ORDER.indexOf(server) })
      expect(manager.findTool('list')?.invoke({})).toBe('one again')
      expect(manager.findTool('two__list')?.invoke({})).toBe('two again')
      expect(manager.getTools()).toHaveLength(2)
    },
  )
})

describe('changes', () => {
  it('are told once each, after they were made, whatever a listener does', () => {
    const manager = new ToolManager()
    const seen: string[][] = []
    manager.onChange(() => {
      throw new Error('no')
    })
    const stop = manager.onChange(() => seen.push(names(manager)))
    manager.addCustomTool(tool('a'))
    manager.addMcpTools([tool('b'), tool('c')], { server: 'home' })
    manager.remove('b')
    manager.remove('nothing')
    expect(seen).toEqual([['a'], ['a', 'b', 'c'], ['a', 'c']])
    stop()
    manager.addCustomTool(tool('d'))
    expect(seen).toHaveLength(3)
  })
})
