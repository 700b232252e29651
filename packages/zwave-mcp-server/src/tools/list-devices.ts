import { type Device, fullName, kindOf, readingsOf } from '../zwave/device.ts'
import { answer, listWords, notLive, type RunTool, refuse, UNKNOWN_GATEWAY, whyNotReady } from './tool.ts'

/** `list_zwave_devices`: the devices, with their kinds and states, and the scenes. */
export const listDevices: RunTool = async ({ filter, includeInactive }, { network }) => {
  const unreachable = await whyNotReady(network)
  // Renames are not published, and callers take device names from this list.
  if (!unreachable && network.hasList) await network.refresh(0)
  const all = network.devices()
  const problem = unreachable ?? notLive(all.every(device => network.isLive(device)))
  if (problem && all.length === 0) return refuse(problem)
  const matching = all.filter(device => matches(device, String(filter ?? '')))
  const devices = includeInactive ? matching : matching.filter(device => device.status !== 'Dead')
  const hiddenInactive = matching.length - devices.length
  const scenes = filter === undefined ? network.scenes().map(({ name }) => name) : []
  const sentences = [
    problem && `${problem} As last known:`,
    devices.length > 0 && `${thereAre(devices.length, 'device')}: ${listWords(devices.map(sayDevice))}.`,
    devices.length === 0 && (filter === undefined ? 'No devices are known.' : 'No device matches.'),
    hiddenInactive > 0 &&
      `${hiddenInactive} inactive ${hiddenInactive === 1 ? 'device is' : 'devices are'} not listed.`,
    all.length === 0 && network.gateway.name === null && UNKNOWN_GATEWAY,
    scenes.length > 0 && `${thereAre(scenes.length, 'scene')}: ${listWords(scenes)}.`,
  ]
  return answer(sentences.filter(Boolean).join(' '), {
    devices: devices.map(toJson),
    hiddenInactive,
    scenes,
    live: !problem,
  })
}

function matches(device: Device, filter: string): boolean {
  const text = `${device.name} ${device.location ?? ''} ${kindOf(device)}`.toLowerCase().replaceAll('_', ' ')
  const words = filter.toLowerCase().split(/[\s_]+/)
  // People say "lights" and "switches" as often as "light".
  return words.every(word =>
    [word, word.replace(/s$/, ''), word.replace(/es$/, '')].some(form => text.includes(form)),
  )
}

function toJson(device: Device): Record<string, unknown> {
  const { name, location = null, nodeId = null, status } = device
  return { name, location, nodeId, kind: kindOf(device), status, state: sayStates(device) }
}

function sayStates(device: Device): string {
  const readings = readingsOf(device)
  if (readings.length === 1) return readings[0]?.text ?? 'unknown'
  return readings.map(({ name, text }) => `${name}: ${text}`).join(', ') || 'unknown'
}

function sayDevice(device: Device): string {
  return `${fullName(device)} (${device.status === 'Dead' ? 'dead' : sayStates(device)})`
}

function thereAre(count: number, noun: string): string {
  return count === 1 ? `There is 1 ${noun}` : `There are ${count} ${noun}s`
}
