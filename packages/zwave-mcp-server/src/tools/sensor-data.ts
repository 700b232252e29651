import { fullName, type Reading, readingsOf } from '../zwave/device.ts'
import { pickDevice } from './pick-device.ts'
import {
  answer,
  deviceFields,
  notLive,
  type RunTool,
  refuse,
  sayAge,
  type ToolContext,
  whyNotReady,
} from './tool.ts'

type AgedReading = ReturnType<typeof withAge>

/** `get_device_sensor_data`: a device's last values, with unit and age. */
export const sensorData: RunTool = async (args, context) => {
  const { network } = context
  const unreachable = await whyNotReady(network)
  if (unreachable && network.devices().length === 0) return refuse(unreachable)
  const picked = await pickDevice(network, String(args.deviceName), { partIsEnough: true })
  if (typeof picked === 'string') return refuse(unreachable ? `${unreachable} ${picked}` : picked)
  const { device, endpoint } = picked
  const problem = unreachable ?? notLive(network.isLive(device))
  const readings = readingsOf(device)
    .filter(reading => endpoint === undefined || reading.endpoint === endpoint)
    .map(reading => withAge(reading, context))
  const said = readings.map(sayReading).join('; ')
  const sentences = [
    problem && `${problem} These are the last known values.`,
    said ? `${fullName(device)}: ${said}.` : `${fullName(device)} has no readable values.`,
    device.status === 'Dead' && 'The device is dead: it no longer responds.',
  ]
  return answer(sentences.filter(Boolean).join(' '), {
    ...deviceFields(device),
    status: device.status,
    readings,
    live: !problem,
  })
}

function withAge({ time, ...reading }: Reading, { now, staleMs }: ToolContext) {
  const ageMs = time === null ? null : Math.max(0, now() - time)
  return {
    ...reading,
    time: time === null ? null : new Date(time).toISOString(),
    ageSeconds: ageMs === null ? null : Math.round(ageMs / 100) / 10,
    stale: ageMs === null || ageMs > staleMs,
  }
}

function sayReading({ name, text, value, ageSeconds, stale }: AgedReading): string {
  if (value === null) return `${name} has not been reported yet`
  if (ageSeconds === null) return `${name} is ${text}, at an unknown time`
  return `${name} is ${text}, reported ${sayAge(ageSeconds * 1000)}${stale ? ', so it is stale' : ''}`
}
