import { describe, expect, it } from 'vitest'
import { fakeHome, fakeNetwork, NOW } from '../../test/support/fake-home.ts'
import type { DeviceDescription } from '../home/virtual-device.ts'
import { sensorData } from './sensor-data.ts'

const devices: DeviceDescription[] = [
  {
    name: 'Thermo',
    values: [
      { type: 'sensor', property: 'Air temperature', unit: '°C', value: 21.5 },
      { type: 'sensor', property: 'Humidity', unit: '%' },
    ],
  },
  {
    name: 'Door',
    location: 'Hall',
    status: 'Dead',
    values: [{ type: 'binary', property: 'Door/Window', value: true }],
  },
  {
    name: 'Double',
    values: [
      { type: 'switch', endpoint: 1, value: true },
      { type: 'switch', endpoint: 2 },
    ],
  },
]

const read = (deviceName: string, home = fakeHome(devices)) =>
  home.call('get_device_sensor_data', { deviceName })

describe('get_device_sensor_data', () => {
  it('accepts part of a name if only one device has it', async () => {
    const home = fakeHome([
      { name: 'Front Door Sensor', values: [{ type: 'binary', property: 'Door/Window', value: true }] },
      { name: 'Cellar Sensor', values: [{ type: 'binary', property: 'Door/Window', value: false }] },
    ])
    await expect(read('the front door', home)).resolves.toMatchObject({
      isError: false,
      data: { device: 'Front Door Sensor' },
    })
    await expect(read('sensor', home)).resolves.toMatchObject({ isError: true })
  })

  it('reports the last values with unit and age', async () => {
    await expect(read('thermo')).resolves.toEqual({
      isError: false,
      text: 'Thermo: air temperature is 21.5 °C, reported just now; humidity has not been reported yet.',
      data: {
        device: 'Thermo',
        location: null,
        nodeId: 2,
        status: 'Alive',
        live: true,
        readings: [
          {
            name: 'air temperature',
            value: 21.5,
            unit: '°C',
            text: '21.5 °C',
            endpoint: 0,
            time: new Date(NOW - 1_000).toISOString(),
            ageSeconds: 1,
            stale: false,
          },
          expect.objectContaining({ name: 'humidity', value: null, unit: '%', text: 'unknown' }),
        ],
      },
    })
  })

  it.each([
    [300_000, false, '5 minutes ago.'],
    [300_001, true, '5 minutes ago, so it is stale.'],
    [7_200_000, true, '2 hours ago, so it is stale.'],
  ])('after %i ms is stale: %s', async (ageMs, stale, words) => {
    const home = fakeHome([{ name: 'T', values: [{ type: 'sensor', property: 'Power', value: 1 }] }])
    home.link.receive('zwave/T/sensor_multilevel/endpoint_0/Power', { time: NOW - ageMs, value: 2 })
    const { text, data } = await read('T', home)
    expect(text).toBe(`T: power is 2 W, reported ${words}`)
    expect(data).toMatchObject({ readings: [{ stale, ageSeconds: Math.round(ageMs / 100) / 10 }] })
  })

  it('does not pretend to know the age of a retained value without a time', async () => {
    const home = fakeHome([{ name: 'T', values: [{ type: 'sensor', property: 'Power' }] }])
    home.link.receive('zwave/T/sensor_multilevel/endpoint_0/Power', '7', { retained: true })
    const { text, data } = await read('T', home)
    expect(text).toContain('power is 7 W')
    expect(data).toMatchObject({ readings: [{ value: 7 }] })
  })

  it('treats a clock that runs ahead as now', async () => {
    const home = fakeHome([{ name: 'T', values: [{ type: 'sensor', property: 'Power' }] }])
    home.link.receive('zwave/T/sensor_multilevel/endpoint_0/Power', { time: NOW + 60_000, value: 7 })
    expect((await read('T', home)).data).toMatchObject({ readings: [{ ageSeconds: 0, stale: false }] })
  })

  it('says that a device is dead, with its last value', async () => {
    expect((await read('hall door')).text).toBe(
      'Door (Hall): door/window is open, reported just now. The device is dead: it no longer responds.',
    )
  })

  it('reads one endpoint or all', async () => {
    expect((await read('double')).text).toContain('switch at endpoint 1 is on')
    expect((await read('double 2')).data).toMatchObject({ readings: [{ endpoint: 2, value: false }] })
  })

  it('refuses an unknown device with a suggestion', async () => {
    await expect(read('termo')).resolves.toMatchObject({
      isError: true,
      text: 'There is no device called "termo". Did you mean Thermo?',
    })
  })

  it('says what to do if no gateway has been seen', async () => {
    const { network, link } = fakeNetwork()
    link.connect()
    const context = { network, confirmTimeoutMs: 50, staleMs: 1, virtual: false, now: () => NOW }
    expect(await sensorData({ deviceName: 'Lamp' }, context)).toMatchObject({
      content: [{ text: expect.stringContaining('No devices are known. No gateway has been seen: check') }],
    })
  })

  it('reports the last known values when the broker is unreachable, and says so', async () => {
    const home = fakeHome(devices)
    home.link.lose('connection closed')
    const { text, data } = await read('thermo', home)
    expect(text).toContain(
      'The MQTT broker at mqtt://fake:1883 is unreachable: connection closed. These are the last known values. Thermo:',
    )
    expect(data.live).toBe(false)
  })
})
