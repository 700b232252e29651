import { describe, expect, it, vi } from 'vitest'
import { defineTool, type Tool } from './tool.ts'
import { ToolManager } from './tool-manager.ts'

function tool(name: string): Tool {
  return defineTool({ name, description: `does ${name}`, schema: { type: 'object' }, handler: () => name })
}

describe('telling of changes', () => {
  it('says once that tools were added, replaced or removed, after they were', () => {
    const manager = new ToolManager()
    const seen: string[][] = []
    manager.onChange(() => seen.push(manager.getTools().map(({ name }) => name)))
    manager.addCustomTool(tool('a'))
    manager.addMcpTools([tool('b'), tool('c')], { server: 'home' })
    manager.addCustomTool(tool('a'))
    manager.remove('b')
    expect(seen).toEqual([['a'], ['a', 'b', 'c'], ['a', 'b', 'c'], ['a', 'c']])
  })

  it('says nothing if nothing changed', () => {
    const manager = new ToolManager()
    const listener = vi.fn()
    manager.onChange(listener)
    manager.remove('nothing')
    manager.addMcpTools([], { server: 'home' })
    manager.addMcpTools([{ name: '', schema: {}, invoke: () => '' }], { server: 'home' })
    expect(listener).not.toHaveBeenCalled()
  })

  it('stops when it is told to, and survives a listener that throws', () => {
    const manager = new ToolManager()
    const listener = vi.fn()
    manager.onChange(() => {
      throw new Error('no')
    })
    const stop = manager.onChange(listener)
    manager.addCustomTool(tool('a'))
    stop()
    manager.addCustomTool(tool('b'))
    expect(listener).toHaveBeenCalledOnce()
  })
})
