import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nodePath, parseTopic, sanitizeTopic, valuePath } from './topics.ts'

const word = fc.stringMatching(/^[A-Za-z0-9À-ÖØ-öø-ÿ]{1,8}( [A-Za-z0-9]{1,8}){0,2}$/)
const property = fc.stringMatching(/^[A-Za-z][A-Za-z0-9 /]{0,15}$/)
const commandClass = fc.constantFrom(
  'switch_binary',
  'switch_multilevel',
  'sensor_multilevel',
  'unknownClass_99',
)

describe('reading topics', () => {
  it('reads back every value topic that a gateway writes', () => {
    const place = fc.record({
      id: fc.nat(232),
      name: fc.option(word, { nil: undefined }),
      location: fc.option(word, { nil: undefined }),
    })
    const address = fc.record(
      { commandClass, endpoint: fc.nat(20), property, key: fc.stringMatching(/^[A-Za-z0-9]{1,6}$/) },
      { requiredKeys: ['commandClass', 'endpoint', 'property'] },
    )
    fc.assert(
      fc.property(place, address, fc.constantFrom('zwave', 'home/z'), (where, what, prefix) => {
        for (const style of ['named', 'valueid'] as const) {
          const node = nodePath(where, style)
          const parsed = parseTopic(prefix, `${prefix}/${valuePath(node, what, style)}`)
          const expected = { ...what, property: sanitizeTopic(what.property.replaceAll('/', '-')) }
          if (style === 'valueid' && what.commandClass === 'unknownClass_99')
            expect(parsed).toEqual({ kind: 'other' })
          else expect(parsed).toEqual({ kind: 'value', node, address: expected })
        }
      }),
    )
  })

  it('never throws, whatever a topic contains', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (prefix, topic) => void parseTopic(prefix, `${prefix}/${topic}`)),
    )
  })

  it.each([
    ['zwave/nodeID_2/switch_binary/endpoint_0/currentValue', { kind: 'value', node: 'nodeID_2' }],
    [
      'zwave/First/Floor/Lamp/switch_binary/endpoint_1/currentValue',
      { kind: 'value', node: 'First/Floor/Lamp' },
    ],
    [
      'zwave/Plug/meter/endpoint_0/value/66049',
      { kind: 'value', node: 'Plug', address: { property: 'value', key: '66049' } },
    ],
    ['zwave/2/37/0/currentValue', { kind: 'value', node: '2', address: { commandClass: 'switch_binary' } }],
    ['zwave/nodeID_2/37/0/currentValue', { kind: 'value', node: 'nodeID_2' }],
    [
      'zwave/38/37/38/0/currentValue',
      { kind: 'value', node: '38/37', address: { commandClass: 'switch_multilevel' } },
    ],
    [
      'zwave/Hall/7/67/1/setpoint/1',
      { node: 'Hall/7', address: { commandClass: 'thermostat_setpoint', endpoint: 1, key: '1' } },
    ],
    [
      'zwave/Blinds/unknownClass_106/endpoint_0/currentValue/13',
      { node: 'Blinds', address: { commandClass: 'window_covering', key: '13' } },
    ],
    ['zwave/Kitchen/Lamp/status', { kind: 'status', node: 'Kitchen/Lamp' }],
    ['zwave/driver/status', { kind: 'driver' }],
    [
      'zwave/_CLIENTS/ZWAVE_GATEWAY-x/status',
      { kind: 'gateway', client: 'ZWAVE_GATEWAY-x', about: 'status' },
    ],
    ['zwave/_CLIENTS/ZWAVE_GATEWAY-x/version', { kind: 'gateway', about: 'version' }],
    [
      'zwave/_CLIENTS/ZWAVE_GATEWAY-x/api/getNodes',
      { kind: 'api', client: 'ZWAVE_GATEWAY-x', method: 'getNodes' },
    ],
  ])('reads %s', (topic, expected) => {
    expect(parseTopic('zwave', topic)).toMatchObject(expected)
  })

  it.each([
    'zwave/Lamp/switch_binary/endpoint_0/targetValue/set',
    'zwave/_CLIENTS/ZWAVE_GATEWAY-x/api/getNodes/set',
    'zwave/2/112/0/5',
    'zwave/2/37/0/currentValue/set',
    'zwave/_CLIENTS',
    'zwave/Lamp/lastActive',
    'zwave/Lamp/nodeinfo',
    'zwave/status',
    'zwave/switch_binary/endpoint_0/currentValue',
    'zwave/Lamp/switch_binary/endpoint_0',
    'zwaves/Lamp/status',
    'other/Lamp/status',
    'zwave',
  ])('leaves %s alone', topic => {
    expect(parseTopic('zwave', topic)).toEqual({ kind: 'other' })
  })
})

describe('writing topics', () => {
  it('names a node as the gateway does', () => {
    expect(nodePath({ id: 4, name: "Bob's Lamp", location: 'Living Room' })).toBe('Living_Room/Bobs_Lamp')
    expect(nodePath({ id: 4 })).toBe('nodeID_4')
    expect(nodePath({ id: 4, name: 'Küche', location: '' })).toBe('Küche')
  })
})
