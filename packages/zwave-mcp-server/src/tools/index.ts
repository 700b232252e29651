import type { Tool } from '@modelcontextprotocol/server'
import { closest } from 'fastest-levenshtein'
import { readData } from '../data.ts'
import { activateScene } from './activate-scene.ts'
import { controlDevice } from './control-device.ts'
import { controlLock } from './control-lock.ts'
import { checkHealth } from './health.ts'
import { listDevices } from './list-devices.ts'
import { sensorData } from './sensor-data.ts'
import { setThermostat } from './set-thermostat.ts'
import { type Arguments, listWords, type RunTool } from './tool.ts'

interface Property {
  readonly type: 'string' | 'boolean' | 'number'
  readonly enum?: readonly string[]
  readonly minLength?: number
  readonly minimum?: number
  readonly maximum?: number
}

/** The subset of JSON Schema that the tools use for their arguments. */
interface ArgumentSchema {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, Property>>
  readonly required?: string[]
}

type Definition = Tool & { readonly inputSchema: ArgumentSchema }

/** The definitions a model sees, in listing order. */
export const DEFINITIONS = readData<Definition[]>('tools.json')

export const TOOLS: Readonly<Record<string, RunTool>> = {
  list_zwave_devices: listDevices,
  control_zwave_device: controlDevice,
  get_device_sensor_data: sensorData,
  set_thermostat: setThermostat,
  control_lock: controlLock,
  activate_scene: activateScene,
  check_zwave_health: checkHealth,
}

const TYPE_WORDS = { string: 'a string', boolean: 'true or false', number: 'a number' } as const
const MAX_SHOWN = 60

/** Sentences saying what is wrong with a tool's arguments; undefined if they are valid. */
export function describeMistakes({ name, inputSchema }: Definition, args: Arguments): string | undefined {
  const { properties, required = [] } = inputSchema
  const missing = required.filter(key => args[key] === undefined)
  const sentences = [
    ...missing.map(key => `${name} needs '${key}', ${typeWords(properties[key])}.`),
    ...Object.entries(args).map(([key, value]) => {
      if (value === undefined) return undefined
      if (!Object.hasOwn(properties, key)) return describeUnknown(name, Object.keys(properties), key)
      const demand = properties[key] && unmetDemand(properties[key], value)
      return demand && `'${key}' must be ${demand}, not ${show(value)}.`
    }),
  ]
  return sentences.filter(Boolean).join(' ') || undefined
}

function describeUnknown(tool: string, names: readonly string[], name: string): string {
  if (names.length === 0) return `${tool} takes no arguments; remove ${show(name)}.`
  const folded = (text: string) => text.toLowerCase().replace(/[^a-z]/g, '')
  const near = names.find(known => folded(known) === folded(name)) ?? closest(name, names)
  return `${tool} has no argument ${show(name)}; did you mean '${near}'?`
}

/** A phrase saying what the value should have been; undefined if it is valid. */
function unmetDemand(property: Property, value: unknown): string | undefined {
  const { minimum = -Infinity, maximum = Infinity, minLength = 0 } = property
  if (typeof value === 'string' && property.type === 'string') {
    if (property.enum && !property.enum.includes(value)) return typeWords(property)
    return value.trim().length < minLength ? 'a non-empty string' : undefined
  }
  const isInRange = typeof value !== 'number' || (value >= minimum && value <= maximum)
  return typeof value === property.type && isInRange ? undefined : typeWords(property)
}

function typeWords(property: Property | undefined): string {
  if (!property) return 'a value'
  if (property.enum) return listWords(property.enum, 'or')
  if (property.maximum !== undefined) return `a number from ${property.minimum ?? 0} to ${property.maximum}`
  return TYPE_WORDS[property.type]
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}
