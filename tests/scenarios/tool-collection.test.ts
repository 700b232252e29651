import { readdirSync, readFileSync } from 'node:fs'
import { tool as langchainTool } from '@langchain/core/tools'
import { MultiServerMCPClient } from '@langchain/mcp-adapters'
import { type Tool, ToolExecutor, ToolManager } from 'toolpost'
import { recordingLogger } from 'toolpost/testing'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { executorFor, fixtureServer, toolThat } from './support.ts'

const device = {
  type: 'object',
  properties: { deviceName: { type: 'string' }, action: { type: 'string' } },
}
const zwave = fixtureServer({
  tools: [
    { name: 'control_zwave_device', inputSchema: { ...device, required: ['deviceName', 'action'] } },
    { name: 'find_device', inputSchema: device },
    { name: 'fail', fails: 'the fuse is out' },
  ],
})

describe('the tools of @langchain/mcp-adapters', () => {
  const client = new MultiServerMCPClient({ mcpServers: { zwave: { transport: 'stdio', ...zwave } } })
  const logger = recordingLogger()
  const manager = new ToolManager({ logger })
  const executor = new ToolExecutor(manager, { logger })
  let discovered: Tool[] = []

  beforeAll(async () => {
    discovered = (await client.getTools()) as unknown as Tool[]
    manager.addMcpTools(discovered, { server: 'zwave' })
  })
  afterAll(() => client.close())

  it('[E01] are added as they are, to a plain array, and run', async () => {
    const tools = manager.getTools()
    expect(Array.isArray(tools)).toBe(true)
    expect(tools.map(({ name }) => name)).toEqual(['control_zwave_device', 'find_device', 'fail'])
    expect(tools.every((tool, at) => tool === discovered[at])).toBe(true)
    expect(await executor.execute('control_zwave_device', { deviceName: 'Lamp', action: 'off' })).toBe(
      '{"deviceName":"Lamp","action":"off"}',
    )
    expect(await executor.run({ name: 'fail' })).toMatchObject({
      code: 'tool_error',
      error: 'the fuse is out',
    })
  })

  it('[E09] do not rename snake_case arguments themselves', async () => {
    const invoke = async (name: string, args: object) => manager.findTool(name)?.invoke(args)
    expect(JSON.stringify(await invoke('find_device', { device_name: 'Lamp' }))).toContain('device_name')
    await expect(invoke('control_zwave_device', { device_name: 'Lamp', action: 'on' })).rejects.toThrow()
  })

  it('[E09] have their arguments renamed by the executor', async () => {
    const given = { device_name: 'Switch One', command: 'on' }
    expect(await executor.execute('control_zwave_device', given)).toBe(
      '{"deviceName":"Switch One","action":"on"}',
    )
    expect(await executor.execute('find_device', { device_name: 'Lamp' })).toBe('{"deviceName":"Lamp"}')
  })
})

it('[E10] the decision to rename arguments is recorded at the normaliser and among the decisions', () => {
  const root = new URL('../../', import.meta.url)
  const decision = 'docs/decisions/2026-11-15-argument-names.md'
  expect(readFileSync(new URL(decision, root), 'utf8')).toMatch(
    /it does not[^.]*\. So the normalisation stays/,
  )
  const source = new URL('packages/toolpost/src/', root)
  const normalisers = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts'))
    .map(file => readFileSync(new URL(file, source), 'utf8'))
    .filter(text => text.includes(decision))
  expect(normalisers).toHaveLength(1)
  expect(normalisers[0]).toContain('[E09]')
})

describe('ToolManager', () => {
  it('[E02] takes custom tools as they are, among them those of LangChain', async () => {
    const own = Object.freeze(toolThat('own', () => 'own answer'))
    const langchain = langchainTool(async ({ city }: { city: string }) => `sunny in ${city}`, {
      name: 'weather',
      description: 'Tells the weather',
      schema: z.object({ city: z.string() }),
    })
    const manager = new ToolManager()
    manager.addCustomTool(own)
    manager.addCustomTool(langchain)
    expect(manager.getTools()[0]).toBe(own)
    expect(manager.getTools()[1]).toBe(langchain)
    const executor = new ToolExecutor(manager)
    expect(await executor.execute('weather', { city: 'Oslo' })).toBe('sunny in Oslo')
    expect(await executor.execute('weather', {})).toMatch(/^Error: Invalid parameters: missing 'city'/)
  })

  it('[E04 A07] finds a tool by name or lc_name, or nothing', async () => {
    const odd = toolThat('odd', () => 'found', { lc_name: 'other_name' })
    const { tools, executor } = executorFor([toolThat('even', () => 'wrong'), odd])
    expect(tools.findTool('odd')).toBe(odd)
    expect(tools.findTool('other_name')).toBe(odd)
    expect(tools.findTool('toString')).toBeUndefined()
    expect(await executor.execute('other_name', {})).toBe('found')
  })

  it('[E03 A06 E07] keeps MCP and custom tools, as they came, in one array, which it returns', () => {
    const custom = toolThat('custom', () => 'custom')
    const remote = [toolThat('lamp', () => 'lamp'), toolThat('blinds', () => 'blinds')]
    const manager = new ToolManager()
    const array = manager.getTools()
    manager.addCustomTool(custom)
    manager.addMcpTools(remote, { server: 'home' })
    expect(manager.getTools()).toBe(array)
    expect(array[0]).toBe(custom)
    expect(array).toEqual([custom, ...remote])
    for (const tool of array) expect(manager.findTool(tool.name)).toBe(tool)
    expect(manager.remove('lamp')).toBe(true)
    expect(manager.getTools().map(({ name }) => name)).toEqual(['custom', 'blinds'])
  })

  it('[E08] reads each of ten thousand tools at most twice to find one', () => {
    const COUNT = 10_000
    let reads = 0
    const tools = Array.from({ length: COUNT }, (_, at) => ({
      ...toolThat('', () => at),
      get name() {
        reads++
        return `tool_${at}`
      },
    }))
    const manager = new ToolManager()
    manager.addMcpTools(tools.slice(0, COUNT / 2), { server: 'one' })
    manager.addMcpTools(tools.slice(COUNT / 2), { server: 'two' })
    expect(manager.getTools()).toHaveLength(COUNT)
    reads = 0
    expect(manager.findTool(`tool_${COUNT - 1}`)?.invoke({})).toBe(COUNT - 1)
    expect(reads).toBeLessThanOrEqual(2 * COUNT)
    expect(manager.findTool('absent')).toBeUndefined()
    expect(reads).toBeLessThanOrEqual(4 * COUNT)
  })
})

describe('the executor', () => {
  it('[E05 A07 A10] calls tool.invoke(args, { signal }) directly', async () => {
    const invoke = vi.fn<Tool['invoke']>(() => 'ok')
    const spy = toolThat('spy', invoke)
    await executorFor([spy]).executor.run({ name: 'spy', args: { a: 1, b: [2] } })
    expect(invoke).toHaveBeenCalledOnce()
    expect(invoke.mock.contexts[0]).toBe(spy)
    const [args, options] = invoke.mock.calls[0] ?? []
    expect(args).toEqual({ a: 1, b: [2] })
    expect(options?.signal).toBeInstanceOf(AbortSignal)
  })

  it('[E05] gives { input: args } to a tool that asks for it, and to no other', async () => {
    const { executor } = executorFor([
      toolThat('boxed', args => args, { inputEnvelope: true }),
      toolThat('plain', args => args),
    ])
    expect(await executor.run({ name: 'boxed', args: { a: 1 } })).toMatchObject({
      result: { input: { a: 1 } },
    })
    expect(await executor.run({ name: 'plain', args: { a: 1 } })).toMatchObject({ result: { a: 1 } })
  })
})
