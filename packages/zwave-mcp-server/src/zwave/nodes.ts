import { commandClassName } from './command-classes.ts'
import type { DeviceValue, NodeStatus } from './device.ts'
import { isPrimitive, isRecord } from './payload.ts'

/** A node as the gateway's `getNodes` lists it. The controller and virtual nodes are left out. */
export interface Node {
  readonly id: number
  readonly name?: string
  readonly location?: string
  readonly status: NodeStatus
  readonly values: readonly DeviceValue[]
}

/** The nodes in an answer of the gateway's API; undefined where the call failed or is no such answer. */
export function parseNodes(answer: unknown): Node[] | undefined {
  if (!isRecord(answer) || answer.success !== true || !Array.isArray(answer.result)) return undefined
  return answer.result.flatMap(parseNode)
}

function parseNode(node: unknown): Node[] {
  if (!isRecord(node) || typeof node.id !== 'number') return []
  if (node.isControllerNode === true || node.virtual === true) return []
  const values = isRecord(node.values) ? Object.values(node.values) : []
  return [
    {
      id: node.id,
      ...(typeof node.name === 'string' && node.name && { name: node.name }),
      ...(typeof node.loc === 'string' && node.loc && { location: node.loc }),
      status: parseStatus(node.status, node.available),
      values: values.flatMap(parseValue),
    },
  ]
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
  const key = value.propertyKey
  return [
    {
      commandClass: commandClassName(value.commandClass),
      endpoint: typeof value.endpoint === 'number' ? value.endpoint : 0,
      property: String(property),
      ...((typeof key === 'string' || typeof key === 'number') && { key: String(key) }),
      ...(isPrimitive(value.value) && { value: value.value }),
      ...(typeof value.lastUpdate === 'number' && { time: value.lastUpdate }),
      ...(typeof value.unit === 'string' && { unit: value.unit }),
      ...(typeof value.label === 'string' && { label: value.label }),
    },
  ]
}
