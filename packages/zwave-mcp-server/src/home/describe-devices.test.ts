import { describe, expect, it } from 'vitest'
import { DEFAULT_DEVICES } from './default-devices.ts'
import { describeDevices } from './describe-devices.ts'

describe('devices described in JSON', () => {
  it('accepts the default home, as an object or as a list', () => {
    const json: unknown = JSON.parse(JSON.stringify(DEFAULT_DEVICES))
    expect(describeDevices({ devices: json })).toEqual(DEFAULT_DEVICES)
    expect(describeDevices(json)).toEqual(DEFAULT_DEVICES)
  })

  it.each([
    [{}, 'must be {"devices": [...]}'],
    [[1], 'devices[0] must be an object'],
    [[{ name: 'x' }], 'devices[0].values must be a list'],
    [[{ nodeId: 1, values: [] }], 'devices[0].nodeId cannot be 1'],
    [[{ status: 'Gone', values: [] }], 'devices[0].status cannot be "Gone"'],
    [
      [{ values: [{ type: 'lamp' }] }],
      'devices[0].values[0].type must be one of switch, dimmer, cover, lock, thermostat, sensor, binary',
    ],
    [[{ values: [{ type: 'sensor' }] }], 'devices[0].values[0].property is missing'],
    [[{ values: [{ type: 'switch', value: 1 }] }], 'devices[0].values[0].value cannot be 1'],
    [[{ values: [{ type: 'dimmer', endpoint: -1 }] }], 'devices[0].values[0].endpoint cannot be -1'],
    [[{ values: [{ type: 'sensor', property: 'x', drift: {} }] }], 'devices[0].values[0].drift cannot be {}'],
  ])('refuses %j and names the path', (json, message) => {
    expect(() => describeDevices(json)).toThrow(message)
  })
})
