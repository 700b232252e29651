import { describe, expect, it } from 'vitest'
import { ToolExecutor } from '../executor/tool-executor.ts'
import { OfflineClient } from '../models/offline/offline-client.ts'
import { defineTool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'

const text = { type: 'string', minLength: 1 } as const
const SCHEMAS = {
  control_zwave_device: {
    deviceName: text,
    action: { type: 'string', enum: ['on', 'off', 'dim'] },
    level: { type: 'number', minimum: 0, maximum: 100 },
  },
  set_thermostat: {
    deviceName: text,
    temperature: { type: 'number' },
    mode: { type: 'string', enum: ['off', 'heat', 'cool', 'auto'] },
  },
  control_lock: { deviceName: text, action: { type: 'string', enum: ['lock', 'unlock'] } },
  activate_scene: { sceneName: text },
} as const

function homeTools() {
  const calls: unknown[] = []
  const manager = new ToolManager()
  const tools = Object.entries(SCHEMAS).map(([name, properties]) =>
    defineTool({
      name,
      description: name,
      schema: { type: 'object', properties, additionalProperties: false },
      handler: (args: unknown) => void calls.push([name, args]),
    }),
  )
  manager.addMcpTools(tools, { server: 'zwave' })
  return { calls, executor: new ToolExecutor(manager) }
}

describe('sentences for a Z-Wave home', () => {
  it.each([
    [
      'set the hallway thermostat to 21 degrees',
      'set_thermostat',
      { deviceName: 'hallway thermostat', temperature: 21 },
    ],
    [
      'lower the hallway thermostat to 18.5 degrees',
      'set_thermostat',
      { deviceName: 'hallway thermostat', temperature: 18.5 },
    ],
    [
      'switch the hallway thermostat to heat mode',
      'set_thermostat',
      { deviceName: 'hallway thermostat', mode: 'heat' },
    ],
    [
      'open the living room blinds',
      'control_zwave_device',
      { deviceName: 'living room blinds', action: 'on' },
    ],
    [
      'close the living room blinds',
      'control_zwave_device',
      { deviceName: 'living room blinds', action: 'off' },
    ],
    [
      'open the living room blinds to 40 percent',
      'control_zwave_device',
      { deviceName: 'living room blinds', action: 'dim', level: 40 },
    ],
    ['activate the movie time scene', 'activate_scene', { sceneName: 'movie time' }],
    ['start movie time', 'activate_scene', { sceneName: 'movie time' }],
    ['lock the back door', 'control_lock', { deviceName: 'back door', action: 'lock' }],
  ])('"%s" calls %s', (sentence, tool, args) => {
    const match = new OfflineClient({ executor: homeTools().executor }).match(sentence)
    expect([match?.tool.name, match?.args]).toEqual([tool, args])
  })

  it('unlock nothing', () => {
    const client = new OfflineClient({ executor: homeTools().executor })
    expect(client.match('unlock the back door')?.tool.name).toBeUndefined()
  })
})

describe('argument names of a Z-Wave server', () => {
  it.each([
    [
      'set_thermostat',
      { device_name: 'Attic', target_temperature: 21 },
      { deviceName: 'Attic', temperature: 21 },
    ],
    ['control_lock', { device_name: 'Door', command: 'lock' }, { deviceName: 'Door', action: 'lock' }],
    ['activate_scene', { scene_name: 'Movie Time' }, { sceneName: 'Movie Time' }],
  ])('of %s are mapped: %j', async (name, given, taken) => {
    const { calls, executor } = homeTools()
    await executor.run({ id: '1', name, args: given })
    expect(calls).toEqual([[name, taken]])
  })
})
