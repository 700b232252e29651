import { commandClassName } from './command-classes.ts'
import type { DeviceValue, NodeStatus } from './device.ts'
import { isRecord, parseReported } from './payload.ts'

/** A node as the gateway's `getNodes` lists it. Virtual nodes are left out. */
export interface Node {
  readonly id: number
  readonly name?: string
  readonly location?: string
  readonly status: NodeStatus
  /** The stick itself. */
  readonly isController?: boolean
  /** Whether its device class is a motor, as in blinds. */
  readonly isMotor?: boolean
  readonly values: readonly DeviceValue[]
}

const MULTILEVEL_SWITCH = 17
const WINDOW_COVERING = 9
const MOTORS = [3, 5, 6, 7]

/** The nodes in the result of `getNodes`; undefined if it is not a list. */
export function parseNodes(result: unknown): Node[] | undefined {
  return Array.isArray(result) ? result.flatMap(parseNode) : undefined
}

function parseNode(node: unknown): Node[] {
  if (!isRecord(node) || typeof node.id !== 'number' || node.virtual === true) return []
  const values = isRecord(node.values) ? Object.values(node.values) : []
  const { id, name, loc } = node
  return [
    {
      id,
      ...(typeof name === 'string' && name && { name }),
      ...(typeof loc === 'string' && loc && { location: loc }),
      status: parseStatus(node.status, node.available),
      ...(node.isControllerNode === true && { isController: true }),
      ...(isMotor(node.deviceClass) && { isMotor: true }),
      values: values.flatMap(parseValue),
    },
  ]
}

function isMotor(deviceClass: unknown): boolean {
  if (!isRecord(deviceClass)) return false
  const { generic, specific } = deviceClass
  return generic === WINDOW_COVERING || (generic === MULTILEVEL_SWITCH && MOTORS.includes(Number(specific)))
}

/** The status of a node; a gateway that publishes raw values says only whether it is available. */
export function parseStatus(status: unknown, available: unknown): NodeStatus {
  if (status === 'Alive' || status === 'Awake' || status === 'Asleep' || status === 'Dead') return status
  return available === true ? 'Alive' : available === false && status === undefined ? 'Dead' : 'Unknown'
}

function parseValue(value: unknown): DeviceValue[] {
  if (!isRecord(value) || typeof value.commandClass !== 'number') return []
  const property = value.propertyName ?? value.property
  if (typeof property !== 'string' && typeof property !== 'number') return []
  const { endpoint, propertyKey: key, lastUpdate, min, max } = value
  const choices = parseChoices(value.states)
  return [
    {
      commandClass: commandClassName(value.commandClass),
      endpoint: typeof endpoint === 'number' ? endpoint : 0,
      property: String(property),
      ...((typeof key === 'string' || typeof key === 'number') && { key: String(key) }),
      ...parseReported({ ...value, time: lastUpdate }),
      ...(typeof min === 'number' && { min }),
      ...(typeof max === 'number' && { max }),
      ...(choices.length > 0 && { choices }),
    },
  ]
}

/** The numbers that a value can be set to, e.g. the modes of a thermostat. */
function parseChoices(states: unknown): number[] {
  if (!Array.isArray(states)) return []
  return states.flatMap(state => (isRecord(state) && typeof state.value === 'number' ? [state.value] : []))
}
