import { describe, expect, it, vi } from 'vitest'
import { fakeHome, fakeNetwork, GATEWAY, NOW, nodesAnswer } from '../../test/support/fake-home.ts'
import type { FakeLink } from '../../test/support/fake-link.ts'
import { VirtualDevice } from '../home/virtual-device.ts'
import { actuatorsOf } from './device.ts'
import { ZwaveNetwork } from './zwave-network.ts'

const LAMP = 'zwave/Lamp/switch_binary/endpoint_0/currentValue'
const lists = (link: FakeLink) => link.published.filter(({ topic }) => topic.includes('/getNodes/'))
const lamp = { name: 'Lamp', values: [{ type: 'switch' as const }] }

describe('how the state of the home comes in', () => {
  it('asks the gateway for its nodes as soon as it shows itself', () => {
    const { link } = fakeNetwork()
    link.connect()
    link.receive(`${GATEWAY}/status`, { value: true }, { retained: true })
    expect(lists(link)).toMatchObject([{ topic: `${GATEWAY}/api/getNodes/set` }])
    expect(JSON.parse(lists(link)[0]?.text ?? '')).toMatchObject({ args: [] })
  })

  it('asks again after a reconnect and when the gateway comes back', () => {
    const { link } = fakeNetwork()
    link.connect()
    link.receive(`${GATEWAY}/status`, { value: true })
    link.lose()
    link.connect()
    link.receive(`${GATEWAY}/status`, { value: false })
    link.receive(`${GATEWAY}/status`, { value: true })
    expect(lists(link)).toHaveLength(3)
  })

  it('asks a configured gateway that stays silent', () => {
    const { link, logger } = fakeNetwork()
    new ZwaveNetwork({ link, logger, prefix: 'zwave', gatewayName: 'test' }).start()
    link.connect()
    expect(lists(link)).toMatchObject([{ topic: `${GATEWAY}/api/getNodes/set` }])
  })

  it('is ready when the list is in, without waiting for silence', async () => {
    const { network, link } = fakeNetwork()
    link.connect()
    link.receive(`${GATEWAY}/status`, { value: true })
    const ready = network.ready()
    link.receive(`${GATEWAY}/api/getNodes`, nodesAnswer([new VirtualDevice(lamp, 2, NOW)]))
    await expect(ready).resolves.toEqual({ ready: true })
    expect(network.devices()).toMatchObject([{ name: 'Lamp', nodeId: 2 }])
  })

  it('is ready from retained topics alone when there is no list', async () => {
    const { network, link } = fakeNetwork()
    link.connect()
    link.receive(LAMP, { time: 5, value: true }, { retained: true })
    await expect(network.ready()).resolves.toEqual({ ready: true })
    expect(network.devices()).toMatchObject([{ name: 'Lamp', values: [{ value: true, time: 5 }] }])
  })

  it('says immediately that the broker is unreachable, and why', async () => {
    const { network, link } = fakeNetwork()
    link.lose('connect ECONNREFUSED 127.0.0.1:1883')
    await expect(network.ready()).resolves.toEqual({
      ready: false,
      cause: 'connect ECONNREFUSED 127.0.0.1:1883',
    })
  })

  it('stops waiting for a first connection that never comes', async () => {
    vi.useFakeTimers()
    const { network } = fakeNetwork()
    const ready = network.ready()
    await vi.advanceTimersByTimeAsync(3_000)
    await expect(ready).resolves.toEqual({ ready: false, cause: 'it has not answered yet' })
    vi.useRealTimers()
  })

  it('gives a live value without a time the current time, and leaves a retained one without', () => {
    const { network, link } = fakeNetwork()
    link.connect()
    link.receive(LAMP, 'true', { retained: true })
    expect(network.devices()[0]?.values[0]).not.toHaveProperty('time')
    link.receive(LAMP, 'false')
    expect(network.devices()[0]?.values[0]).toMatchObject({ value: false, time: NOW })
  })

  it('forgets a value when its retained message is deleted', () => {
    const { network, link } = fakeNetwork()
    link.connect()
    link.receive(LAMP, { time: 5, value: true }, { retained: true })
    link.receive(LAMP, '')
    expect(network.devices()).toEqual([])
  })
})

describe('messages that make no sense', () => {
  it.each([
    [LAMP, 'not json', 'it is not JSON'],
    [LAMP, '{}', 'it has no value'],
    ['zwave/Lamp/status', '[]', 'it has no value'],
    [
      'zwave/Ghost/switch_binary/endpoint_0/currentValue',
      '{"time":1,"value":true}',
      'the gateway lists no such device',
    ],
    ['zwave/Ghost/status', '{"value":true}', 'the gateway lists no such device'],
    [
      `${GATEWAY}/api/getNodes`,
      '{"success":false,"message":"Z-Wave client not connected"}',
      'it is not a list of nodes',
    ],
  ])('logs and ignores %s %s', (topic, payload, reason) => {
    const { network, link, log } = fakeHome([lamp])
    const before = network.devices()
    link.receive(topic, payload)
    expect(network.devices()).toEqual(before)
    expect(log).toContainEqual(
      expect.objectContaining({ level: 'warn', msg: 'ignored a message', topic, payload, reason }),
    )
  })

  it('asks for the list again when an unknown device shows up, but not for each message', () => {
    let now = NOW
    const { link, logger } = fakeNetwork()
    const network = new ZwaveNetwork({ link, logger, prefix: 'zwave', now: () => now })
    network.start()
    link.connect()
    link.receive(`${GATEWAY}/status`, { value: true })
    link.receive(`${GATEWAY}/api/getNodes`, nodesAnswer([]))
    now += 60_000
    link.receive(LAMP, { time: 1, value: true })
    link.receive(LAMP, { time: 2, value: true })
    expect(lists(link)).toHaveLength(2)
    link.receive(`${GATEWAY}/api/getNodes`, nodesAnswer([new VirtualDevice(lamp, 2, NOW)]))
    expect(network.devices()).toMatchObject([{ name: 'Lamp' }])
  })
})

describe('sending a command', () => {
  function command() {
    const home = fakeHome([lamp], { answers: false })
    const [device] = home.network.devices()
    const [actuator] = device ? actuatorsOf(device) : []
    if (!device || !actuator) throw new Error('no lamp')
    const send = (signal?: AbortSignal) =>
      home.network.send({
        device,
        state: actuator.state,
        target: actuator.target,
        value: true,
        accepts: value => value === true,
        timeoutMs: 50,
        signal,
      })
    return { ...home, send }
  }

  it('goes out once, and is confirmed by a live report only', async () => {
    const { link, send } = command()
    link.onPublish = () => {
      link.receive(LAMP, { time: NOW, value: true }, { retained: true })
      link.receive(LAMP, { time: NOW, value: false })
    }
    await expect(send()).resolves.toEqual({ kind: 'timeout', reported: false })
    expect(link.commands).toEqual([
      { topic: 'zwave/Lamp/switch_binary/endpoint_0/targetValue/set', text: 'true' },
    ])
  })

  it('is confirmed by the list if its report has no topic, though another value of the device has one', async () => {
    const { network, link } = fakeNetwork()
    const list = (value: boolean, lastUpdate: number) => {
      const values = { a: { commandClass: 37, endpoint: 0, property: 'currentValue', value, lastUpdate } }
      link.receive(`${GATEWAY}/api/getNodes`, { success: true, result: [{ id: 2, name: 'Lamp', values }] })
    }
    link.connect()
    link.receive(`${GATEWAY}/status`, { value: true })
    list(false, 1)
    link.receive('zwave/Lamp/switch_binary/endpoint_0/targetValue', { time: 2, value: false })
    link.onApi = topic => {
      if (topic.endsWith('/writeValue/set')) list(true, NOW)
    }
    const [device] = network.devices()
    const [actuator] = device ? actuatorsOf(device) : []
    if (!device || !actuator) throw new Error('no lamp')
    const accepts = (value: unknown) => value === true
    await expect(
      network.send({ ...actuator, device, value: true, accepts, timeoutMs: 1_000 }),
    ).resolves.toMatchObject({ kind: 'confirmed' })
  })

  it('for a Window Covering goes to the topic, or with its parameter to the API', async () => {
    const values = {
      a: {
        commandClass: 106,
        endpoint: 0,
        property: 'currentValue',
        propertyKey: 13,
        value: 0,
        lastUpdate: 1,
      },
    }
    const { network, link } = fakeNetwork()
    link.connect()
    link.receive(`${GATEWAY}/status`, { value: true })
    link.receive(`${GATEWAY}/api/getNodes`, { success: true, result: [{ id: 5, name: 'Blinds', values }] })
    const send = async () => {
      const [device] = network.devices()
      const [actuator] = device ? actuatorsOf(device) : []
      if (!device || !actuator) throw new Error('no blinds')
      return network.send({ ...actuator, device, value: 99, accepts: () => false, timeoutMs: 20 })
    }
    await send()
    const written = link.published.find(({ topic }) => topic.endsWith('/writeValue/set'))
    expect(JSON.parse(written?.text ?? '').args).toEqual([
      { nodeId: 5, commandClass: 106, endpoint: 0, property: 'targetValue', propertyKey: 13 },
      99,
    ])
    link.receive('zwave/Blinds/unknownClass_106/endpoint_0/currentValue/13', { time: 2, value: 0 })
    await send()
    expect(link.commands).toEqual([
      { topic: 'zwave/Blinds/unknownClass_106/endpoint_0/targetValue/13/set', text: '99' },
    ])
  })

  it.each([
    ['its node is dead', 'zwave/nodeID_1/status', { value: false, status: 'Dead', nodeId: 1 }],
    ['an event says so', 'zwave/_EVENTS/ZWAVE_GATEWAY-test/controller/status_changed', { data: [1] }],
    [
      'the API says so',
      `${GATEWAY}/api/getNodes`,
      { success: false, message: 'Z-Wave client not connected' },
    ],
  ])('finds the driver not ready when the stick is gone: %s', (_, topic, payload) => {
    const { network, link } = fakeHome([lamp])
    expect(network.gateway.driverReady).toBe(true)
    link.receive(topic, payload)
    expect(network.gateway.driverReady).toBe(false)
    link.receive('zwave/driver/status', 'true')
    expect(network.gateway.driverReady).toBe(true)
  })

  it('is not sent when the broker hangs', async () => {
    const { link, send } = command()
    link.hangs = true
    await expect(send()).resolves.toEqual({ kind: 'not sent', cause: 'the MQTT broker does not answer' })
    expect(link.commands).toEqual([])
  })

  it('is not sent when the connection goes while the broker is asked', async () => {
    const { link, send } = command()
    link.answers = async () => {
      link.lose()
      return true
    }
    await expect(send()).resolves.toMatchObject({ kind: 'not sent' })
    link.connect()
    expect(link.commands).toEqual([])
  })

  it('is not sent when the call was cancelled before', async () => {
    const { link, send } = command()
    await expect(send(AbortSignal.abort())).resolves.toMatchObject({ kind: 'not sent' })
    expect(link.commands).toEqual([])
  })

  it('ends immediately when the connection is lost before the report', async () => {
    const { link, send } = command()
    link.onPublish = () => link.lose()
    await expect(send()).resolves.toEqual({ kind: 'lost' })
  })

  it('closes the connection and ends what waits', async () => {
    const { network, link, send } = command()
    link.onPublish = () => void network.close()
    await expect(send()).resolves.toEqual({ kind: 'lost' })
    expect(link.closed).toBe(true)
  })
})
