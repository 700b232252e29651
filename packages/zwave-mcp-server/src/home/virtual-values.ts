import { MODES, sayMode } from '../zwave/thermostat.ts'
import type { Drift, VirtualValue } from './virtual-device.ts'

/** As Z-Wave names it, e.g. "Air temperature", "Humidity", "Illuminance", "Power"; "Door/Window" or "Motion". */
interface Measured {
  readonly property: string
}

export type ValueDescription = { readonly endpoint?: number } & (
  | { readonly type: 'switch'; readonly value?: boolean }
  | { readonly type: 'dimmer' | 'cover'; readonly value?: number }
  /** True: locked. */
  | { readonly type: 'lock'; readonly value?: boolean }
  /** `value` is the temperature it aims at. */
  | { readonly type: 'thermostat'; readonly unit?: string; readonly value?: number; readonly mode?: number }
  | ({
      readonly type: 'sensor'
      readonly unit?: string
      readonly value?: number
      readonly drift?: Drift
    } & Measured)
  | ({ readonly type: 'binary'; readonly value?: boolean } & Measured)
)

export const VALUE_TYPES: ReadonlyArray<ValueDescription['type']> = [
  'switch',
  'dimmer',
  'cover',
  'lock',
  'thermostat',
  'sensor',
  'binary',
]

const LOCKED = 255
const HEATING = '1'
const THERMOSTAT_MODES = ['off', 'heat'].map(name => ({ text: name, value: MODES[name] ?? 0 }))

/** The values that a gateway lists for what was described. */
export function makeValues(description: ValueDescription, now: number): VirtualValue[] {
  const { endpoint = 0 } = description
  const common = { endpoint, lastUpdate: now, writeable: false }
  switch (description.type) {
    case 'switch':
      return pair({
        ...common,
        commandClass: 'switch_binary',
        type: 'boolean',
        value: description.value ?? false,
      })
    case 'dimmer':
    case 'cover':
      return pair({
        ...common,
        commandClass: 'switch_multilevel',
        type: 'number',
        value: description.value ?? 0,
      })
    case 'lock':
      return pair(
        {
          ...common,
          commandClass: 'door_lock',
          type: 'number',
          value: (description.value ?? true) ? LOCKED : 0,
        },
        'Mode',
      )
    case 'thermostat':
      return thermostat(description, common)
    case 'sensor': {
      const { property, value, unit, drift } = description
      const sensor = {
        ...common,
        commandClass: 'sensor_multilevel',
        type: 'number' as const,
        property,
        value,
      }
      return [{ ...sensor, ...(unit && { unit }), ...(drift && { drift }) }]
    }
    case 'binary': {
      const { property, value = false } = description
      return [{ ...common, commandClass: 'sensor_binary', type: 'boolean', property, value }]
    }
  }
}

function pair(value: Omit<VirtualValue, 'property'>, what = 'Value'): VirtualValue[] {
  return [
    { ...value, property: `current${what}` },
    { ...value, property: `target${what}`, writeable: true },
  ]
}

function thermostat(
  { value = 20, unit = '°C', mode = MODES.heat ?? 1 }: ValueDescription & { type: 'thermostat' },
  common: Pick<VirtualValue, 'endpoint' | 'lastUpdate'>,
): VirtualValue[] {
  const [min, max] = /F/.test(unit) ? [45, 90] : [7, 32]
  const states = THERMOSTAT_MODES.some(item => item.value === mode)
    ? THERMOSTAT_MODES
    : [...THERMOSTAT_MODES, { text: sayMode(mode), value: mode }]
  const setpoint = { commandClass: 'thermostat_setpoint', property: 'setpoint', key: HEATING, unit, min, max }
  return [
    { ...common, ...setpoint, type: 'number', value, writeable: true },
    {
      ...common,
      commandClass: 'thermostat_mode',
      property: 'mode',
      type: 'number',
      value: mode,
      writeable: true,
      states,
    },
  ]
}
