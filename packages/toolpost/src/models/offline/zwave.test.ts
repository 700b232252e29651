import { describe, expect, it } from 'vitest'
import { ToolExecutor } from '../../executor/executor.ts'
import { defineTool } from '../../tools/tool.ts'
import { ToolManager } from '../../tools/tool-manager.ts'
import { OfflineClient } from './offline-client.ts'
import { sayReadings } from './zwave.ts'

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
  get_device_sensor_data: { deviceName: text },
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
    ['set the thermostat to 21 degrees', 'set_thermostat', { deviceName: 'thermostat', temperature: 21 }],
    ['turn the heating to 19', 'set_thermostat', { deviceName: 'thermostat', temperature: 19 }],
    ['set the hallway thermostat to 21', 'set_thermostat', { deviceName: 'hallway', temperature: 21 }],
    ['is the back door locked', 'get_device_sensor_data', { deviceName: 'back door' }],
    ['what is the thermostat set to', 'get_device_sensor_data', { deviceName: 'thermostat' }],
    [
      'what temperature is the hallway thermostat set to',
      'get_device_sensor_data',
      { deviceName: 'hallway thermostat' },
    ],
    ['which mode is the thermostat in', 'get_device_sensor_data', { deviceName: 'thermostat' }],
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

describe('what a thermostat or a lock reports', () => {
  const reading = (name: string, text: string, rest = {}) => ({
    name,
    text,
    value: text,
    stale: false,
    ...rest,
  })
  const report = (...readings: object[]) => ({ device: 'Hallway', readings, live: true })

  it.each([
    [report(reading('lock', 'locked')), 'Hallway is locked'],
    [
      report(reading('heating setpoint', '20 °C'), reading('mode', 'heat')),
      'Hallway is set to 20 °C, in heat mode',
    ],
    [report(reading('heating setpoint', '20 °C'), reading('mode', 'off')), 'Hallway is set to 20 °C, off'],
    [
      report(reading('heating setpoint', '20 °C'), reading('cooling setpoint', '25 °C')),
      'Hallway is set to 20 °C for heating, set to 25 °C for cooling',
    ],
    [report(reading('air temperature', '20 °C')), undefined],
    [report(reading('lock', 'locked'), reading('battery', '80 %')), undefined],
    [report(reading('lock', 'locked', { stale: true })), undefined],
    [report(reading('lock', '', { value: null })), undefined],
    [{ ...report(reading('lock', 'locked')), live: false }, undefined],
    [report(), undefined],
    ['text', undefined],
    [null, undefined],
    [{ live: true, readings: 'none' }, undefined],
  ])('%j is said as "%s"', (result, said) => expect(sayReadings(result)).toBe(said))
})
