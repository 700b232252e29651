import { commandClassNumber } from '../zwave/command-classes.ts'
import type { VirtualDevice, VirtualValue } from './virtual-device.ts'

const CONTROLLER = {
  id: 1,
  name: '',
  loc: '',
  status: 'Alive',
  available: true,
  ready: true,
  isControllerNode: true,
  values: {},
}
const MULTILEVEL_SWITCH = 17
const MOTOR = 7

/** The result of `getNodes`, controller first. */
export function toNodes(devices: readonly VirtualDevice[]): Array<Record<string, unknown>> {
  return [CONTROLLER, ...devices.map(toNode)]
}

function toNode(device: VirtualDevice): Record<string, unknown> {
  const { nodeId, name, location, status, isMotor } = device
  return {
    id: nodeId,
    name,
    loc: location,
    status,
    available: status !== 'Dead',
    ready: true,
    failed: status === 'Dead',
    inited: true,
    isControllerNode: false,
    interviewStage: 'Complete',
    ...(isMotor && { deviceClass: { basic: 4, generic: MULTILEVEL_SWITCH, specific: MOTOR } }),
    values: Object.fromEntries(device.values.map(value => [valueId(value), toValueId(nodeId, value)])),
  }
}

/** A value as `getNodes` lists it, and as it is published with payload type `entire`. */
export function toValueId(nodeId: number, virtual: VirtualValue): Record<string, unknown> {
  const { commandClass, property, key, drift: _, ...value } = virtual
  return {
    ...value,
    id: `${nodeId}-${valueId(virtual)}`,
    nodeId,
    commandClass: commandClassNumber(commandClass),
    property,
    propertyName: property,
    ...(key !== undefined && { propertyKey: Number(key) }),
    readable: true,
    label: property,
  }
}

/** The id that Z-Wave JS gives a value within its node. */
export function valueId({ commandClass, endpoint, property, key }: VirtualValue): string {
  return [commandClassNumber(commandClass), endpoint, property, ...(key === undefined ? [] : [key])].join('-')
}
