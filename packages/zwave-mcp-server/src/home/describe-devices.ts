import { STATUSES } from '../zwave/device.ts'
import { isRecord } from '../zwave/payload.ts'
import type { DeviceDescription } from './virtual-device.ts'
import type { ValueDescription } from './virtual-values.ts'

/** Reads devices described in JSON: `{"devices": […]}` or the list alone. Errors name the path of the mistake. */
export function describeDevices(json: unknown): DeviceDescription[] {
  const devices = isRecord(json) ? json.devices : json
  if (!Array.isArray(devices)) throw new Error('A home description must be {"devices": [...]}.')
  devices.forEach((device, index) => {
    checkDevice(device, `devices[${index}]`)
  })
  return devices as DeviceDescription[]
}

function checkDevice(device: unknown, at: string): void {
  if (!isRecord(device)) throw new Error(`${at} must be an object.`)
  check(device, at, {
    nodeId: isNodeId,
    name: isText,
    location: isText,
    delayMs: isDuration,
    answers: isBoolean,
    status: value => STATUSES.some(status => status === value),
  })
  if (!Array.isArray(device.values)) throw new Error(`${at}.values must be a list.`)
  device.values.forEach((value, index) => {
    checkValue(value, `${at}.values[${index}]`)
  })
}

function checkValue(value: unknown, at: string): void {
  const [, isRight] = (isRecord(value) && VALUE_CHECKS.find(([type]) => type === value.type)) || []
  if (!isRecord(value) || !isRight) {
    const types = VALUE_CHECKS.map(([type]) => type)
    throw new Error(`${at}.type must be one of ${types.join(', ')}.`)
  }
  const measured = value.type === 'sensor' || value.type === 'binary'
  if (measured && !isText(value.property)) throw new Error(`${at}.property is missing.`)
  check(value, at, {
    endpoint: isIndex,
    unit: isText,
    value: isRight,
    mode: isIndex,
    drift: isDrift,
  })
}

type Check = (value: unknown) => boolean

function check(record: Record<string, unknown>, at: string, checks: Readonly<Record<string, Check>>): void {
  for (const [name, isRight] of Object.entries(checks)) {
    if (record[name] !== undefined && !isRight(record[name])) {
      throw new Error(`${at}.${name} cannot be ${JSON.stringify(record[name])}.`)
    }
  }
}

const isText: Check = value => typeof value === 'string' && value.length > 0
const isBoolean: Check = value => typeof value === 'boolean'
const isIndex: Check = value => Number.isInteger(value) && Number(value) >= 0
const isNodeId: Check = value => Number.isInteger(value) && Number(value) >= 2
const isDuration: Check = value => Number.isFinite(value) && Number(value) >= 0
const isDrift: Check = value =>
  isRecord(value) &&
  ['step', 'min', 'max'].every(name => Number.isFinite(value[name])) &&
  Number(value.everyMs) > 0

/** The value types, each with the check for its `value`. */
const VALUE_CHECKS: ReadonlyArray<readonly [ValueDescription['type'], Check]> = [
  ['switch', isBoolean],
  ['dimmer', Number.isFinite],
  ['cover', Number.isFinite],
  ['lock', isBoolean],
  ['thermostat', Number.isFinite],
  ['sensor', Number.isFinite],
  ['binary', isBoolean],
]
