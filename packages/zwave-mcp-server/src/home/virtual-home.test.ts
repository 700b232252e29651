import { connectAsync, type MqttClient } from 'mqtt'
import { describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../test/support/eventually.ts'
import { startHome } from './index.ts'
import type { VirtualHomeOptions } from './virtual-home.ts'

/** A home, and a client that has seen all its retained topics. */
async function startWatched(options: Partial<VirtualHomeOptions> = {}) {
  const { url, home, close } = await startHome({ delayMs: 0, ...options })
  const client = await connectAsync(url)
  onTestFinished(async () => {
    await client.endAsync(true)
    await close()
  })
  const seen = new Map<string, { json: unknown; retained: boolean }>()
  client.on('message', (topic, payload, { retain }) =>
    seen.set(topic, { json: JSON.parse(payload.toString()), retained: retain }),
  )
  await client.subscribeAsync('zwave/#')
  // aedes sends retained messages after live ones that came later: so all of them first.
  const values = home.devices.reduce((sum, device) => sum + device.values.length + 2, 0)
  await eventually(() => seen.size).toBe(values + 3)
  const see = (topic: string) => eventually(() => seen.get(`zwave/${topic}`)?.json)
  return { home, client, seen, see }
}

const api = 'zwave/_CLIENTS/ZWAVE_GATEWAY-virtual-home/api/getNodes'

async function getNodes(client: MqttClient, see: (topic: string) => ReturnType<typeof eventually>) {
  await client.publishAsync(`${api}/set`, '{"args":[]}')
  return see(api.slice('zwave/'.length))
}

describe('the virtual home', () => {
  it('publishes the topics and payloads of Z-Wave JS UI', async () => {
    const { see, seen } = await startWatched()
    expect([...seen.values()].every(({ retained }) => retained)).toBe(true)
    await see('driver/status').toBe(true)
    await see('Switch_One/switch_binary/endpoint_0/currentValue').toEqual({
      time: expect.any(Number),
      value: false,
    })
    await see('Living_Room_Light/switch_multilevel/endpoint_0/targetValue').toEqual({
      time: expect.any(Number),
      value: 0,
    })
    await see('Temp_Sensor_1/sensor_multilevel/endpoint_0/Air_temperature').toMatchObject({ value: 21.5 })
    await see('Front_Door_Sensor/sensor_binary/endpoint_0/Door-Window').toMatchObject({ value: false })
    await see('Garage/Garage_Heater/status').toEqual({
      time: expect.any(Number),
      value: false,
      status: 'Dead',
      nodeId: 8,
    })
    await see('_CLIENTS/ZWAVE_GATEWAY-virtual-home/status').toMatchObject({ value: true })
  })

  it('lists its nodes as the API does, controller included', async () => {
    const { client, see } = await startWatched()
    const answer = await getNodes(client, see)
    await answer.toMatchObject({ success: true, origin: { args: [] } })
    await answer.toHaveProperty('result.0', expect.objectContaining({ id: 1, isControllerNode: true }))
    await answer.toHaveProperty(
      'result.1',
      expect.objectContaining({ id: 2, name: 'Switch One', loc: '', status: 'Alive' }),
    )
    await answer.toHaveProperty(
      ['result', '4', 'values', '49-0-Air temperature'],
      expect.objectContaining({ unit: '°C', commandClass: 49 }),
    )
  })

  it.each(['targetValue', 'currentValue'])('acts on a command to %s, and reports both', async property => {
    const { home, client, see } = await startWatched()
    await client.publishAsync(`zwave/Switch_One/switch_binary/endpoint_0/${property}/set`, '"on"')
    await see('Switch_One/switch_binary/endpoint_0/targetValue').toMatchObject({ value: true })
    await see('Switch_One/switch_binary/endpoint_0/currentValue').toMatchObject({ value: true })
    expect(home.commands).toMatchObject([{ device: 'Switch One', endpoint: 0, value: true }])
  })

  it('restores the last level of a dimmer', async () => {
    const { client, see } = await startWatched()
    const light = 'Living_Room_Light/switch_multilevel/endpoint_0'
    for (const [sent, level] of [
      ['255', 99],
      ['30', 30],
      ['0', 0],
      ['true', 30],
      ['500', 99],
    ] as const) {
      await client.publishAsync(`zwave/${light}/targetValue/set`, sent)
      await see(`${light}/currentValue`).toMatchObject({ value: level })
    }
  })

  it('counts commands to a dead or silent device, and reports nothing', async () => {
    const { home, client, see, seen } = await startWatched()
    await client.publishAsync('zwave/Garage/Garage_Heater/switch_binary/endpoint_0/targetValue/set', 'true')
    await client.publishAsync('zwave/Outside/Porch_Light/switch_binary/endpoint_0/targetValue/set', 'true')
    await client.publishAsync('zwave/Switch_One/switch_binary/endpoint_0/targetValue/set', 'true')
    await see('Switch_One/switch_binary/endpoint_0/currentValue').toMatchObject({ value: true })
    expect(home.commands).toHaveLength(3)
    expect(seen.get('zwave/Outside/Porch_Light/switch_binary/endpoint_0/currentValue')?.json).toMatchObject({
      value: false,
    })
  })

  it('lets its sensors drift', async () => {
    const drift = { step: 1, min: 0, max: 100, everyMs: 5 }
    const { see } = await startWatched({
      devices: [{ name: 'T', values: [{ type: 'sensor', property: 'Power', value: 5, drift }] }],
    })
    await see('T/sensor_multilevel/endpoint_0/Power').not.toMatchObject({ value: 5 })
  })

  it('goes offline when it stops', async () => {
    const { home, see } = await startWatched()
    await home.stop()
    await see('driver/status').toBe(false)
    await see('_CLIENTS/ZWAVE_GATEWAY-virtual-home/status').toMatchObject({ value: false })
  })

  it('refuses unknown names', async () => {
    const { home } = await startWatched()
    await expect(home.set('Nobody', true)).rejects.toThrow('no device called Nobody')
    await expect(home.set('Switch One', true, { property: 'x' })).rejects.toThrow('no such value')
  })
})
