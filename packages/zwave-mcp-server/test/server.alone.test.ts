import { describe, expect, it } from 'vitest'
import type { VirtualHomeOptions } from '../src/home/virtual-home.ts'
import { aedesBroker, hasMosquitto, mosquittoBroker, type TestBroker } from './support/brokers.ts'
import { eventually } from './support/eventually.ts'
import { gateTo } from './support/gate.ts'
import { startTestHome } from './support/homes.ts'
import { startTools } from './support/server.ts'

const BROKERS = [
  { kind: 'aedes', isThere: true, startBroker: aedesBroker },
  { kind: 'mosquitto', isThere: hasMosquitto, startBroker: mosquittoBroker },
]

const on = (deviceName: string) => ({ deviceName, action: 'on' })

interface StartOptions extends Partial<VirtualHomeOptions> {
  startBroker?: () => Promise<TestBroker>
  /** Short only if a test waits for it: a busy machine takes its time. */
  confirmMs?: number
}

async function start({ confirmMs = 5_000, startBroker = aedesBroker, ...options }: StartOptions = {}) {
  const broker = await startBroker()
  const home = await startTestHome({ brokerUrl: broker.url, ...options })
  const gate = await gateTo(broker.url)
  const env = { MQTT_BROKER_URL: gate.url, ZWAVE_CONFIRM_TIMEOUT_MS: String(confirmMs) }
  return { broker, home, gate, server: startTools(env), env }
}

describe('the server', () => {
  it('finds devices with blanks, locations, marks and several endpoints', async () => {
    const one = { type: 'switch', endpoint: 1 } as const
    const { server, home } = await start({
      devices: [
        { name: "Bob's Lamp", location: 'First Floor', values: [{ type: 'switch' }] },
        { values: [{ type: 'switch' }] },
        { name: 'Double', values: [one, { type: 'dimmer', endpoint: 2 }] },
      ],
    })
    const dim = { deviceName: 'Double endpoint 2', action: 'dim', level: 7 }
    for (const args of [on('first floor bobs lamp'), on('node 3'), on('double 1'), dim])
      expect((await server.call('control_zwave_device', args)).data).toMatchObject({ confirmed: true })
    const switched = home.commands.map(({ device, endpoint }) => `${device}/${endpoint}`)
    expect(switched).toEqual(["Bob's Lamp/0", '/0', 'Double/1', 'Double/2'])
  })

  it('knows that the gateway crashed, from its last will', async () => {
    const { server, home } = await start()
    home.crash()
    await server.callUntil('check_zwave_health', {}, ({ data }) => data?.healthy === false)
    expect((await server.call('control_zwave_device', on('switch one'))).text).toContain('gateway is offline')
  })

  it('knows the home from its retained topics alone when no gateway answers', async () => {
    const { home, env } = await start()
    await home.set('Living Room Light', 40)
    home.crash()
    const server = startTools(env)
    const { text } = await server.call('list_zwave_devices')
    expect(text).toContain(
      'Living Room Blinds (on), Living Room Light (dimmed to 40 %), Porch Light (Outside) (off), Switch One (off) and Temp Sensor 1 (21.5 °C)',
    )
    expect((await server.call('control_zwave_device', on('switch one'))).text).toBe(
      'The Z-Wave gateway is offline, so nothing was sent.',
    )
  })

  it('says that the outcome is unknown when the connection is lost under a command', async () => {
    const { server, home, gate } = await start({ delayMs: 60_000, confirmMs: 60_000 })
    const answer = server.call('control_zwave_device', on('Switch One'))
    await eventually(() => home.commands.length).toBe(1)
    gate.shut()
    expect((await answer).text).toContain('the connection to the broker was lost before it confirmed')
    gate.open()
    await server.callUntil('check_zwave_health', {}, ({ data }) => data?.healthy === true)
    expect(home.commands).toHaveLength(1)
  })
})

describe.each(BROKERS)('the server on $kind', ({ isThere, startBroker }) => {
  const test = it.runIf(isThere)

  test('[F39] fails at once while the broker is gone, and sends nothing late or twice when it is back', async () => {
    const { server, home, broker } = await start({ startBroker })
    await server.call('control_zwave_device', on('Switch One'))
    await server.callUntil('list_zwave_devices', {}, ({ text }) => text.includes('There are 10 devices'))
    await broker.stop()
    await server.callUntil('check_zwave_health', {}, ({ data }) => data?.healthy === false)
    const refused = await server.call('control_zwave_device', on('Demo Switch'))
    expect(refused).toMatchObject({ isError: true })
    expect(refused.text).toMatch(/unreachable: .* Nothing was sent\.$/)
    expect((await server.call('list_zwave_devices')).text).toContain('As last known: There are 10 devices')
    await broker.start()
    await server.callUntil('check_zwave_health', {}, ({ data }) => data?.healthy === true)
    const { data } = await server.call('control_zwave_device', on('Living Room Light'))
    expect(data).toMatchObject({ confirmed: true })
    expect(home.commands.map(({ device }) => device)).toEqual(['Switch One', 'Living Room Light'])
  })

  test('has the retained state after a reconnect, of what changed meanwhile too', async () => {
    const { server, home, gate } = await start({ startBroker })
    const read = (deviceName: string) => server.call('get_device_sensor_data', { deviceName })
    expect((await read('Front Door Sensor')).text).toContain('closed')
    gate.shut()
    await server.callUntil('check_zwave_health', {}, ({ data }) => data?.healthy === false)
    await home.set('Front Door Sensor', true)
    expect((await read('Front Door Sensor')).text).toMatch(/unreachable.*last known values.*closed/)
    gate.open()
    await server.callUntil('check_zwave_health', {}, ({ data }) => data?.healthy === true)
    expect(await read('Front Door Sensor')).toMatchObject({
      data: { live: true, readings: [{ text: 'open' }] },
    })
  })
})

it.runIf(hasMosquitto)('sends nothing to a broker that hangs, not even when it wakes up', async () => {
  const broker = await mosquittoBroker()
  const home = await startTestHome({ brokerUrl: broker.url })
  const server = startTools({ MQTT_BROKER_URL: broker.url })
  await server.call('list_zwave_devices')
  process.kill(broker.pid(), 'SIGSTOP')
  const refused = await server.call('control_zwave_device', on('Switch One'))
  expect(refused).toMatchObject({
    isError: true,
    text: 'Nothing was sent to Switch One: the MQTT broker does not answer.',
  })
  process.kill(broker.pid(), 'SIGCONT')
  const { data } = await server.call('control_zwave_device', on('Demo Switch'))
  expect(data).toMatchObject({ confirmed: true })
  expect(home.commands.map(({ device }) => device)).toEqual(['Demo Switch'])
})
