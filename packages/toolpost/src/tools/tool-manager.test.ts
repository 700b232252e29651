import { describe, expect, it } from 'vitest'
import { recordingLogger } from '../testing/index.ts'
import { defineTool, type Tool } from './tool.ts'
import { ToolManager } from './tool-manager.ts'

function tool(name: string, answer: unknown = name): Tool {
  return defineTool({ name, description: `does ${name}`, schema: { type: 'object' }, handler: () => answer })
}

const names = (manager: ToolManager) => manager.getTools().map(({ name }) => name)

describe('collecting tools', () => {
  it('finds its way after tools were removed or the array was changed from outside', () => {
    const manager = new ToolManager()
    for (const name of ['a', 'b', 'c']) manager.addCustomTool(tool(name))
    expect(manager.remove('a')).toBe(true)
    expect(manager.remove('a')).toBe(false)
    expect(manager.findTool('c')?.name).toBe('c')
    manager.getTools().unshift(tool('z'))
    expect(['z', 'b', 'c'].map(name => manager.findTool(name)?.name)).toEqual(['z', 'b', 'c'])
    manager.addCustomTool(tool('b', 'new'))
    expect(names(manager)).toEqual(['z', 'b', 'c'])
    expect(manager.findTool('b')?.invoke({})).toBe('new')
  })
})

describe('the order of the tools', () => {
  it.each([[['one', 'two']], [['two', 'one']]])(
    'is local, then the servers as they are configured, whoever connects first: %s',
    order => {
      const manager = new ToolManager()
      manager.addCustomTool(tool('local'))
      for (const server of order)
        manager.addMcpTools([tool(`${server}_a`), tool(`${server}_b`)], {
          server,
          order: server === 'one' ? 0 : 1,
        })
      manager.addCustomTool(tool('late'))
      manager.addMcpTools([tool('one_c')], { server: 'one', order: 0 })
      expect(names(manager)).toEqual(['local', 'late', 'one_a', 'one_b', 'one_c', 'two_a', 'two_b'])
      for (const name of names(manager)) expect(manager.findTool(name)?.name).toBe(name)
    },
  )

  it('stays when a tool is replaced', () => {
    const manager = new ToolManager()
    manager.addMcpTools([tool('a', 'old'), tool('b')], { server: 'one', order: 0 })
    manager.addMcpTools([tool('a', 'new')], { server: 'one', order: 0 })
    expect(names(manager)).toEqual(['a', 'b'])
  })
})

describe('an array that others change', () => {
  it('is always what is found', () => {
    const manager = new ToolManager()
    for (const name of ['a', 'b', 'c']) manager.addCustomTool(tool(name))
    const array = manager.getTools()
    array[1] = tool('other')
    expect(manager.findTool('other')?.name).toBe('other')
    expect(manager.findTool('b')).toBeUndefined()
    const wrapped = tool('c', 'wrapped')
    array[2] = wrapped
    expect(manager.findTool('c')).toBe(wrapped)
    array.reverse()
    expect(['a', 'other', 'c'].map(name => manager.findTool(name)?.name)).toEqual(['a', 'other', 'c'])
    array.length = 0
    expect(manager.findTool('a')).toBeUndefined()
    array.push(tool('twice', 1), tool('twice', 2))
    expect(manager.findTool('twice')?.invoke({})).toBe(1)
    expect(manager.remove('twice')).toBe(true)
    expect(manager.findTool('twice')?.invoke({})).toBe(2)
  })

  it('gives a name before an lc_name, and finds who was hidden behind a tool that is gone', () => {
    const manager = new ToolManager()
    const alias: Tool = { ...tool('alias'), lc_name: 'plain' }
    manager.addCustomTool(alias)
    expect(manager.findTool('plain')).toBe(alias)
    manager.addCustomTool(tool('plain'))
    expect(manager.findTool('plain')?.name).toBe('plain')
    manager.remove('plain')
    expect(manager.findTool('plain')).toBe(alias)
    manager.remove('alias')
    expect(manager.findTool('plain')).toBeUndefined()
  })
})

describe('what a tool must have', () => {
  it('[F27] refuses a schema nested a thousand deep, with a message, and skips it from a server', () => {
    const deep = () => {
      let schema: object = { type: 'string' }
      for (let level = 0; level < 1_000; level++) schema = { type: 'object', properties: { a: schema } }
      return { ...tool('deep'), schema }
    }
    const logger = recordingLogger()
    const manager = new ToolManager({ logger })
    expect(() => manager.addCustomTool(deep())).toThrow(/nested more than 64 levels/)
    manager.addMcpTools([deep(), tool('fine')], { server: 'home' })
    expect(names(manager)).toEqual(['fine'])
    expect(logger.at('warn')[0]?.fields).toMatchObject({
      server: 'home',
      reason: expect.stringContaining("'deep'"),
    })
  })

  it('refuses a schema that contains itself, without walking it for ever', () => {
    const endless: Record<string, unknown> = { type: 'object' }
    endless.properties = { a: endless, b: endless }
    expect(() => new ToolManager().addCustomTool({ ...tool('endless'), schema: endless })).toThrow(
      /it contains itself; write recursion as a \$ref/,
    )
  })

  it('counts the parts that a schema shares as often as they are written out', () => {
    const shared = (levels: number) => {
      let schema: object = { type: 'string' }
      for (let level = 0; level < levels; level++)
        schema = { type: 'object', properties: { a: schema, b: schema } }
      return { ...tool('shared'), schema }
    }
    expect(() => new ToolManager().addCustomTool(shared(8))).not.toThrow()
    expect(() => new ToolManager().addCustomTool(shared(30))).toThrow(/larger than 256 kB/)
  })

  it('takes an MCP tool without a description', () => {
    const manager = new ToolManager()
    manager.addMcpTools([{ ...tool('terse'), description: undefined }])
    expect(names(manager)).toEqual(['terse'])
  })
})

describe('the same name twice', () => {
  it('renames a tool without losing anything that a client is told about it', () => {
    const manager = new ToolManager()
    const told = {
      title: 'Search',
      readOnly: true,
      openWorld: true,
      passedOn: { icons: [{ src: 'https://example.org/icon.png' }], _meta: { 'org.example/kind': 'web' } },
    }
    manager.addCustomTool(tool('search'))
    manager.addMcpTools([{ ...tool('search'), ...told }], { server: 'web' })
    expect(manager.findTool('web__search')).toMatchObject(told)
  })

  it('[F36] never lets a server replace a local tool or one of another server', () => {
    const logger = recordingLogger()
    const manager = new ToolManager({ logger })
    manager.addCustomTool(tool('search', 'local'))
    manager.addMcpTools([tool('search', 'one'), tool('list', 'one')], { server: 'one' })
    manager.addMcpTools([tool('search', 'two'), tool('list', 'two')], { server: 'two' })
    const answers = Object.fromEntries(manager.getTools().map(({ name, ...rest }) => [name, rest.invoke({})]))
    expect(answers).toEqual({
      search: 'local',
      one__search: 'one',
      list: 'one',
      two__search: 'two',
      two__list: 'two',
    })
    expect(logger.at('warn')).toHaveLength(3)
  })

  it.each([[['one', 'two']], [['two', 'one']]])(
    '[F36] gives the plain name by configuration, not by connecting: %s',
    order => {
      const manager = new ToolManager()
      for (const server of order)
        manager.addMcpTools([tool('list', server)], { server, order: server === 'one' ? 0 : 1 })
      expect(manager.findTool('list')?.invoke({})).toBe('one')
      expect(manager.findTool('two__list')?.invoke({})).toBe('two')
      for (const server of order)
        manager.addMcpTools([tool('list', `${server} again`)], { server, order: server === 'one' ? 0 : 1 })
      expect(manager.findTool('list')?.invoke({})).toBe('one again')
      expect(manager.findTool('two__list')?.invoke({})).toBe('two again')
      expect(manager.getTools()).toHaveLength(2)
    },
  )

  it('[F36] finds another name where a local tool already has the one with the server in it', () => {
    const manager = new ToolManager()
    manager.addCustomTool(tool('search', 'local'))
    manager.addCustomTool(tool('web__search', 'local too'))
    manager.addMcpTools([tool('search', 'remote')], { server: 'web' })
    manager.addMcpTools([tool('search', 'remote again')], { server: 'web' })
    const answers = Object.fromEntries(manager.getTools().map(one => [one.name, one.invoke({})]))
    expect(answers).toEqual({ search: 'local', web__search: 'local too', web__search_2: 'remote again' })
  })

  it('[F36] moves a server tool aside for a local one that comes later', () => {
    const manager = new ToolManager()
    manager.addMcpTools([tool('a', 'remote')], { server: 'one' })
    manager.addCustomTool(tool('a', 'local'))
    expect(manager.findTool('a')?.invoke({})).toBe('local')
    expect(manager.findTool('one__a')?.invoke({})).toBe('remote')
    expect(manager.originOf(manager.findTool('one__a') as Tool)).toMatchObject({ name: 'a' })
  })
})
