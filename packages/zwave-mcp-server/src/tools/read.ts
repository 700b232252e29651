import { type Device, fullName, kindOf, type Reading, readingsOf } from '../zwave/device.ts'
import { PROBE_MS } from '../zwave/network.ts'
import { findDevice } from './find-device.ts'
import type { RunTool, ToolContext } from './tool.ts'
import { answer, deviceFields, listWords, refuse, UNKNOWN_GATEWAY, whyNotReady } from './tool.ts'

type AgedReading = ReturnType<typeof withAge>
type Health = Awaited<ReturnType<typeof examine>>

const NOT_LIVE = 'The gateway does not publish these values and did not answer a request for them.'
const MAX_NAMES = 5
const AGES = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const

/** `list_zwave_devices`: the devices, with their kinds and states, and the scenes. */
export const listDevices: RunTool = async ({ filter, includeInactive }, { network }) => {
  const unreachable = await whyNotReady(network)
  // Renames are not published, and callers take device names from this list.
  if (!unreachable) await network.refresh(0)
  const all = network.devices()
  const isLive = all.every(device => network.isLive(device))
  const problem = unreachable ?? (isLive ? undefined : NOT_LIVE)
  if (problem && all.length === 0) return refuse(problem)
  const matching = all.filter(device => matches(device, String(filter ?? '')))
  const devices = includeInactive ? matching : matching.filter(device => device.status !== 'Dead')
  const hiddenInactive = matching.length - devices.length
  const scenes = filter === undefined ? (network.scenes ?? []).map(({ name }) => name) : []
  const text = sentences([
    problem && `${problem} As last known:`,
    devices.length > 0 && `${thereAre(devices.length, 'device')}: ${listWords(devices.map(sayDevice))}.`,
    devices.length === 0 && (filter === undefined ? 'No devices are known.' : 'No device matches.'),
    hiddenInactive > 0 &&
      `${hiddenInactive} inactive ${hiddenInactive === 1 ? 'device is' : 'devices are'} not listed.`,
    all.length === 0 && network.gateway.name === null && UNKNOWN_GATEWAY,
    scenes.length > 0 && `${thereAre(scenes.length, 'scene')}: ${listWords(scenes)}.`,
  ])
  const listed = devices.map(device => {
    const { name, location = null, nodeId = null, status } = device
    return { name, location, nodeId, kind: kindOf(device), status, state: sayStates(device) }
  })
  return answer(text, { devices: listed, hiddenInactive, scenes, live: !problem })
}

/** `get_device_sensor_data`: a device's last values, with unit and age. */
export const sensorData: RunTool = async (args, context) => {
  const { network } = context
  const unreachable = await whyNotReady(network)
  if (unreachable && network.devices().length === 0) return refuse(unreachable)
  const found = await findDevice(network, String(args.deviceName), { partIsEnough: true })
  if (typeof found === 'string') return refuse(unreachable ? `${unreachable} ${found}` : found)
  const { device, endpoint } = found
  const problem = unreachable ?? (network.isLive(device) ? undefined : NOT_LIVE)
  const readings = readingsOf(device)
    .filter(reading => endpoint === undefined || reading.endpoint === endpoint)
    .map(reading => withAge(reading, context))
  const said = readings.map(sayReading).join('; ')
  const text = sentences([
    problem && `${problem} These are the last known values.`,
    said ? `${fullName(device)}: ${said}.` : `${fullName(device)} has no readable values.`,
    device.status === 'Dead' && 'The device is dead: it no longer responds.',
  ])
  return answer(text, { ...deviceFields(device), status: device.status, readings, live: !problem })
}

/** `check_zwave_health`: whether everything between here and the devices works. Never fails; it reports. */
export const checkHealth: RunTool = async (_args, context) => {
  const health = await examine(context)
  return answer(describe(health, context.network.devices()), { ...health })
}

function matches(device: Device, filter: string): boolean {
  const text = `${device.name} ${device.location ?? ''} ${kindOf(device)}`.toLowerCase().replaceAll('_', ' ')
  const words = filter.toLowerCase().split(/[\s_]+/)
  // People say "lights" and "switches" as often as "light".
  return words.every(word =>
    [word, word.replace(/s$/, ''), word.replace(/es$/, '')].some(form => text.includes(form)),
  )
}

function sayDevice(device: Device): string {
  return `${fullName(device)} (${device.status === 'Dead' ? 'dead' : sayStates(device)})`
}

function sayStates(device: Device): string {
  const readings = readingsOf(device)
  if (readings.length === 1) return readings[0]?.text ?? 'unknown'
  return readings.map(({ name, text }) => `${name}: ${text}`).join(', ') || 'unknown'
}

function thereAre(count: number, noun: string): string {
  return count === 1 ? `There is 1 ${noun}` : `There are ${count} ${noun}s`
}

function withAge({ time, ...reading }: Reading, { now, staleMs }: ToolContext) {
  const ageMs = time === null ? null : Math.max(0, now() - time)
  return {
    ...reading,
    time: time === null ? null : new Date(time).toISOString(),
    ageSeconds: ageMs === null ? null : Math.round(ageMs / 100) / 10,
    stale: ageMs === null || ageMs > staleMs,
  }
}

function sayReading({ name, text, value, ageSeconds, stale }: AgedReading): string {
  if (value === null) return `${name} has not been reported yet`
  if (ageSeconds === null) return `${name} is ${text}, at an unknown time`
  return `${name} is ${text}, reported ${sayAge(ageSeconds * 1000)}${stale ? ', so it is stale' : ''}`
}

/** An age as spoken: "just now", "12 seconds ago", "3 hours ago". */
function sayAge(ageMs: number): string {
  const [unit, length] = AGES.find(([, ms]) => ageMs >= ms) ?? ['second', 1_000]
  const count = Math.floor(ageMs / length)
  return ageMs < 2_000 ? 'just now' : `${count} ${unit}${count === 1 ? '' : 's'} ago`
}

async function examine({ network, virtual, now }: ToolContext) {
  const cause = await network.whyNotReady()
  const checks = cause
    ? [false, false]
    : await Promise.all([network.link.answers(PROBE_MS), network.refresh()])
  const [connected, gatewayAnswers] = checks
  const { gateway, lastMessageAt } = network
  const { name, version, driverReady } = gateway
  const devices = network.devices()
  // A gateway that answers is online, even if its status topic is not retained.
  const online = gateway.online ?? (name !== null && gatewayAnswers ? true : null)
  const isKnown = online !== null || devices.length > 0
  const count = (status: Device['status']) => devices.filter(device => device.status === status).length
  const silent = !gatewayAnswers && 'The gateway did not answer a request for its nodes.'
  const problems = [name === null && UNKNOWN_GATEWAY, silent, sayUnfollowed(devices)]
  return {
    healthy: Boolean(connected) && isKnown && online !== false && driverReady !== false,
    virtualHome: virtual,
    broker: { url: network.link.url, connected, cause: connected ? null : (cause ?? 'it does not answer') },
    gateway: { name, online, version },
    driver: { ready: driverReady },
    devices: { total: devices.length, asleep: count('Asleep'), dead: count('Dead') },
    lastMessage: lastMessageAt && {
      time: new Date(lastMessageAt).toISOString(),
      ageSeconds: Math.max(0, Math.round((now() - lastMessageAt) / 100) / 10),
    },
    problems: connected ? problems.filter(problem => typeof problem === 'string') : [],
  }
}

function sayUnfollowed(devices: readonly Device[]): string | false {
  const unfollowed = devices.filter(({ isFollowed }) => !isFollowed)
  if (unfollowed.length === 0) return false
  const names = listWords(unfollowed.slice(0, MAX_NAMES).map(fullName), 'or')
  const whose = unfollowed.length === devices.length ? 'any device' : names
  return (
    `No topics seen for ${whose} (gateway type Manual, or Retain is off): values are requested from the gateway, and ` +
    'commands go through its API. For live updates, use the gateway type Named topics or ValueID topics.'
  )
}

function describe(health: Health, all: readonly Device[]): string {
  const { broker, gateway, driver, devices, lastMessage, virtualHome, problems } = health
  const virtual = virtualHome && 'This is a virtual home: no real devices are connected.'
  if (broker.cause !== null)
    return sentences([`The MQTT broker at ${broker.url} is unreachable: ${broker.cause}.`, virtual])
  const online =
    gateway.online === null
      ? 'no gateway has been seen'
      : `the gateway is ${gateway.online ? 'on' : 'off'}line`
  const ready =
    driver.ready === null ? 'has not reported its status' : driver.ready ? 'is ready' : 'is not ready'
  const dead = all.filter(({ status }) => status === 'Dead').slice(0, MAX_NAMES)
  const known = `${devices.total} ${devices.total === 1 ? 'device is' : 'devices are'} known`
  return sentences([
    `The MQTT broker is connected, ${online}, and the Z-Wave driver ${ready}.`,
    `${known}${devices.dead > 0 ? `, ${devices.dead} of them dead: ${listWords(dead.map(fullName))}` : ''}.`,
    lastMessage
      ? `The last message arrived ${sayAge(lastMessage.ageSeconds * 1000)}.`
      : 'No message has arrived yet.',
    ...problems,
    virtual,
  ])
}

function sentences(all: readonly (string | false | undefined)[]): string {
  return all.filter(Boolean).join(' ')
}
