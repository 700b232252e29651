import { describe, expect, it } from 'vitest'
import type { VirtualHomeOptions } from '../src/home/virtual-home.ts'
import { aedesBroker } from './support/brokers.ts'
import { startTestHome } from './support/homes.ts'
import { startTools } from './support/server.ts'

interface StartOptions extends Partial<VirtualHomeOptions> {
  env?: NodeJS.ProcessEnv
}

async function start({ env, ...options }: StartOptions) {
  const broker = await aedesBroker()
  const home = await startTestHome({ brokerUrl: broker.url, ...options })
  const server = startTools({ MQTT_BROKER_URL: broker.url, ...env })
  const control = (deviceName: string, action: string, level?: number) =>
    server.call('control_zwave_device', { deviceName, action, ...(level !== undefined && { level }) })
  const read = (deviceName: string) => server.call('get_device_sensor_data', { deviceName })
  const reads = (deviceName: string, words: string) =>
    server.callUntil('get_device_sensor_data', { deviceName }, ({ text }) => text.includes(words))
  return { broker, home, server, control, read, reads }
}

const SETTINGS = [
  ...(['named', 'valueid'] as const).flatMap(topics =>
    (['time-value', 'entire', 'raw'] as const).map(payload => ({ topics, payload })),
  ),
  { topics: 'manual', payload: 'time-value' } as const,
]

describe.each(SETTINGS)('a gateway with $topics topics and $payload payloads', settings => {
  it('is read and controlled, and what happens at the devices is seen', async () => {
    const { server, home, control, read, reads } = await start(settings)
    expect((await control('switch one', 'on')).text).toBe('Switch One is on.')
    expect((await control('living room light', 'dim', 40)).text).toBe('Living Room Light is dimmed to 40 %.')
    expect((await control('living room blinds', 'off')).text).toBe('Living Room Blinds is closed.')
    expect((await control('living room blinds', 'dim', 30)).text).toBe('Living Room Blinds is 30 % open.')
    const warmer = { deviceName: 'hallway thermostat', temperature: 21.5 }
    expect((await server.call('set_thermostat', warmer)).text).toBe('Hallway Thermostat is set to 21.5 °C.')
    const unlock = { deviceName: 'back door lock', action: 'unlock' }
    expect(await server.call('control_lock', unlock)).toMatchObject({
      text: 'Back Door Lock is unlocked.',
      data: { confirmed: true, reported: false },
    })
    expect(home.commands).toHaveLength(6)
    expect((await read('hallway thermostat')).text).toContain('heating setpoint is 21.5 °C')
    await home.set('Switch One', false)
    expect((await reads('Switch One', 'switch is off')).data).toMatchObject({ live: true })
    await home.setStatus('Demo Switch', 'Dead')
    await reads('Demo Switch', 'dead')
    expect((await control('demo switch', 'on')).text).toContain('is dead')
  })

  it('knows a device by its new name immediately', async () => {
    const { server, home, control, read } = await start(settings)
    await server.call('list_zwave_devices')
    await home.rename('Switch One', 'Desk Lamp')
    expect(await control('desk lamp', 'on')).toMatchObject({ text: 'Desk Lamp is on.', data: { nodeId: 2 } })
    await home.rename('Desk Lamp', 'Reading Lamp')
    expect((await read('reading lamp')).text).toContain('switch is on')
    await home.rename('Reading Lamp', 'Night Lamp')
    expect((await server.call('list_zwave_devices', { filter: 'lamp' })).text).toContain('Night Lamp')
  })
})

describe('a gateway that is set up in another way', () => {
  it('is said to have no topics that can be followed, if its type is manual', async () => {
    const { server } = await start({ topics: 'manual' })
    const { text, data } = await server.call('check_zwave_health')
    expect(text).toContain('No topics seen for any device (gateway type Manual, or Retain is off)')
    expect(data).toMatchObject({ healthy: true, problems: [expect.stringContaining('Manual')] })
  })

  it.each(['named', 'valueid'] as const)(
    'works without retained %s topics once its name is known',
    async topics => {
      const env = { ZWAVE_GATEWAY_NAME: 'virtual-home' }
      const { control, read, home } = await start({ topics, retain: false, env })
      expect(await read('Switch One')).toMatchObject({ data: { live: true, readings: [{ text: 'off' }] } })
      expect((await control('switch one', 'on')).data).toMatchObject({ confirmed: true })
      expect(home.commands).toHaveLength(1)
    },
  )

  it('says why it did not carry out a command', async () => {
    const { control, home } = await start({ topics: 'manual' })
    expect((await control('switch one', 'on')).isError).toBe(false)
    home.command = () => {
      throw new Error('The node is not ready yet')
    }
    expect(await control('switch one', 'off')).toMatchObject({
      isError: true,
      text: 'The gateway did not carry out the command for Switch One: The node is not ready yet.',
    })
  })

  it('is unhealthy if its stick is gone and it says so only when it is asked', async () => {
    const { server, home } = await start({})
    await server.call('list_zwave_devices')
    home.isDriverReady = false
    await server.callUntil('check_zwave_health', {}, ({ data }) => data?.healthy === false)
  })
})

it('a second gateway below the same prefix is ignored', async () => {
  const { broker, server, home, control } = await start({})
  const devices = [{ name: 'Heater', values: [{ type: 'switch' as const }] }]
  await server.call('list_zwave_devices')
  const other = await startTestHome({ brokerUrl: broker.url, gatewayName: 'two', devices })
  expect((await server.call('list_zwave_devices')).text).toContain('There are 10 devices')
  expect((await control('Switch One', 'on')).isError).toBe(false)
  expect([home.commands.length, other.commands.length]).toEqual([1, 0])
})

it('scenes are listed and activated by name', async () => {
  const { server, home } = await start({})
  expect((await server.call('list_zwave_devices')).text).toContain('There is 1 scene: Movie Time.')
  expect(await server.call('activate_scene', { sceneName: 'the movie time scene' })).toMatchObject({
    text: 'The scene Movie Time is activated.',
    data: { scene: 'Movie Time', activated: true },
  })
  const done = home.commands.map(({ device, value }) => `${device} ${value}`)
  expect(done).toEqual(['Living Room Light 20', 'Living Room Blinds 0'])
  expect(await server.call('activate_scene', { sceneName: 'party' })).toMatchObject({
    isError: true,
    text: 'There is no scene called "party". The scenes are Movie Time.',
  })
})
