import { describe, expect, it } from 'vitest'
import { fakeHome, fakeNetwork, GATEWAY, NOW, nodesAnswer } from '../../test/support/fake-home.ts'
import { VirtualDevice } from '../home/virtual-device.ts'
import { ZwaveNetwork } from '../zwave/zwave-network.ts'
import { checkHealth } from './health.ts'

const devices = [
  { name: 'A', values: [{ type: 'switch' as const }] },
  { name: 'B', status: 'Dead' as const, values: [{ type: 'switch' as const }] },
  { name: 'C', status: 'Asleep' as const, values: [{ type: 'switch' as const }] },
]

const check = (home = fakeHome(devices)) => home.call('check_zwave_health', {})

describe('check_zwave_health', () => {
  it('reports broker, gateway, driver, devices and the last message', async () => {
    const home = fakeHome(devices)
    home.link.receive(`${GATEWAY}/version`, { value: '11.3.0' })
    await expect(check(home)).resolves.toEqual({
      isError: false,
      text: 'The MQTT broker is connected, the gateway is online, and the Z-Wave driver is ready. 3 devices are known, 1 of them dead. The last message arrived just now.',
      data: {
        healthy: true,
        virtualHome: false,
        broker: { url: 'mqtt://fake:1883', connected: true, cause: null },
        gateway: { name: 'ZWAVE_GATEWAY-test', online: true, version: '11.3.0' },
        driver: { ready: true },
        devices: { total: 3, asleep: 1, dead: 1 },
        lastMessage: { time: new Date(NOW).toISOString(), ageSeconds: 0 },
        problems: [],
      },
    })
  })

  it.each([
    [`${GATEWAY}/status`, '{"value":false}', 'the gateway is offline'],
    ['zwave/driver/status', 'false', 'the Z-Wave driver is not ready'],
  ])('is not healthy after %s %s', async (topic, payload, words) => {
    const home = fakeHome(devices)
    home.link.receive(topic, payload)
    const { text, data } = await check(home)
    expect(text).toContain(words)
    expect(data.healthy).toBe(false)
  })

  it('reports a broker that is unreachable, or that hangs', async () => {
    const home = fakeHome(devices)
    home.link.hangs = true
    expect(await check(home)).toMatchObject({
      isError: false,
      data: { healthy: false, broker: { cause: 'it does not answer' } },
    })
    home.link.lose('connect ECONNREFUSED')
    const { text, data } = await check(home)
    expect(text).toBe('The MQTT broker at mqtt://fake:1883 is unreachable: connect ECONNREFUSED.')
    expect(data).toMatchObject({
      healthy: false,
      broker: { connected: false, cause: 'connect ECONNREFUSED' },
    })
  })

  it('says what it does not know, and that a home is virtual', async () => {
    const { network, link } = fakeNetwork()
    link.connect()
    const context = { network, confirmTimeoutMs: 50, staleMs: 1, virtual: true, now: () => NOW }
    const { content, structuredContent } = await checkHealth.run({}, context)
    expect(content).toEqual([
      {
        type: 'text',
        text: 'The MQTT broker is connected, no gateway has been seen, and the Z-Wave driver has not reported its status. 0 devices are known. No message has arrived yet. No gateway has been seen: check that Z-Wave JS UI uses this topic prefix, turn on Retain in its MQTT settings, or set ZWAVE_GATEWAY_NAME. This is a virtual home: no real devices are connected.',
      },
    ])
    expect(structuredContent).toMatchObject({
      healthy: false,
      virtualHome: true,
      lastMessage: null,
      gateway: { online: null },
    })
  })

  it('knows that a configured gateway is online if it answers, though it retains nothing', async () => {
    const { link, logger } = fakeNetwork()
    const network = new ZwaveNetwork({ link, logger, prefix: 'zwave', gatewayName: 'test', now: () => NOW })
    const home = devices.map((device, index) => new VirtualDevice(device, index + 2, NOW))
    network.start()
    link.onApi = topic => link.receive(topic.slice(0, -'/set'.length), nodesAnswer(home))
    link.connect()
    const context = { network, confirmTimeoutMs: 50, staleMs: 1, virtual: false, now: () => NOW }
    const { content, structuredContent } = await checkHealth.run({}, context)
    expect(content).toMatchObject([
      { text: expect.stringContaining('connected, the gateway is online, and') },
    ])
    expect(structuredContent).toMatchObject({ healthy: true, gateway: { online: true } })
  })
})
