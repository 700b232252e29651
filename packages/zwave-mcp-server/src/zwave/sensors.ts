import type { DeviceValue } from './device.ts'
import type { Primitive } from './payload.ts'
import { sayActivity, sayMode, setpointName } from './thermostat.ts'

/** How the values of a sensor command class are reported. */
export interface Sensor {
  /** The only property to report; default: all. */
  readonly property?: string
  /** Which values to report; default: all. */
  readonly tells?: (value: DeviceValue) => boolean
  readonly name: (value: DeviceValue) => string
  /** Phrases a value. By default it is a measurement with a unit. */
  readonly say?: (reported: Primitive, value: DeviceValue) => string
}

/** What `true` and `false` mean for a binary sensor. */
const BINARY_WORDS: ReadonlyArray<readonly [RegExp, string, string]> = [
  [/door|window/i, 'open', 'closed'],
  [/motion/i, 'motion detected', 'no motion'],
  [/water|leak/i, 'water detected', 'dry'],
  [/smoke/i, 'smoke detected', 'no smoke'],
  [/tamper/i, 'tampered with', 'not tampered with'],
  [/^/, 'active', 'inactive'],
]

/** Units are not part of topics; if the gateway lists its nodes, its own units win. */
const USUAL_UNITS: ReadonlyArray<readonly [RegExp, string]> = [
  [/temperature|setpoint/i, '°C'],
  [/humidity|battery/i, '%'],
  [/illuminance|luminance/i, 'lx'],
  [/^energy$/i, 'kWh'],
  [/^power$/i, 'W'],
  [/^voltage$/i, 'V'],
  [/^current$/i, 'A'],
]

/** Electric meters identify their values by a number: meter type, scale and rate type. */
const METERS = new Map([
  ['65537', 'energy'],
  ['66049', 'power'],
  ['66561', 'voltage'],
  ['66817', 'current'],
])

/** Notifications that are states of a door, a window or a room, by value. */
const NOTIFICATION_STATES = new Map<string, Readonly<Record<number, string>>>([
  ['Door_state', { 22: 'open', 23: 'closed' }],
  ['Window_state', { 22: 'open', 23: 'closed' }],
  ['Motion_sensor_status', { 0: 'no motion', 7: 'motion detected', 8: 'motion detected' }],
])

/** Button events of a scene controller. */
const KEY_PRESSES = [
  'pressed once',
  'released',
  'held down',
  'pressed twice',
  'pressed 3 times',
  'pressed 4 times',
]

export const SENSORS: Readonly<Record<string, Sensor>> = {
  sensor_multilevel: { name: words },
  sensor_binary: {
    name: value => (value.property === 'Any' ? 'sensor' : words(value)),
    say: (reported, { property }) => {
      const [, on, off] = BINARY_WORDS.find(([pattern]) => pattern.test(property)) ?? []
      return String(reported ? on : off)
    },
  },
  meter: { property: 'value', name: value => METERS.get(value.key ?? '') ?? words(value) },
  notification: {
    tells: value => statesOf(value) !== undefined && typeof value.value !== 'boolean',
    name: ({ key, property }) => words({ property: key ?? property }),
    say: (reported, value) => statesOf(value)?.[Number(reported)] ?? String(reported),
  },
  battery: { property: 'level', name: () => 'battery' },
  central_scene: {
    property: 'scene',
    name: ({ key }) => `button ${Number(key)}`,
    say: press => KEY_PRESSES[Number(press)] ?? `pressed (${Number(press)})`,
  },
  scene_activation: { property: 'sceneId', name: () => 'scene', say: id => String(Number(id)) },
  thermostat_setpoint: { property: 'setpoint', name: setpointName },
  thermostat_mode: { property: 'mode', name: () => 'mode', say: mode => sayMode(Number(mode)) },
  thermostat_operating_state: {
    property: 'state',
    name: () => 'activity',
    say: state => sayActivity(Number(state)),
  },
}

export function isTold({ property, tells }: Sensor, value: DeviceValue): boolean {
  return (property === undefined || property === value.property) && (tells === undefined || tells(value))
}

export function usualUnit(name: string): string | null {
  return USUAL_UNITS.find(([pattern]) => pattern.test(name))?.[1] ?? null
}

function statesOf({ key = '' }: DeviceValue): Readonly<Record<number, string>> | undefined {
  return NOTIFICATION_STATES.get(key.replaceAll(' ', '_'))
}

function words({ property }: Pick<DeviceValue, 'property'>): string {
  return property.replaceAll('_', ' ').replaceAll('-', '/').toLowerCase()
}
