import { describe, expect, it } from 'vitest'
import { ToolExecutor } from '../executor/executor.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { recordingLogger } from '../testing/index.ts'
import type { Tool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'

const properties = (...names: string[]): JsonSchema => ({
  type: 'object',
  properties: Object.fromEntries(names.map(name => [name, {}])),
})

/** Runs one call of a tool that answers with what it got. */
async function received(tool: Partial<Tool>, args: object, { mcp = true, parameterNames = {} } = {}) {
  const logger = recordingLogger()
  const manager = new ToolManager({ logger })
  const echo: Tool = {
    name: 'echo',
    description: 'echoes',
    schema: { type: 'object' },
    invoke: got => got,
    ...tool,
  }
  if (mcp) manager.addMcpTools([echo], { server: 'home', parameterNames })
  else manager.addCustomTool(echo)
  const result = await new ToolExecutor(manager, { logger }).run({ name: echo.name, args })
  return { result: result.success ? result.result : result.error, logger }
}

describe('argument names of MCP tools', () => {
  it('follow the configuration too, and know a tool that had to be registered under another name', async () => {
    const manager = new ToolManager()
    const tool = (name: string): Tool => ({
      name,
      description: 'd',
      schema: properties('location', 'deviceName'),
      invoke: got => got,
    })
    manager.addCustomTool(tool('control_zwave_device'))
    const parameterNames = { control_zwave_device: { room: 'location' } }
    manager.addMcpTools([tool('control_zwave_device')], { server: 'zwave', parameterNames })
    const args = { room: 'attic', device_name: 'Lamp' }
    const result = await new ToolExecutor(manager).run({ name: 'zwave__control_zwave_device', args })
    expect(result).toMatchObject({ result: { location: 'attic', deviceName: 'Lamp' } })
    expect(args).toEqual({ room: 'attic', device_name: 'Lamp' })
  })

  it('stay where the schema has them in one of its forms, or takes names of any kind', async () => {
    const names = { properties: { user_id: {} } }
    const schemas: JsonSchema[] = [
      { type: 'object', anyOf: [names, { properties: { other: {} } }] },
      { type: 'object', allOf: [{ $ref: '#/$defs/user' }], $defs: { user: names } },
      { type: 'object', $ref: '#/$defs/user', $defs: { user: names } },
      { type: 'object', patternProperties: { '^user_': {} }, additionalProperties: false },
      { type: 'object', additionalProperties: { type: 'string' } },
      { type: 'object', propertyNames: { pattern: '^[a-z_]+$' } },
    ]
    for (const schema of schemas)
      expect((await received({ schema }, { user_id: 'x' })).result).toEqual({ user_id: 'x' })
  })

  it('let the exact name win over one that would become it, and log the loss', async () => {
    const { result, logger } = await received(
      { schema: properties('deviceName') },
      { device_name: 'wrong', deviceName: 'right' },
    )
    expect(result).toEqual({ deviceName: 'right' })
    expect(logger.at('warn')[0]?.fields).toMatchObject({ argument: 'device_name' })
  })
})

it('numbers that JSON does not have are no numbers', async () => {
  const schema = { type: 'object', properties: { n: { type: 'number' } } }
  for (const n of [Number.NaN, Number.POSITIVE_INFINITY])
    expect((await received({ schema }, { n })).result).toBe(
      `Invalid parameters: 'n' must be number, got ${n}`,
    )
})
