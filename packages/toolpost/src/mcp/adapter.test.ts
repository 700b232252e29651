import { fileURLToPath } from 'node:url'
import { MultiServerMCPClient } from '@langchain/mcp-adapters'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ToolExecutor } from '../executor/tool-executor.ts'
import { recordingLogger } from '../testing/recording-logger.ts'
import type { Tool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'

const server = fileURLToPath(new URL('./test-servers/sdk-v1.mjs', import.meta.url))

describe('the tools of @langchain/mcp-adapters', () => {
  const client = new MultiServerMCPClient({
    mcpServers: { zwave: { transport: 'stdio', command: process.execPath, args: [server] } },
  })
  const log = recordingLogger()
  const manager = new ToolManager({ logger: log })
  const executor = new ToolExecutor(manager, { logger: log })
  let tools: Tool[] = []

  beforeAll(async () => {
    tools = (await client.getTools()) as unknown as Tool[]
    manager.addMcpTools(tools, { server: 'zwave' })
  })
  afterAll(() => client.close())

  it('[E01] go into the ToolManager as they are', () => {
    expect(manager.getTools()).toHaveLength(3)
    expect(manager.getTools().every((tool, at) => tool === tools[at])).toBe(true)
    expect(Array.isArray(manager.getTools())).toBe(true)
  })

  it('[E01] run through the ToolExecutor', async () => {
    expect(await executor.execute('control_zwave_device', { deviceName: 'Lamp', action: 'off' })).toBe(
      '{"deviceName":"Lamp","action":"off"}',
    )
  })

  it("[A33] fail in the server's own words, without the adapter's", async () => {
    expect(await executor.run({ name: 'fail' })).toMatchObject({
      code: 'tool_error',
      error: 'the server said no',
    })
  })

  // The evaluation that the specification asks for. Decision: the renaming stays in the ToolManager.
  it('[E09] do not rename snake_case arguments themselves', async () => {
    const tool = manager.findTool('control_zwave_device')
    const call = Promise.resolve(tool?.invoke({ device_name: 'Lamp', action: 'on' }))
    await expect(call).rejects.toThrow(/schema|deviceName/)
    const open = Promise.resolve(manager.findTool('new_tool')?.invoke({ new_parameter_name: 'x' }))
    await expect(open).rejects.toThrow(/schema|newParameterName/)
  })

  it('[E09 E10] get theirs renamed on the way through the ToolManager', async () => {
    const given = { device_name: 'Switch One', command: 'on' }
    expect(await executor.execute('control_zwave_device', given)).toBe(
      '{"deviceName":"Switch One","action":"on"}',
    )
    expect(await executor.execute('new_tool', { new_parameter_name: 'x' })).toBe('{"newParameterName":"x"}')
    expect(log.messages('info')).toContain(
      'Argument names: {device_name: "Switch One", command: "on"} → {deviceName: "Switch One", action: "on"}',
    )
  })
})
