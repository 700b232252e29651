import type { CallToolResult } from '@modelcontextprotocol/server'
import { sayAge } from '../zwave/age.ts'
import { type Device, fullName, STATUSES } from '../zwave/device.ts'
import { type Reading, readingsOf } from '../zwave/readings.ts'
import { deviceFields } from './command-device.ts'
import { notLive } from './list-devices.ts'
import { pickInNetwork } from './pick-device.ts'
import {
  answer,
  FIELDS,
  fields,
  READS,
  refuse,
  type ToolContext,
  takes,
  whyNotReady,
  type ZwaveTool,
} from './tool.ts'

interface AgedReading extends Reading {
  readonly ageMs: number | null
  readonly stale: boolean
}

/** `get_device_sensor_data`: a device's last values, with unit and age. */
export const sensorData: ZwaveTool = {
  definition: {
    name: 'get_device_sensor_data',
    title: 'Read a Z-Wave device',
    description:
      'Reads the latest values of a Z-Wave device: temperature, humidity, light, power, door and motion sensors, ' +
      'whether a switch or dimmer is on, a blind open or a door locked, and what a thermostat is set to. Each value comes with its unit and its age; old ones are marked as stale. ' +
      'It changes nothing.',
    inputSchema: takes(
      {
        deviceName: {
          type: 'string',
          minLength: 1,
          description: 'The name of the device, e.g. "Temp Sensor 1"; not case-sensitive.',
        },
      },
      ['deviceName'],
    ),
    outputSchema: fields({
      ...FIELDS.device,
      status: { type: 'string', enum: STATUSES },
      readings: {
        type: 'array',
        items: fields({
          name: FIELDS.text,
          value: { type: ['number', 'boolean', 'string', 'null'] },
          unit: FIELDS.textOrNull,
          text: { ...FIELDS.text, description: 'The value as text.' },
          endpoint: FIELDS.integer,
          time: { ...FIELDS.textOrNull, description: 'When the device reported it (ISO 8601).' },
          ageSeconds: FIELDS.numberOrNull,
          stale: FIELDS.boolean,
        }),
      },
      live: {
        ...FIELDS.boolean,
        description: 'False: these are the last known values, not the current ones.',
      },
    }),
    annotations: READS,
  },

  async run(args, context) {
    const { network } = context
    const problem = await whyNotReady(network)
    if (problem && network.devices().length === 0) return refuse(problem)
    const picked = await pickInNetwork(network, String(args.deviceName), { partIsEnough: true })
    if (typeof picked === 'string') return refuse(problem ? `${problem} ${picked}` : picked)
    const { device, endpoint } = picked
    const readings = age(readingsOf(device), context).filter(
      item => endpoint === undefined || item.endpoint === endpoint,
    )
    return tell(device, readings, problem ?? notLive(network.isLive(device)))
  },
}

function age(readings: readonly Reading[], { now, staleMs }: ToolContext): AgedReading[] {
  return readings.map(reading => {
    const ageMs = reading.time === null ? null : Math.max(0, now() - reading.time)
    return { ...reading, ageMs, stale: ageMs === null || ageMs > staleMs }
  })
}

function tell(device: Device, readings: readonly AgedReading[], problem: string | undefined): CallToolResult {
  const { status } = device
  const sentences = [
    problem && `${problem} These are the last known values.`,
    sayDevice(device, readings),
    status === 'Dead' && 'The device is dead: it no longer responds.',
  ]
  return answer(sentences.filter(Boolean).join(' '), {
    ...deviceFields(device),
    status,
    readings: readings.map(toJson),
    live: !problem,
  })
}

function toJson({ time, ageMs, ...reading }: AgedReading): Record<string, unknown> {
  return {
    ...reading,
    time: time === null ? null : new Date(time).toISOString(),
    ageSeconds: ageMs === null ? null : Math.round(ageMs / 100) / 10,
  }
}

function sayDevice(device: Device, readings: readonly AgedReading[]): string {
  if (readings.length === 0) return `${fullName(device)} has no readable values.`
  return `${fullName(device)}: ${readings.map(sayReading).join('; ')}.`
}

function sayReading({ name, text, value, ageMs, stale }: AgedReading): string {
  if (value === null) return `${name} has not been reported yet`
  if (ageMs === null) return `${name} is ${text}, at an unknown time`
  return `${name} is ${text}, reported ${sayAge(ageMs)}${stale ? ', so it is stale' : ''}`
}
