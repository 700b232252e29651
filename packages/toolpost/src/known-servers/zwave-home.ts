/*
 * Reads the Z-Wave server's list of a home.
 */

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
