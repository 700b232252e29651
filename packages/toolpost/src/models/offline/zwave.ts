import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../runtime/package-root.ts'

/*
 * What people say to a Z-Wave home, and how its answers are read. The sentences are data: data/zwave-sentences.json, in the
 * grammar of template.ts. Their lists are devices by what they can do: `devices` (all), `switchable`, `dimmable`, `levelled`
 * (dimmers and blinds), `covers`, `locks`, `thermostats`, `sensors`; and `scenes`, `rooms`. `just_named` and similar lists are
 * the devices mentioned last. Locks can be locked only: nobody may get in by shouting through the window.
 */

/**
 * Sentences of a tool, by meaning: `call` calls it with the values they contain. Those marked `typed` are too short or too
 * similar to others to be recognised in speech.
 */
export type SentencesByMeaning = Readonly<Record<string, readonly string[]>>

interface ZwaveSentences {
  /** By tool; usable even before the devices are known, when a name is any few words. */
  sentences: Readonly<Record<string, readonly string[]>>
  /** By tool; usable only once the devices are known. For the meaning of `step`, `check` and the others, see home/. */
  homeSentences: Readonly<Record<string, SentencesByMeaning>>
  /** Rules that the sentences refer to. */
  rules: Readonly<Record<string, string>>
  /** What can be said to a device of each kind, `…` being its name. */
  examples: Readonly<Record<string, readonly string[]>>
  /** The states that a question may ask about, and how people say them. */
  states: Readonly<Record<string, readonly string[]>>
}

export const ZWAVE: ZwaveSentences = JSON.parse(
  readFileSync(join(packageRoot(), 'data', 'zwave-sentences.json'), 'utf8'),
)

/** The tool that lists the home, and the arguments that make it list everything. */
export const ZWAVE_LIST = { tool: 'list_zwave_devices', args: { includeInactive: true } } as const

interface ListedDevice {
  name: string
  location: string | undefined
  kind: string | undefined
  state: string | undefined
  isDead: boolean
}

/** The devices and scenes of a list; `undefined` if the result is not a list. */
export function readZwaveList(result: unknown): { devices: ListedDevice[]; scenes: string[] } | undefined {
  const { devices, scenes } = Object(result) as { devices?: unknown; scenes?: unknown }
  if (!Array.isArray(devices)) return undefined
  return {
    devices: devices.flatMap(readDevice),
    scenes: Array.isArray(scenes) ? scenes.filter(scene => typeof scene === 'string') : [],
  }
}

function readDevice(listed: unknown): ListedDevice[] {
  const { name, location, kind, state, status } = Object(listed) as Record<string, unknown>
  if (typeof name !== 'string' || name.trim() === '') return []
  return [{ name, location: text(location), kind: text(kind), state: text(state), isDead: status === 'Dead' }]
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

interface Reading {
  name: string
  text: string
  value: unknown
  stale: boolean
}

/**
 * The state of a thermostat or a lock as a spoken sentence: "Hallway Thermostat is set to 20 °C, in heat mode".
 * `undefined` for other devices, and for stale or missing readings, which the server phrases itself.
 */
export function sayReadings(result: unknown): string | undefined {
  const { device, readings, live } = Object(result) as {
    device?: string
    readings?: Reading[]
    live?: boolean
  }
  if (!live || !Array.isArray(readings) || readings.some(({ value, stale }) => stale || value === null))
    return undefined
  const setpoints = readings.filter(({ name }) => name.endsWith(' setpoint'))
  const said = readings.map(reading => {
    const { name, text } = reading
    if (name === 'lock') return text
    if (name === 'mode') return text === 'off' ? 'off' : `in ${text} mode`
    if (!setpoints.includes(reading)) return undefined
    return `set to ${text}${setpoints.length > 1 ? ` for ${name.replace(' setpoint', '')}` : ''}`
  })
  return said.length > 0 && !said.includes(undefined) ? `${device} is ${said.join(', ')}` : undefined
}
