import { LOCKED, UNLOCKED } from '../zwave/levels.ts'
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
  /** `value` is the target temperature. */
  | { readonly type: 'thermostat'; readonly unit?: string; readonly value?: number; readonly mode?: number }
  | ({
      readonly type: 'sensor'
      readonly unit?: string
      readonly value?: number
      readonly drift?: Drift
    } & Measured)
  | ({ readonly type: 'binary'; readonly value?: boolean } & Measured)
)

const HEATING = '1'
const THERMOSTAT_MODES = ['off', 'heat'].map(name => ({ text: name, value: MODES[name] ?? 0 }))

type Common = Pick<VirtualValue, 'endpoint' | 'lastUpdate' | 'writeable'>

/** The values that a gateway lists for a description. */
export function makeValues(description: ValueDescription, now: number): VirtualValue[] {
  const { endpoint = 0 } = description
  const common: Common = { endpoint, lastUpdate: now, writeable: false }
  switch (description.type) {
    case 'switch':
      return pair({ ...common, commandClass: 'switch_binary', value: description.value ?? false })
    case 'dimmer':
    case 'cover':
      return pair({ ...common, commandClass: 'switch_multilevel', value: description.value ?? 0 })
    case 'lock': {
      const value = (description.value ?? true) ? LOCKED : UNLOCKED
      return pair({ ...common, commandClass: 'door_lock', value }, 'Mode')
    }
    case 'thermostat':
      return thermostat(description, common)
    case 'sensor': {
      const { type: _, value, ...sensor } = description
      return [{ ...common, ...sensor, commandClass: 'sensor_multilevel', type: 'number', value }]
    }
    case 'binary': {
      const { property, value = false } = description
      return [{ ...common, commandClass: 'sensor_binary', type: 'boolean', property, value }]
    }
  }
}

/** The current value and its target. */
function pair(
  described: Common & { commandClass: string; value: boolean | number },
  what = 'Value',
): VirtualValue[] {
  const value = { ...described, type: typeof described.value === 'boolean' ? 'boolean' : 'number' } as const
  return [
    { ...value, property: `current${what}` },
    { ...value, property: `target${what}`, writeable: true },
  ]
}

function thermostat(
  { value = 20, unit = '°C', mode = MODES.heat ?? 1 }: ValueDescription & { type: 'thermostat' },
  common: Common,
): VirtualValue[] {
  const [min, max] = /F/.test(unit) ? [45, 90] : [7, 32]
  const states = THERMOSTAT_MODES.some(item => item.value === mode)
    ? THERMOSTAT_MODES
    : [...THERMOSTAT_MODES, { text: sayMode(mode), value: mode }]
  const settable = { ...common, type: 'number', writeable: true } as const
  const setpoint = { commandClass: 'thermostat_setpoint', property: 'setpoint', key: HEATING, unit, min, max }
  return [
    { ...settable, ...setpoint, value },
    { ...settable, commandClass: 'thermostat_mode', property: 'mode', value: mode, states },
  ]
}
