import { ToolExecutor } from '../src/executor/executor.ts'
import { OfflineClient, type OfflineClientOptions } from '../src/models/offline/offline-client.ts'
import { localTools } from '../src/tools/local-tools.ts'
import { defineTool, type Tool } from '../src/tools/tool.ts'
import { ToolManager } from '../src/tools/tool-manager.ts'

/** A device of the household: name, location, kind, state. Levels are numbers. */
export interface HouseholdDevice {
  name: string
  location?: string
  kind: 'switch' | 'dimmer' | 'cover' | 'lock' | 'thermostat' | 'sensor'
  value: boolean | number | string
  unit?: string
  /** What a sensor measures. */
  measures?: string
  isDead?: boolean
  /** Its state is not known yet. */
  isUnread?: boolean
}

const text = { type: 'string', minLength: 1 }
const SCHEMAS: Record<string, object> = {
  control_zwave_device: {
    deviceName: text,
    action: { type: 'string', enum: ['on', 'off', 'dim'] },
    level: { type: 'number', minimum: 0, maximum: 100 },
  },
  get_device_sensor_data: { deviceName: text },
  set_thermostat: {
    deviceName: text,
    temperature: { type: 'number' },
    mode: { type: 'string', enum: ['off', 'heat', 'cool', 'auto'] },
  },
  control_lock: { deviceName: text, action: { type: 'string', enum: ['lock', 'unlock'] } },
  activate_scene: { sceneName: text },
  check_zwave_health: {},
  list_zwave_devices: { filter: { type: 'string' }, includeInactive: { type: 'boolean' } },
}
const READS = new Set(['get_device_sensor_data', 'check_zwave_health', 'list_zwave_devices'])

type Args = {
  deviceName?: string
  action?: string
  level?: number
  temperature?: number
  mode?: string
  includeInactive?: boolean
}

/** Tools that answer as those of the Z-Wave server and of this machine do, for a home that is a table. */
export function household(
  devices: readonly HouseholdDevice[],
  { scenes = [], tools = [], ...options }: { scenes?: string[]; tools?: Tool[] } & OfflineClientOptions = {},
) {
  const calls: string[] = []
  const state = new Map(devices.map(device => [device, device.value]))
  let volume = 40
  const run: Record<string, (args: Args) => unknown> = {
    control_zwave_device: args => {
      const device = find(devices, args)
      const value = args.action === 'dim' ? Number(args.level) : args.action === 'on'
      state.set(device, device.kind === 'switch' ? args.action === 'on' : value)
      return {
        device: device.name,
        confirmed: true,
        state: args.action === 'dim' ? `dimmed to ${args.level} %` : args.action,
      }
    },
    get_device_sensor_data: args => {
      const device = find(devices, args)
      return { device: device.name, live: true, readings: [reading(device, state.get(device) ?? '')] }
    },
    set_thermostat: args => {
      const device = find(devices, args)
      if (args.temperature !== undefined) state.set(device, args.temperature)
      return `${device.name} is set to ${args.temperature ?? args.mode}.`
    },
    control_lock: args => `${find(devices, args).name} is locked.`,
    activate_scene: () => 'The scene is activated.',
    check_zwave_health: () => 'All is well.',
    list_zwave_devices: args => ({
      devices: devices
        .filter(({ isDead }) => args.includeInactive || !isDead)
        .map(device => ({
          name: device.name,
          location: device.location ?? null,
          kind: device.kind,
          status: device.isDead ? 'Dead' : 'Alive',
          state: device.isUnread ? '' : reading(device, state.get(device) ?? '').text,
        })),
      scenes,
      live: true,
    }),
  }
  const manager = new ToolManager()
  const note = (name: string, args: Args) => {
    if (!args.includeInactive) calls.push(`${name} ${JSON.stringify(args)}`)
  }
  for (const tool of localTools({ documents: '/notes' }))
    manager.addCustomTool(
      playing(
        tool,
        note,
        () => volume,
        level => {
          volume = level
        },
      ),
    )
  for (const tool of tools) manager.addCustomTool(tool)
  manager.addMcpTools(
    Object.entries(SCHEMAS).map(([name, properties]) => ({
      ...defineTool({
        name,
        description: name,
        schema: { type: 'object', properties, additionalProperties: false },
        handler: (args: Args) => {
          note(name, args)
          return run[name]?.(args)
        },
      }),
      readOnly: READS.has(name),
    })),
    { server: 'zwave' },
  )
  const executor = new ToolExecutor(manager)
  /** Everything is as it was at first. */
  const reset = () => {
    calls.length = 0
    volume = 40
    for (const device of devices) state.set(device, device.value)
  }
  return { calls, reset, manager, executor, client: new OfflineClient({ executor, ...options }) }
}

/** A local tool that does nothing but be called. */
function playing(
  tool: Tool,
  note: (name: string, args: Args) => void,
  volume: () => number,
  setVolume: (level: number) => void,
): Tool {
  return {
    ...tool,
    invoke: (args: Args) => {
      note(tool.name, args)
      if (tool.name !== 'volume') return 'done'
      if (args.level !== undefined) setVolume(args.level)
      return { level: volume(), text: `The volume is ${volume()} percent.` }
    },
  }
}

function find(devices: readonly HouseholdDevice[], { deviceName = '' }: Args): HouseholdDevice {
  const key = deviceName.toLowerCase()
  const device = devices.find(({ name, location }) =>
    [name, `${location} ${name}`].some(one => one.toLowerCase() === key),
  )
  if (!device) throw new Error(`There is no device called "${deviceName}".`)
  return device
}

function reading({ kind, unit, measures }: HouseholdDevice, value: boolean | number | string) {
  const base = { stale: false, endpoint: 0, value }
  if (kind === 'switch') return { ...base, name: 'switch', unit: null, text: value ? 'on' : 'off' }
  if (kind === 'lock') return { ...base, name: 'lock', unit: null, text: value ? 'locked' : 'unlocked' }
  if (kind === 'thermostat') return { ...base, name: 'heating setpoint', unit: '°C', text: `${value} °C` }
  if (kind === 'sensor')
    return {
      ...base,
      name: measures ?? 'sensor',
      unit: unit ?? null,
      text: unit ? `${value} ${unit}` : String(value),
    }
  const [full, none] = kind === 'cover' ? ['open', 'closed'] : ['on', 'off']
  const level = typeof value === 'boolean' ? (value ? 100 : 0) : Number(value)
  const part = kind === 'cover' ? `${level} % open` : `dimmed to ${level} %`
  return {
    ...base,
    value: level,
    name: kind,
    unit: '%',
    text: level === 0 ? none : level === 100 ? full : part,
  }
}
