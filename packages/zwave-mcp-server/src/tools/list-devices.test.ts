import { describe, expect, it } from 'vitest'
import { fakeHome, fakeNetwork } from '../../test/support/fake-home.ts'
import type { DeviceDescription } from '../home/virtual-device.ts'
import { listDevices } from './list-devices.ts'

const devices: DeviceDescription[] = [
  { name: 'Switch One', values: [{ type: 'switch', value: true }] },
  { name: 'Light', location: 'Living Room', values: [{ type: 'dimmer', value: 40 }] },
  {
    name: 'Temp Sensor 1',
    values: [{ type: 'sensor', property: 'Air temperature', unit: '°C', value: 21.5 }],
  },
  { name: 'Garage Heater', status: 'Dead', values: [{ type: 'switch' }] },
]

const list = (args: Record<string, unknown>) => fakeHome(devices).call('list_zwave_devices', args)

describe('list_zwave_devices', () => {
  it('accepts a filter in the plural', async () => {
    await expect(list({ filter: 'switches' })).resolves.toMatchObject({
      data: { devices: [{ name: 'Switch One' }] },
    })
  })

  it('lists names, locations, kinds and states', async () => {
    await expect(list({})).resolves.toEqual({
      isError: false,
      text: 'There are 3 devices: Light (Living Room) (dimmed to 40 %), Switch One (on) and Temp Sensor 1 (21.5 °C). 1 inactive device is not listed.',
      data: {
        devices: [
          {
            name: 'Light',
            location: 'Living Room',
            nodeId: 3,
            kind: 'dimmer',
            status: 'Alive',
            state: 'dimmed to 40 %',
          },
          { name: 'Switch One', location: null, nodeId: 2, kind: 'switch', status: 'Alive', state: 'on' },
          {
            name: 'Temp Sensor 1',
            location: null,
            nodeId: 4,
            kind: 'sensor',
            status: 'Alive',
            state: '21.5 °C',
          },
        ],
        hiddenInactive: 1,
        scenes: [],
        live: true,
      },
    })
  })

  it('lists the dead ones too when asked', async () => {
    const { text, data } = await list({ includeInactive: true })
    expect(text).toContain('Garage Heater (dead)')
    expect(data).toMatchObject({ hiddenInactive: 0 })
  })

  it.each([
    ['living', ['Light']],
    ['SENSORS', ['Temp Sensor 1']],
    ['dimmer', ['Light']],
    ['living room light', ['Light']],
    ['', ['Light', 'Switch One', 'Temp Sensor 1']],
    ['nothing', []],
  ])('filters by "%s"', async (filter, names) => {
    const { data } = await list({ filter })
    expect((data.devices as unknown as Array<{ name: string }>).map(({ name }) => name)).toEqual(names)
  })

  it('says when nothing matches or nothing is known', async () => {
    expect((await list({ filter: 'nothing' })).text).toBe('No device matches.')
    expect((await fakeHome([]).call('list_zwave_devices', {})).text).toBe('No devices are known.')
  })

  it('reports the last known state when the broker is unreachable, and says so', async () => {
    const home = fakeHome(devices)
    home.link.lose('connection closed')
    const { text, data, isError } = await home.call('list_zwave_devices', { filter: 'switch' })
    expect(text).toBe(
      'The MQTT broker at mqtt://fake:1883 is unreachable: connection closed. As last known: There is 1 device: Switch One (on). 1 inactive device is not listed.',
    )
    expect({ live: data.live, isError }).toEqual({ live: false, isError: false })
  })

  it('fails if the broker was never reachable', async () => {
    const { network, link } = fakeNetwork()
    link.lose('connect ECONNREFUSED')
    const context = { network, confirmTimeoutMs: 50, staleMs: 1, virtual: false, now: Date.now }
    await expect(listDevices({}, context)).resolves.toEqual({
      isError: true,
      content: [
        { type: 'text', text: 'The MQTT broker at mqtt://fake:1883 is unreachable: connect ECONNREFUSED.' },
      ],
    })
  })
})
