import { setTimeout as delay } from 'node:timers/promises'
import mqtt from 'mqtt'
import { DEFAULT_DEVICES } from 'zwave-mcp-server/home'

/** The example's home, with the rooms that its devices are named after. */
export const HOME = {
  devices: DEFAULT_DEVICES.map(device => ({
    ...device,
    location: device.location ?? /^(Living Room|Hallway) /.exec(device.name)?.[1],
  })),
  scenes: [{ name: 'Movie Time', values: { 'Living Room Light': 20, 'Living Room Blinds': 0 } }],
}

/** Reports of values that can be commanded: `zwave/Demo_Switch/switch_binary/endpoint_0/currentValue`. */
const REPORT =
  /([^/]+)\/(?:(?:switch_binary|switch_multilevel|door_lock)\/endpoint_0\/current(?:Value|Mode)|thermostat_(?:setpoint|mode)\/endpoint_0\/\w+(?:\/1)?)$/
/** The example's devices that can be commanded and answer. */
const DEVICES = [
  'Switch One',
  'Demo Switch',
  'Living Room Light',
  'Living Room Blinds',
  'Hallway Thermostat',
  'Hallway Thermostat mode',
  'Back Door Lock',
]
const SETTLED_MS = 5_000

/** The devices of the home, by their own reports. */
export async function watchHome(url) {
  const client = await mqtt.connectAsync(url)
  const state = new Map()
  const topics = new Map()
  const watchers = new Set()
  client.on('message', (topic, payload) => {
    const device = deviceOf(topic)
    if (!device) return
    topics.set(device, topic)
    state.set(device, JSON.parse(payload.toString()).value)
    for (const watch of watchers) watch()
  })
  await client.subscribeAsync('zwave/#')
  while (!DEVICES.every(name => state.has(name))) await delay(50)
  const atFirst = new Map(DEVICES.map(name => [name, state.get(name)]))

  const differences = (changes = {}) =>
    [...atFirst.keys()].filter(name => !isAsSaid(state.get(name), changes[name] ?? atFirst.get(name)))
  /** Resolves to the time when the home is in its initial state plus `changes`; `undefined` after `limitMs`. */
  const reaches = (changes, limitMs) =>
    new Promise(resolve => {
      const end = at => {
        clearTimeout(timer)
        watchers.delete(watch)
        resolve(at)
      }
      const watch = () => differences(changes).length === 0 && end(performance.now())
      const timer = setTimeout(end, limitMs).unref()
      watchers.add(watch)
      watch()
    })
  return {
    reaches,
    /** The devices that are not in the expected state. */
    differences,
    /** Restores the initial state, plus what is given. */
    async prepare(given = {}) {
      for (const name of differences(given)) {
        const topic = topics.get(name).replace('/current', '/target')
        await client.publishAsync(`${topic}/set`, JSON.stringify(given[name] ?? atFirst.get(name)))
      }
      if ((await reaches(given, SETTLED_MS)) === undefined)
        throw new Error(`the home cannot be prepared: ${differences(given)}`)
    },
    close: () => client.endAsync(),
  }
}

function deviceOf(topic) {
  const name = REPORT.exec(topic)?.[1].replaceAll('_', ' ')
  return name && topic.includes('/thermostat_mode/') ? `${name} mode` : name
}

/** A dimmer that is switched on returns to its last level: `> 0`. */
function isAsSaid(value, expected) {
  const [, sign, limit] = /^([<>]) (\d+)$/.exec(expected) ?? []
  if (sign) return sign === '>' ? value > Number(limit) : value < Number(limit)
  return value === expected
}
