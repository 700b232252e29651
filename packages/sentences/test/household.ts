import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import {
  type CallResult,
  type Dialogue,
  type PlannedCall,
  type SentenceFile,
  Sentences,
  type SentencesOptions,
  type ToolInfo,
} from '../src/index.ts'

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

interface Home {
  scenes: string[]
  floors?: Record<string, string[]>
  devices: readonly HouseholdDevice[]
}

const {
  tools: TOOLS,
  home,
  cottage,
  ...others
} = parse(readFileSync(new URL('homes.yaml', import.meta.url), 'utf8')) as Record<string, Home> &
  Record<'home' | 'cottage', Home> & { tools: ToolInfo[] }

export { cottage as COTTAGE, others as OTHER_HOMES }
export const { devices: HOME, scenes: SCENES } = home

const ZWAVE = ['en', 'de'].map(
  (language): SentenceFile => ({
    name: `zwave/${language}.yaml`,
    text: readFileSync(new URL(`../../zwave-mcp-server/sentences/${language}.yaml`, import.meta.url), 'utf8'),
  }),
)

type Args = Record<string, unknown>

interface Options extends SentencesOptions {
  scenes?: string[]
  tools?: ToolInfo[]
  area?: string
}

/** Shared, because reading the files takes longer than most tests. */
const shared = new Sentences()

/** Tools that answer as those of the Z-Wave server and of this machine do, for a home that is a table. */
export function household(
  devices: readonly HouseholdDevice[],
  { scenes = [], tools = [], area, ...options }: Options = {},
) {
  const state = new Map(devices.map(device => [device, device.value]))
  const sentences = Object.keys(options).length > 0 ? new Sentences(options) : shared
  const situation = { tools: [...TOOLS, ...tools], files: ZWAVE }
  let calls: string[] = []
  let volume = 40
  const listed = () => ({
    devices: devices.map(device => ({
      name: device.name,
      location: device.location ?? null,
      kind: device.kind,
      status: device.isDead ? 'Dead' : 'Alive',
      state: device.isUnread ? '' : reading(device, state.get(device) ?? '').text,
    })),
    scenes,
  })
  const invoke = (name: string, args: Args): unknown => {
    if (name === 'volume') {
      if (typeof args.level === 'number') volume = args.level
      return { level: volume, text: `The volume is ${volume} percent.` }
    }
    if (name === 'list_zwave_devices') return listed()
    if (args.deviceName === undefined) return 'Done.'
    const device = find(devices, String(args.deviceName))
    if (name === 'get_device_sensor_data')
      return { device: device.name, readings: [reading(device, state.get(device) ?? '')] }
    if (name === 'set_thermostat' && args.temperature !== undefined)
      state.set(device, Number(args.temperature))
    if (name === 'control_zwave_device')
      state.set(device, args.action === 'dim' ? Number(args.level) : args.action === 'on')
    return { device: device.name, confirmed: true }
  }
  const run = async (planned: readonly PlannedCall[]): Promise<CallResult[]> =>
    planned.map(({ tool, args }) => {
      calls.push(inShort(tool, args))
      return { success: true, result: invoke(tool, args) }
    })
  const list = () => sentences.setListing({ success: true, result: listed() })
  list()
  /** The calls of the last turn, and its answer. */
  const converse = async (...turns: string[]) => {
    let dialogue: Dialogue = {}
    let text = ''
    volume = 40
    for (const device of devices) state.set(device, device.value)
    list()
    for (const turn of turns) {
      calls = []
      const meaning = sentences.understand(turn, situation, { dialogue, area })
      const answered = meaning && (await sentences.carryOut(meaning, situation, { dialogue, run }))
      text = answered?.text ?? sentences.help(situation)
      dialogue = JSON.parse(JSON.stringify(answered?.dialogue ?? {})) as Dialogue
    }
    return { calls: calls.join('; '), text }
  }
  return { converse, sentences, situation }
}

function inShort(name: string, { deviceName, action, level, temperature, mode, ...rest }: Args): string {
  const words = (...parts: unknown[]) => parts.filter(part => part !== undefined).join(' ')
  if (name === 'control_zwave_device') return words(action, deviceName, level)
  if (name === 'get_device_sensor_data') return words('read', deviceName)
  if (name === 'list_zwave_devices') return words('list', rest.filter)
  if (name === 'set_thermostat') return words('heat', deviceName, temperature, mode)
  if (name === 'control_lock') return words(action, deviceName)
  if (name === 'activate_scene') return words('scene', rest.sceneName)
  if (name === 'volume') return words('volume', action, level)
  const { calls, ...others } = rest
  if (name === 'timer') return words('timer', action, ...Object.values(others), calls && 'calls')
  if (name === 'datetime') return words('time', rest.timezone)
  return words(name, ...Object.values(rest))
}

function find(devices: readonly HouseholdDevice[], deviceName: string): HouseholdDevice {
  const device = devices.find(({ name, location }) => [name, `${location} ${name}`].includes(deviceName))
  if (!device) throw new Error(`There is no device called "${deviceName}".`)
  return device
}

function reading({ kind, unit }: HouseholdDevice, value: boolean | number | string) {
  if (kind === 'switch') return { value, text: value ? 'on' : 'off' }
  if (kind === 'lock') return { value, text: value ? 'locked' : 'unlocked' }
  if (kind === 'thermostat') return { value, text: `${value} °C` }
  if (kind === 'sensor') return { value, text: unit ? `${value} ${unit}` : String(value) }
  const [full, none] = kind === 'cover' ? ['open', 'closed'] : ['on', 'off']
  const percent = typeof value === 'boolean' ? (value ? 100 : 0) : Number(value)
  const part = kind === 'cover' ? `${percent} % open` : `dimmed to ${percent} %`
  return { value: percent, text: percent === 0 ? none : percent === 100 ? full : part }
}

/** Lines of a table: `what is said => the calls it means`. */
export function table(file: string): [said: string, expected: string][] {
  return readFileSync(new URL(file, import.meta.url), 'utf8')
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '' && !line.startsWith('#'))
    .map(line => {
      const [said = '', expected = ''] = line.split(/ =>\s*/)
      return [said.replace(/ =>$/, ''), expected]
    })
}
