import { describe, expect, it } from 'vitest'
import type { DeviceDescription } from '../src/home/virtual-device.ts'
import { fakeHome, GATEWAY, NOW } from './support/fake-home.ts'

const devices: DeviceDescription[] = [
  { name: 'Switch One', values: [{ type: 'switch' }] },
  { name: 'Light', location: 'Kitchen', values: [{ type: 'dimmer' }] },
  { name: 'Light', location: 'Hall', values: [{ type: 'switch' }] },
  { name: 'Thermo', values: [{ type: 'sensor', property: 'Air temperature', value: 20 }] },
  { name: 'Dead One', status: 'Dead', values: [{ type: 'switch' }] },
  { name: 'Sleeper', status: 'Asleep', values: [{ type: 'switch' }] },
  { name: 'Double', values: [1, 2].map(endpoint => ({ type: 'switch', endpoint })) },
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
    const what = { device: 'Switch One', location: null, nodeId: 2, endpoint: 0, action: 'on', level: null }
    await expect(result).resolves.toEqual({
      text: 'Switch One is on.',
      isError: false,
      data: { ...what, confirmed: true, reported: true, state: 'on' },
    })
    expect(home.link.commands).toEqual([
      { topic: 'zwave/Switch_One/switch_binary/endpoint_0/targetValue/set', text: 'true' },
    ])
  })

  it.each([
    [{ action: 'dim', level: 40 }, '40', 'Light (Kitchen) is dimmed to 40 %.'],
    [{ action: 'dim', level: 100 }, '99', 'Light (Kitchen) is on.'],
    [{ action: 'on' }, '255', 'Light (Kitchen) is on.'],
  ])('maps %j for a dimmer', async (args, sent, text) => {
    const { home, result } = control({ deviceName: 'kitchen light', ...args })
    expect((await result).text).toBe(text)
    expect(home.link.commands).toEqual([
      { topic: 'zwave/Kitchen/Light/switch_multilevel/endpoint_0/targetValue/set', text: sent },
    ])
  })

  it.each([
    ['Switch One', { action: 'dim' }, 'dim needs a level from 0 to 100.'],
    ['Switch One', { action: 'on', level: 5 }, 'A level is only valid with the action dim, not with on.'],
    ['Switch One', { action: 'dim', level: 5 }, 'is a switch and cannot dim; it can only be on or off.'],
    ['Thermo', { action: 'on' }, 'is a sensor or has nothing to switch, so it cannot be controlled.'],
    ['back door lock', { action: 'off' }, 'Back Door Lock is a lock: use control_lock'],
    ['thermostat', { action: 'off' }, 'Thermostat is a thermostat: use set_thermostat'],
    ['Dead One', { action: 'on' }, 'Dead One is dead: it no longer responds. Nothing was sent.'],
    ['Sleeper', { action: 'on' }, 'Sleeper is asleep and would act only when it wakes up. Nothing was sent.'],
    ['light', { action: 'on' }, 'Several devices are called "light": Light (Hall) and Light (Kitchen).'],
    ['swich one', { action: 'on' }, 'There is no device called "swich one". Did you mean Switch One?'],
    ['Double', { action: 'on' }, 'Double endpoint 1 and Double endpoint 2. Say which one.'],
  ])('refuses %s %j and sends nothing', async (deviceName, args, text) => {
    const { home, result } = control({ deviceName, ...args })
    await expect(result).resolves.toMatchObject({ isError: true, text: expect.stringContaining(text) })
    expect(home.link.commands).toEqual([])
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

  it.each([
    ['the gateway', `${GATEWAY}/status`, '{"value":false}', 'gateway is offline, so nothing was sent.'],
    ['the driver', 'zwave/driver/status', 'false', 'driver is not ready, so nothing was sent.'],
  ])('refuses while %s is down', async (_, topic, payload, text) => {
    const home = fakeHome(devices)
    home.link.receive(topic, payload)
    const result = await home.call('control_zwave_device', { deviceName: 'Switch One', action: 'on' })
    expect(result).toMatchObject({ isError: true, text: expect.stringContaining(text) })
    expect(home.link.commands).toEqual([])
  })
})

const OPEN = { type: 'binary', property: 'Door/Window', value: true } as const
const sensors: DeviceDescription[] = [
  {
    name: 'Thermo',
    values: [
      { type: 'sensor', property: 'Air temperature', unit: '°C', value: 21.5 },
      { type: 'sensor', property: 'Humidity', unit: '%' },
    ],
  },
  { name: 'Door', location: 'Hall', status: 'Dead', values: [OPEN] },
  { name: 'Front Gate Sensor', values: [OPEN] },
  { name: 'Cellar Sensor', values: [OPEN] },
]

const read = (deviceName: string, home = fakeHome(sensors)) =>
  home.call('get_device_sensor_data', { deviceName })

describe('get_device_sensor_data', () => {
  it('accepts part of a name if only one device has it', async () => {
    const { isError, data } = await read('the front gate')
    expect([isError, data?.device]).toEqual([false, 'Front Gate Sensor'])
    await expect(read('sensor')).resolves.toMatchObject({ isError: true })
  })

  it('reports the last values with unit and age', async () => {
    const time = new Date(NOW - 1_000).toISOString()
    const warm = { name: 'air temperature', value: 21.5, unit: '°C', text: '21.5 °C', endpoint: 0 }
    const humid = { name: 'humidity', value: null, unit: '%', text: 'unknown' }
    const readings = [{ ...warm, time, ageSeconds: 1, stale: false }, expect.objectContaining(humid)]
    await expect(read('thermo')).resolves.toEqual({
      isError: false,
      text: 'Thermo: air temperature is 21.5 °C, reported just now; humidity has not been reported yet.',
      data: { device: 'Thermo', location: null, nodeId: 2, status: 'Alive', live: true, readings },
    })
  })

  it('reports alarms in words', async () => {
    const home = fakeHome([{ name: 'T', values: [{ type: 'sensor', property: 'Power', value: 1 }] }])
    home.link.receive('zwave/T/notification/endpoint_0/Water_Alarm/Sensor_status', { time: NOW, value: 2 })
    expect((await read('T', home)).text).toContain('water alarm is water detected, reported just now')
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

  it('says that a device is dead, with its last value', async () => {
    expect((await read('hall door')).text).toBe(
      'Door (Hall): door/window is open, reported just now. The device is dead: it no longer responds.',
    )
  })

  it('reports the last known values when the broker is unreachable, and says so', async () => {
    const home = fakeHome(sensors)
    home.link.lose('connection closed')
    const { text, data } = await read('thermo', home)
    expect(text).toContain(
      'The MQTT broker at mqtt://fake:1883 is unreachable: connection closed. These are the last known values. Thermo:',
    )
    expect(data).toMatchObject({ live: false })
  })
})

const thermostats: DeviceDescription[] = [
  { name: 'Hallway Thermostat', values: [{ type: 'thermostat', value: 20 }] },
  { name: 'Attic', values: [{ type: 'thermostat', value: 68, unit: '°F' }] },
  { name: 'Lamp', values: [{ type: 'switch' }] },
  { name: 'Dead One', status: 'Dead', values: [{ type: 'thermostat' }] },
]
const SETPOINT = 'thermostat_setpoint/endpoint_0/setpoint/1/set'
const MODE = 'thermostat_mode/endpoint_0/mode/set'

function set(args: Record<string, unknown>, options?: { answers: boolean }) {
  const home = fakeHome(thermostats, options)
  return { home, result: home.call('set_thermostat', args) }
}

describe('set_thermostat', () => {
  it.each([
    [{ temperature: 70 }, 'Attic is set to 70 °F.', [`${SETPOINT} 70`]],
    [{ mode: 'off' }, 'Attic is set to off.', [`${MODE} 0`]],
    [{ mode: 'heat', temperature: 65 }, 'Attic is set to heat and 65 °F.', [`${MODE} 1`, `${SETPOINT} 65`]],
  ])('sets %j', async (args, answer, sent) => {
    const { home, result } = set({ deviceName: 'attic', ...args })
    expect(await result).toMatchObject({ isError: false, text: answer, data: { confirmed: true } })
    expect(home.link.commands.map(({ topic, text }) => `${topic} ${text}`)).toEqual(
      sent.map(command => `zwave/Attic/${command}`),
    )
  })

  it('says that a temperature has no effect while it is off', async () => {
    const { home, result } = set({ deviceName: 'attic', mode: 'off' })
    await result
    expect(await home.call('set_thermostat', { deviceName: 'attic', temperature: 65 })).toMatchObject({
      text: 'Attic is set to 65 °F. It is off: nothing happens until its mode is set.',
      data: { mode: 'off' },
    })
  })

  it.each([
    ['attic', {}, 'set_thermostat needs a temperature, a mode or both.'],
    ['lamp', { temperature: 20 }, 'Lamp is not a thermostat.'],
    ['hallway thermostat', { temperature: 70 }, 'accepts 7 to 32 °C, not 70. Nothing was sent.'],
    ['attic', { temperature: 21 }, 'Attic accepts 45 to 90 °F, not 21. Nothing was sent.'],
    ['attic', { mode: 'cool' }, 'Attic has no mode cool; expected one of off or heat.'],
    ['dead one', { temperature: 20 }, 'Dead One is dead: it no longer responds. Nothing was sent.'],
    ['thermostat', { temperature: 20 }, 'Did you mean Hallway Thermostat?'],
  ])('refuses %s %j and sends nothing', async (deviceName, args, text) => {
    const { home, result } = set({ deviceName, ...args })
    await expect(result).resolves.toMatchObject({ isError: true, text: expect.stringContaining(text) })
    expect(home.link.commands).toEqual([])
  })

  it('says that it was not confirmed', async () => {
    const { result } = set({ deviceName: 'attic', temperature: 70 }, { answers: false })
    await expect(result).resolves.toMatchObject({
      isError: false,
      text: 'The command "70 °F" was sent to Attic, but not confirmed within 0.05 seconds.',
      data: { confirmed: false, temperature: 70, unit: '°F', mode: null },
    })
  })
})
