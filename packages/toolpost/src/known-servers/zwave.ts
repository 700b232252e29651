import { createRequire } from 'node:module'
import { dirname } from 'node:path'

/*
 * Everything Toolpost knows about the Z-Wave server, and the only place for it. The server knows nothing about Toolpost.
 */

/** The npm package with the server and a virtual home to try it on. */
export const ZWAVE_PACKAGE = 'zwave-mcp-server'

/** The package's folder, if it is installed. */
export function zwavePackage(): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${ZWAVE_PACKAGE}/package.json`))
  } catch {
    return undefined
  }
}

/** Its name in `mcpServers` of the built-in example. */
export const ZWAVE_SERVER = 'zwave'

/** The environment variables that point it to a real home. */
export const ZWAVE_BROKER_VARIABLES = [
  'MQTT_BROKER_URL',
  'MQTT_USERNAME',
  'MQTT_PASSWORD',
  'ZWAVE_MQTT_TOPIC',
]

/** What to check first if it does not start. */
export const ZWAVE_HINT = 'MQTT broker running, zwave-mcp-server installed'

/** Whether a server is this one, judging by its name or command line. */
export function isZwaveServer(words: readonly string[]): boolean {
  return words.some(word => /z-?wave/i.test(word))
}

/** Argument names that no rule can guess: what callers write → what the server expects. */
export const ZWAVE_PARAMETER_NAMES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  control_zwave_device: { device_name: 'deviceName', command: 'action', brightness: 'level' },
  get_device_sensor_data: { device_name: 'deviceName' },
  set_thermostat: { device_name: 'deviceName', target_temperature: 'temperature', setpoint: 'temperature' },
  control_lock: { device_name: 'deviceName', command: 'action' },
  activate_scene: { scene_name: 'sceneName', scene: 'sceneName' },
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
