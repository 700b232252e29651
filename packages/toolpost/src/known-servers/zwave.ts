import { createRequire } from 'node:module'
import { dirname } from 'node:path'

/*
 * Everything Toolpost knows about the Z-Wave server. It knows nothing of us; nothing about it stands anywhere else.
 */

/** The npm package that has the server, and a virtual home to try it on. */
export const ZWAVE_PACKAGE = 'zwave-mcp-server'

/** Its folder, if it is installed. */
export function zwavePackage(): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${ZWAVE_PACKAGE}/package.json`))
  } catch {
    return undefined
  }
}

/** Its name in `mcpServers` of the built-in example. */
export const ZWAVE_SERVER = 'zwave'

/** The environment variables that tell it where a real home is. */
export const ZWAVE_BROKER_VARIABLES = [
  'MQTT_BROKER_URL',
  'MQTT_USERNAME',
  'MQTT_PASSWORD',
  'ZWAVE_MQTT_TOPIC',
]

/** What to check first when it cannot be started. */
export const ZWAVE_HINT = 'MQTT broker running, zwave-mcp-server installed'

/** Whether a server is this one, by its name or its command line. */
export function isZwaveServer(words: readonly string[]): boolean {
  return words.some(word => /z-?wave/i.test(word))
}

/** Argument names that no rule can guess: what callers write → what the server takes. */
export const ZWAVE_PARAMETER_NAMES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  control_zwave_device: { device_name: 'deviceName', command: 'action', brightness: 'level' },
  get_device_sensor_data: { device_name: 'deviceName' },
  set_thermostat: { device_name: 'deviceName', target_temperature: 'temperature', setpoint: 'temperature' },
  control_lock: { device_name: 'deviceName', command: 'action' },
  activate_scene: { scene_name: 'sceneName', scene: 'sceneName' },
}

/** Sentences that call its tools without a model. */
export const ZWAVE_SENTENCES: Readonly<Record<string, readonly string[]>> = {
  control_zwave_device: [
    '(turn|switch|power) {action:on|off} [the|my|a|an] {deviceName}',
    '(turn|switch|power|put) [the|my|a|an] {deviceName} {action:on|off}',
    '(dim|lower|brighten|raise) [the|my|a|an] {deviceName} to {level} {action=dim}',
    '(set|turn|put|bring) [the|my|a|an] [brightness of] [the|my|a|an] {deviceName} [brightness] to {level} {action=dim}',
    '{action:dim} [the|my|a|an] {deviceName} {level}',
    '{action:dim} [the|my|a|an] {deviceName}',
    'open [the|my|a|an] {deviceName} {action=on}',
    '(close|shut) [the|my|a|an] {deviceName} {action=off}',
    '(open|move) [the|my|a|an] {deviceName} to {level} {action=dim}',
    '(activate|enable) [the|my|a|an] {deviceName} {action=on}',
    '(deactivate|disable) [the|my|a|an] {deviceName} {action=off}',
    '[the|my|a|an] {deviceName} {action:on|off}',
    '[the|my|a|an] {deviceName} to {level} {action=dim}',
  ],
  set_thermostat: [
    '(set|turn|put|change|raise|lower) [the|my] (thermostat|heating) to {temperature} [degrees] {deviceName=thermostat}',
    '(set|turn|put|change|raise|lower) [the|my|a|an] {deviceName} thermostat to {temperature}',
    '(set|turn|put|change|raise|lower) [the|my|a|an] {deviceName} to {temperature} degrees',
    '(set|switch|turn|put|change) [the|my|a|an] {deviceName} to {mode:heat|cool|auto|away|dry} [mode]',
  ],
  // Locking alone: whoever shouts through the window must not be let in.
  control_lock: ['lock [the|my|a|an] {deviceName} {action=lock}'],
  activate_scene: [
    '(activate|start|run|set) [the|my] {sceneName} scene',
    '(activate|start|run|set) [the|my] scene {sceneName}',
    '(activate|start|run) [the|my] {sceneName}',
  ],
  get_device_sensor_data: [
    'read [the|my|a|an] {deviceName}',
    'is [the|my|a|an] {deviceName} (on|off|open|closed|dimmed|locked|unlocked)',
    '(what|which) [temperature|mode] is [the|my|a|an] {deviceName} (set to|in|on)',
    'what is [the] (state|status|reading|value) of [the|my|a|an] {deviceName}',
    'what does [the|my|a|an] {deviceName} (say|show|read|report|measure)',
    'what is [the] (temperature|humidity|brightness|level|power) (of|at|on) [the|my|a|an] {deviceName}',
    'how (warm|hot|cold|humid|bright) is [the|my|a|an] {deviceName}',
    '(get|show|tell|give) [me] [the] (state|status|reading|readings|value|values|data) (of|from) [the|my|a|an] {deviceName}',
    'check [the|my|a|an] {deviceName}',
  ],
  list_zwave_devices: [
    '(list|show) [me] [all] [the|my|a|an] [z-wave|zwave|smart] devices',
    '(what|which) [z-wave|zwave|smart] devices (are there|do i have|do you (know|see|have)|can you (control|see))',
    '(what|which) devices are [there] in [the|my|a|an] {filter}',
    '(what|which) {filter} are (on|off|open|closed)',
    '(list|show) [me] [all] [the|my|a|an] {filter} devices',
    '(what|which) (can you|can i) control',
    '(list|show) [me] (all|every) [the|my|a|an] devices (including|with|even) [the] (dead|inactive) [ones] {includeInactive=true}',
  ],
  check_zwave_health: [
    '(is|are) [the|my|a|an] (z-wave|zwave) [network|home|system|devices] (ok|okay|healthy|working|fine|up|connected|alive)',
    'check [the|my|a|an] (z-wave|zwave) [network|health|home|system] [health]',
    '(how is|what is [the] (state|status|health) of) [the|my|a|an] (z-wave|zwave) [network|home|system]',
    '(z-wave|zwave) (health|status)',
    'is [the|my|a|an] (home|network|house) (ok|okay|healthy|working|connected)',
  ],
}

interface Reading {
  name: string
  text: string
  value: unknown
  stale: boolean
}

/**
 * What a thermostat or a lock reports, as one would say it: "Hallway Thermostat is set to 20 °C, in heat mode".
 * `undefined` for other devices and for reports that are old or missing, which the server puts in words itself.
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
