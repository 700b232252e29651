import { describe, expect, it } from 'vitest'
import { fakeHome, GATEWAY } from '../../test/support/fake-home.ts'
import type { DeviceDescription } from '../home/virtual-device.ts'

const devices: DeviceDescription[] = [
  { name: 'Switch One', values: [{ type: 'switch' }] },
  { name: 'Light', location: 'Kitchen', values: [{ type: 'dimmer' }] },
  { name: 'Light', location: 'Hall', values: [{ type: 'switch' }] },
  { name: 'Thermo', values: [{ type: 'sensor', property: 'Air temperature', value: 20 }] },
  { name: 'Dead One', status: 'Dead', values: [{ type: 'switch' }] },
  { name: 'Sleeper', status: 'Asleep', values: [{ type: 'switch' }] },
  {
    name: 'Double',
    values: [
      { type: 'switch', endpoint: 1 },
      { type: 'switch', endpoint: 2 },
    ],
  },
  { name: 'Blinds', location: 'Study', values: [{ type: 'cover', value: 99 }] },
  { name: 'Back Door Lock', values: [{ type: 'lock', value: true }] },
  { name: 'Thermostat', values: [{ type: 'thermostat', value: 20 }] },
  { name: 'Strip', values: [{ type: 'switch' }, { type: 'switch', endpoint: 1 }] },
]

const control = (args: Record<string, unknown>, options?: { answers: boolean }) => {
  const home = fakeHome(devices, options)
  return { home, result: home.call('control_zwave_device', args) }
}

describe('control_zwave_device', () => {
  it('switches a device, given the camelCase names that a client maps to', async () => {
    const { home, result } = control({ deviceName: 'Switch One', action: 'on' })
    await expect(result).resolves.toEqual({
      text: 'Switch One is on.',
      isError: false,
      data: {
        device: 'Switch One',
        location: null,
        nodeId: 2,
        endpoint: 0,
        action: 'on',
        level: null,
        confirmed: true,
        reported: true,
        state: 'on',
      },
    })
    expect(home.link.commands).toEqual([
      { topic: 'zwave/Switch_One/switch_binary/endpoint_0/targetValue/set', text: 'true' },
    ])
  })

  it.each([
    [{ action: 'dim', level: 40 }, '40', 'Light (Kitchen) is dimmed to 40 %.'],
    [{ action: 'dim', level: 100 }, '99', 'Light (Kitchen) is on.'],
    [{ action: 'dim', level: 0 }, '0', 'Light (Kitchen) is off.'],
    [{ action: 'on' }, '255', 'Light (Kitchen) is on.'],
    [{ action: 'off' }, '0', 'Light (Kitchen) is off.'],
  ])('maps %j for a dimmer', async (args, sent, text) => {
    const { home, result } = control({ deviceName: 'kitchen light', ...args })
    expect((await result).text).toBe(text)
    expect(home.link.commands).toEqual([
      { topic: 'zwave/Kitchen/Light/switch_multilevel/endpoint_0/targetValue/set', text: sent },
    ])
  })

  it.each([
    [{ action: 'on' }, '99', 'Blinds (Study) is open.'],
    [{ action: 'off' }, '0', 'Blinds (Study) is closed.'],
    [{ action: 'dim', level: 30 }, '30', 'Blinds (Study) is 30 % open.'],
    [{ action: 'dim', level: 100 }, '99', 'Blinds (Study) is open.'],
  ])('maps %j for a window covering', async (args, sent, text) => {
    const { home, result } = control({ deviceName: 'study blinds', ...args })
    expect((await result).text).toBe(text)
    expect(home.link.commands).toEqual([
      { topic: 'zwave/Study/Blinds/switch_multilevel/endpoint_0/targetValue/set', text: sent },
    ])
  })

  it.each([
    [{ deviceName: 'Switch One', action: 'dim' }, 'dim needs a level from 0 to 100.'],
    [
      { deviceName: 'Switch One', action: 'on', level: 5 },
      'A level is only valid with the action dim, not with on.',
    ],
    [
      { deviceName: 'Switch One', action: 'dim', level: 5 },
      'Switch One is a switch and cannot dim; it can only be on or off.',
    ],
    [
      { deviceName: 'Thermo', action: 'on' },
      'Thermo is a sensor or has nothing to switch, so it cannot be controlled.',
    ],
    [
      { deviceName: 'back door lock', action: 'off' },
      'Back Door Lock is a lock: use control_lock to lock or unlock it. Nothing was sent.',
    ],
    [
      { deviceName: 'back door lock', action: 'on' },
      'Back Door Lock is a lock: use control_lock to lock or unlock it. Nothing was sent.',
    ],
    [
      { deviceName: 'thermostat', action: 'off' },
      'Thermostat is a thermostat: use set_thermostat to change its temperature or mode.',
    ],
    [{ deviceName: 'Dead One', action: 'on' }, 'Dead One is dead: it no longer responds. Nothing was sent.'],
    [
      { deviceName: 'Sleeper', action: 'on' },
      'Sleeper is asleep and would act only when it wakes up. Nothing was sent.',
    ],
    [
      { deviceName: 'light', action: 'on' },
      'Several devices are called "light": Light (Hall) and Light (Kitchen). Say which one.',
    ],
    [
      { deviceName: 'swich one', action: 'on' },
      'There is no device called "swich one". Did you mean Switch One?',
    ],
    [
      { deviceName: 'Double', action: 'on' },
      'Double has several switches: Double endpoint 1 and Double endpoint 2. Say which one.',
    ],
  ])('refuses %j and sends nothing', async (args, text) => {
    const { home, result } = control(args)
    await expect(result).resolves.toMatchObject({ isError: true, text })
    expect(home.link.commands).toEqual([])
  })

  it('lists the devices if there is no near match', async () => {
    const { text } = await control({ deviceName: 'qqqq', action: 'on' }).result
    expect(text).toContain('The devices are Back Door Lock, Blinds (Study), Dead One, Double, Light (Hall)')
  })

  it('switches the endpoint that is named, and the root endpoint if there is one', async () => {
    const second = control({ deviceName: 'double 2', action: 'on' })
    expect(await second.result).toMatchObject({
      text: 'Double endpoint 2 is on.',
      data: { endpoint: 2, confirmed: true },
    })
    expect(second.home.link.commands).toMatchObject([
      { topic: 'zwave/Double/switch_binary/endpoint_2/targetValue/set' },
    ])
    expect(await control({ deviceName: 'strip', action: 'on' }).result).toMatchObject({
      data: { endpoint: 0 },
    })
  })

  it('says that a command was sent and not confirmed', async () => {
    const { home, result } = control({ deviceName: 'Switch One', action: 'on' }, { answers: false })
    await expect(result).resolves.toMatchObject({
      isError: false,
      text: 'The command on was sent to Switch One, but not confirmed within 0.05 seconds.',
      data: { confirmed: false, reported: null, state: null },
    })
    expect(home.link.commands).toHaveLength(1)
  })

  it('says what the device reported instead', async () => {
    const { home, result } = control(
      { deviceName: 'kitchen light', action: 'dim', level: 80 },
      { answers: false },
    )
    home.link.onPublish = topic => {
      home.link.receive(topic.replace('targetValue/set', 'currentValue'), { time: 1, value: 30 })
    }
    await expect(result).resolves.toMatchObject({
      text: 'The command dim was sent to Light (Kitchen), but not confirmed within 0.05 seconds. It reported that it is dimmed to 30 %.',
      data: { confirmed: false, reported: 30 },
    })
  })

  it.each([
    [
      'the gateway',
      `${GATEWAY}/status`,
      '{"value":false}',
      'The Z-Wave gateway is offline, so nothing was sent.',
    ],
    [
      'the driver',
      'zwave/driver/status',
      'false',
      "The gateway's Z-Wave driver is not ready, so nothing was sent.",
    ],
  ])('refuses while %s is down', async (_, topic, payload, text) => {
    const home = fakeHome(devices)
    home.link.receive(topic, payload)
    const result = await home.call('control_zwave_device', { deviceName: 'Switch One', action: 'on' })
    expect(result).toMatchObject({ isError: true, text })
    expect(home.link.commands).toEqual([])
  })

  it('fails immediately without a broker, and sends nothing when it is back', async () => {
    const home = fakeHome(devices)
    home.link.lose('connect ECONNREFUSED')
    const result = await home.call('control_zwave_device', { deviceName: 'Switch One', action: 'on' })
    expect(result).toMatchObject({
      isError: true,
      text: 'The MQTT broker at mqtt://fake:1883 is unreachable: connect ECONNREFUSED. Nothing was sent.',
    })
    home.link.connect()
    expect(home.link.commands).toEqual([])
  })

  it('says when the connection was lost before the device confirmed', async () => {
    const { home, result } = control({ deviceName: 'Switch One', action: 'on' }, { answers: false })
    home.link.onPublish = () => home.link.lose()
    expect((await result).text).toBe(
      'The command on was sent to Switch One, but the connection to the broker was lost before it confirmed.',
    )
  })
})
