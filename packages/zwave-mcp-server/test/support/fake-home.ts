import { type DeviceDescription, VirtualDevice } from '../../src/home/virtual-device.ts'
import { createLogger, type LogLevel } from '../../src/log.ts'
import { callTool } from '../../src/server.ts'
import type { Arguments, ToolContext } from '../../src/tools/tool.ts'
import { ZwaveNetwork } from '../../src/zwave/network.ts'
import { parseJson } from '../../src/zwave/values.ts'
import { FakeLink } from './fake-link.ts'
import { toAnswer } from './server.ts'

export const GATEWAY = 'zwave/_CLIENTS/ZWAVE_GATEWAY-test'
export const NOW = Date.UTC(2030, 0, 1, 12)

/** A network over a fake broker, with a clock that stands still. */
export function fakeNetwork({ level = 'trace' }: { level?: LogLevel } = {}) {
  const link = new FakeLink()
  const log: Array<Record<string, unknown>> = []
  const logger = createLogger(level, line => log.push(JSON.parse(line)))
  const network = new ZwaveNetwork({ link, prefix: 'zwave', logger, now: () => NOW })
  network.start()
  return { link, network, log, logger }
}

/** The same, with these devices listed by the gateway. What is sent to a device is reported back at once. */
export function fakeHome(descriptions: readonly DeviceDescription[], { answers = true } = {}) {
  const home = fakeNetwork()
  const { link } = home
  const devices = descriptions.map(
    (description, index) => new VirtualDevice(description, index + 2, NOW - 1_000),
  )
  link.connect()
  link.receive(`${GATEWAY}/status`, { value: true, time: NOW })
  link.receive('zwave/driver/status', 'true')
  link.receive(`${GATEWAY}/api/getNodes`, nodesAnswer(devices))
  for (const device of devices)
    for (const value of device.values) {
      const payload = { time: value.lastUpdate, value: value.value }
      link.receive(`zwave/${device.topicOf(value, 'named')}`, payload, { retained: true })
    }
  link.onPublish = (topic, text) => {
    if (answers) report(link, topic.slice(0, -'/set'.length), parseJson(text))
  }
  link.onApi = topic => {
    if (topic === `${GATEWAY}/api/getNodes/set`)
      link.receive(topic.slice(0, -'/set'.length), nodesAnswer(devices))
  }
  const context: ToolContext = {
    ...home,
    confirmTimeoutMs: 50,
    staleMs: 300_000,
    virtual: false,
    now: () => NOW,
  }
  const call = async (tool: string, args: Arguments) =>
    toAnswer(await callTool(tool, args, { ...home, context }))
  return { ...home, call }
}

function report(link: FakeLink, topic: string, wanted: unknown): void {
  const value = wanted === 255 && topic.includes('multilevel') ? 99 : wanted
  link.receive(topic, { time: NOW, value })
  if (topic.includes('/target')) link.receive(topic.replace('/target', '/current'), { time: NOW, value })
}

export function nodesAnswer(devices: readonly VirtualDevice[]): Record<string, unknown> {
  return { success: true, message: 'Success zwave api call', result: devices.map(device => device.toNode()) }
}
