import type { ServerStatus, ToolInfo } from 'toolpost/gateway'
import { describe, expect, it } from 'vitest'
import { groupTools, ranked, searchTools } from './search-tools.ts'

function tool(name: string, description = '', source = 'local'): ToolInfo {
  return { name, description, source, signature: `${name}()`, schema: {} }
}

const tools = [
  tool('list_devices', 'All lights and sensors', 'zwave'),
  tool('echo', 'Gives back what it got'),
  tool('control_light', 'Switches one', 'zwave'),
]

describe('the search for tools', () => {
  const names = (found: ToolInfo[]) => found.map(({ name }) => name)

  it('finds every word, in names, descriptions and sources, names first', () => {
    const search = (query: string) => names(searchTools(tools, query))
    expect(search('light')).toEqual(['control_light', 'list_devices'])
    expect(search('ZWAVE sensors')).toEqual(['list_devices'])
    expect(search('  ')).toHaveLength(3)
    expect(search('nothing')).toEqual([])
  })

  it('takes the order of the gateway, with what only the gateway found', () => {
    const found = searchTools(tools, 'light')
    expect(names(ranked(tools, found, ['echo', 'list_devices', 'gone']))).toEqual([
      'echo',
      'list_devices',
      'control_light',
    ])
  })
})

describe('the groups of tools', () => {
  const server = (name: string, state: string) => ({ name, state }) as unknown as ServerStatus

  it('are the local ones and the servers as configured, tools by name, whatever the order of arrival', () => {
    const servers = [server('notes', 'failed'), server('zwave', 'ready')]
    const shown = (list: ToolInfo[]) =>
      groupTools(list, servers).map(({ source, state, tools: group }) => [
        source,
        state,
        ...group.map(one => one.name),
      ])
    const expected = [
      ['local', undefined, 'echo'],
      ['notes', 'failed'],
      ['zwave', 'ready', 'control_light', 'list_devices'],
    ]
    expect(shown(tools)).toEqual(expected)
    expect(shown(tools.toReversed())).toEqual(expected)
  })
})
