import { describe, expect, it } from 'vitest'
import { actuatorsOf, type Device, kindOf, readingsOf } from './device.ts'
import type { DeviceValue } from './messages.ts'

function device(...values: Array<Partial<DeviceValue> & { commandClass: string }>): Device {
  return {
    id: 1,
    isFollowed: true,
    path: 'D',
    name: 'D',
    status: 'Alive',
    values: values.map(value => ({ endpoint: 0, property: 'currentValue', ...value })),
  }
}

const texts = (...values: Parameters<typeof device>) =>
  readingsOf(device(...values)).map(({ name, text }) => `${name}: ${text}`)

describe('readings', () => {
  it.each<[Parameters<typeof device>[0], string]>([
    [{ commandClass: 'switch_binary', value: true }, 'switch: on'],
    [{ commandClass: 'switch_binary' }, 'switch: unknown'],
    [{ commandClass: 'switch_multilevel', value: 0 }, 'dimmer: off'],
    [{ commandClass: 'switch_multilevel', value: 99 }, 'dimmer: on'],
    [
      { commandClass: 'sensor_multilevel', property: 'Air_temperature', value: 21.5 },
      'air temperature: 21.5 °C',
    ],
    [
      { commandClass: 'sensor_multilevel', property: 'Air_temperature', value: 70, unit: '°F' },
      'air temperature: 70 °F',
    ],
    [{ commandClass: 'sensor_multilevel', property: 'Humidity', value: 45 }, 'humidity: 45 %'],
    [{ commandClass: 'sensor_multilevel', property: 'Illuminance', value: 120 }, 'illuminance: 120 lx'],
    [{ commandClass: 'sensor_multilevel', property: 'Power', value: 60 }, 'power: 60 W'],
    [{ commandClass: 'sensor_multilevel', property: 'Loudness', value: 3 }, 'loudness: 3'],
    [{ commandClass: 'sensor_multilevel', property: 'Humidity' }, 'humidity: unknown'],
    [{ commandClass: 'sensor_binary', property: 'Door-Window', value: true }, 'door/window: open'],
    [{ commandClass: 'sensor_binary', property: 'Motion', value: false }, 'motion: no motion'],
    [{ commandClass: 'sensor_binary', property: 'Any', value: true }, 'sensor: active'],
    [{ commandClass: 'meter', property: 'value', key: '65537', value: 3 }, 'energy: 3 kWh'],
    [{ commandClass: 'meter', property: 'value', key: '66049', value: 12 }, 'power: 12 W'],
    [{ commandClass: 'meter', property: 'value', key: 'constructor', value: 12 }, 'value: 12'],
    [{ commandClass: 'battery', property: 'level', value: 80 }, 'battery: 80 %'],
    [{ commandClass: 'window_covering', key: '13', value: 40 }, 'cover: 40 % open'],
    [{ commandClass: 'window_covering', key: '13', value: 99 }, 'cover: open'],
    [{ commandClass: 'door_lock', property: 'currentMode', value: 255 }, 'lock: locked'],
    [{ commandClass: 'door_lock', property: 'currentMode', value: 0 }, 'lock: unlocked'],
    [{ commandClass: 'door_lock', property: 'currentMode', value: 1 }, 'lock: unlocked'],
    [{ commandClass: 'door_lock', property: 'currentMode', value: 254 }, 'lock: unknown'],
    [
      { commandClass: 'thermostat_setpoint', property: 'setpoint', key: '1', value: 68, unit: '°F' },
      'heating setpoint: 68 °F',
    ],
    [
      { commandClass: 'thermostat_setpoint', property: 'setpoint', key: '2', value: 25 },
      'cooling setpoint: 25 °C',
    ],
    [{ commandClass: 'thermostat_mode', property: 'mode', value: 1 }, 'mode: heat'],
    [{ commandClass: 'thermostat_mode', property: 'mode', value: 77 }, 'mode: mode 77'],
    [{ commandClass: 'thermostat_operating_state', property: 'state', value: 0 }, 'activity: idle'],
    [{ commandClass: 'central_scene', property: 'scene', key: '001', value: 3 }, 'button 1: pressed twice'],
    [{ commandClass: 'scene_activation', property: 'sceneId', value: 4 }, 'scene: 4'],
    [
      { commandClass: 'notification', property: 'Access_Control', key: 'Door_state', value: 22 },
      'door state: open',
    ],
    [
      { commandClass: 'notification', property: 'Access_Control', key: 'Door state', value: 23 },
      'door state: closed',
    ],
  ])('says %j as "%s"', (value, text) => {
    expect(texts(value)).toEqual([text])
  })

  it('leaves out what nobody asks for', () => {
    const boring = [
      { commandClass: 'battery', property: 'isLow', value: false },
      { commandClass: 'meter', property: 'reset', value: true },
      { commandClass: 'notification', property: 'Power_Management', key: 'x', value: 1 },
      { commandClass: 'switch_binary', property: 'targetValue', value: true },
      { commandClass: 'configuration', property: 'Led', value: 1 },
    ]
    expect(texts(...boring)).toEqual([])
  })

  it('tells the endpoints apart if there are several', () => {
    const double = [1, 2].map(endpoint => ({
      commandClass: 'switch_binary',
      endpoint,
      value: endpoint === 1,
    }))
    expect(texts(...double)).toEqual(['switch at endpoint 1: on', 'switch at endpoint 2: off'])
  })
})

describe('what a device is', () => {
  it.each<[string, Parameters<typeof device>]>([
    ['dimmer', [{ commandClass: 'switch_multilevel' }, { commandClass: 'switch_binary' }]],
    ['switch', [{ commandClass: 'switch_binary' }, { commandClass: 'meter', property: 'value' }]],
    ['cover', [{ commandClass: 'window_covering', key: '13' }]],
    [
      'cover',
      [{ commandClass: 'switch_multilevel' }, { commandClass: 'switch_multilevel', property: 'Open' }],
    ],
    ['lock', [{ commandClass: 'door_lock', property: 'currentMode' }, { commandClass: 'switch_binary' }]],
    [
      'thermostat',
      [
        { commandClass: 'thermostat_setpoint', property: 'setpoint', key: '1' },
        { commandClass: 'switch_multilevel' },
      ],
    ],
    ['other', [{ commandClass: 'window_covering', key: '23' }]],
    ['sensor', [{ commandClass: 'sensor_binary', property: 'Any' }]],
    ['other', [{ commandClass: 'configuration', property: 'x' }]],
  ])('knows a %s', (kind, values) => {
    expect(kindOf(device(...values))).toBe(kind)
  })

  it('prefers the dimmer if an endpoint has both, whichever comes first', () => {
    for (const classes of [
      ['switch_binary', 'switch_multilevel'],
      ['switch_multilevel', 'switch_binary'],
    ]) {
      const actuators = actuatorsOf(device(...classes.map(commandClass => ({ commandClass }))))
      expect(actuators).toMatchObject([{ endpoint: 0, kind: 'dimmer' }])
    }
  })
})
