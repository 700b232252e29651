import type { Primitive } from './payload.ts'

/** The command classes this server understands: number in the gateway's API → name here, and in named topics. */
const NAMES: Readonly<Record<number, string>> = {
  37: 'switch_binary',
  38: 'switch_multilevel',
  43: 'scene_activation',
  48: 'sensor_binary',
  49: 'sensor_multilevel',
  50: 'meter',
  64: 'thermostat_mode',
  66: 'thermostat_operating_state',
  67: 'thermostat_setpoint',
  91: 'central_scene',
  98: 'door_lock',
  106: 'window_covering',
  113: 'notification',
  128: 'battery',
}

const NUMBERS = new Map(Object.entries(NAMES).map(([number, name]) => [name, Number(number)]))

/** Z-Wave JS UI 11 has no name for it in its topics. */
const UNNAMED = new Set(['window_covering'])

/** The required types of values that are shown or switched; anything else is a mistake and is ignored. */
const TYPES: Readonly<Record<string, 'number' | 'boolean'>> = {
  'switch_binary/currentValue': 'boolean',
  'switch_multilevel/currentValue': 'number',
  'window_covering/currentValue': 'number',
  'thermostat_mode/mode': 'number',
  'thermostat_setpoint/setpoint': 'number',
  'thermostat_operating_state/state': 'number',
  'door_lock/currentMode': 'number',
  'battery/level': 'number',
}

/** The name of a command class; unknown ones get the gateway's own fallback name. */
export function commandClassName(number: number): string {
  return NAMES[number] ?? `unknownClass_${number}`
}

/** The number of a command class, by its name here or in a topic. */
export function commandClassNumber(name: string): number | undefined {
  const [, number] = /^unknownClass_(\d+)$/.exec(name) ?? []
  return number ? Number(number) : NUMBERS.get(name)
}

/** The command class for its name in a named topic. */
export function classOfTopic(topicName: string): string {
  const number = commandClassNumber(topicName)
  return number === undefined ? topicName : commandClassName(number)
}

export function topicOfClass(name: string): string {
  return UNNAMED.has(name) ? `unknownClass_${commandClassNumber(name)}` : name
}

/** Whether a value has the type that its address requires. */
export function hasRightType(address: { commandClass: string; property: string }, value: Primitive): boolean {
  const type = TYPES[`${address.commandClass}/${address.property}`]
  return type === undefined || typeof value === type
}
