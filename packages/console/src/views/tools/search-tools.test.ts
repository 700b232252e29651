import type { ToolInfo } from 'toolpost/gateway'
import { describe, expect, it } from 'vitest'
import { groupBySource, searchTools } from './search-tools.ts'

function tool(name: string, description = '', source = 'local'): ToolInfo {
  return { name, description, source, signature: `${name}()`, schema: {} }
}

const tools = [
  tool('list_devices', 'All lights and sensors', 'zwave'),
  tool('echo', 'Gives back what it got'),
  tool('control_light', 'Switches one', 'zwave'),
]

describe('the search for tools', () => {
  it('finds every word, in names, descriptions and sources, names first', () => {
    const names = (query: string) => searchTools(tools, query).map(({ name }) => name)
    expect(names('light')).toEqual(['control_light', 'list_devices'])
    expect(names('ZWAVE sensors')).toEqual(['list_devices'])
    expect(names('  ')).toHaveLength(3)
    expect(names('nothing')).toEqual([])
  })

  it('groups by source, the local ones first', () => {
    expect(groupBySource(tools).map(({ source, tools: group }) => [source, group.length])).toEqual([
      ['local', 1],
      ['zwave', 2],
    ])
  })
})
