import type { TopicStyle } from '../zwave/topics.ts'
import { toValueId } from './gateway-list.ts'
import type { VirtualDevice, VirtualValue } from './virtual-device.ts'

/** Gateway types: which topics values get. A manual gateway has only those configured by hand. */
export const GATEWAY_TYPES = ['named', 'valueid', 'manual'] as const
/** Payload types: `{time, value}`, the entire value object, or the value alone. */
export const PAYLOAD_TYPES = ['time-value', 'entire', 'raw'] as const

/** The gateway's settings. */
export interface GatewaySettings {
  /** Default: `named`. */
  readonly topics?: (typeof GATEWAY_TYPES)[number] | undefined
  /** Default: `time-value`. */
  readonly payload?: (typeof PAYLOAD_TYPES)[number] | undefined
}

/** A message the gateway publishes: a topic below its prefix, and a JSON payload. */
export interface GatewayMessage {
  readonly topic: string
  readonly payload: unknown
}

export function topicStyle({ topics }: GatewaySettings): TopicStyle {
  return topics === 'valueid' ? 'valueid' : 'named'
}

export function statusMessage(device: VirtualDevice, settings: GatewaySettings): GatewayMessage {
  const { status, nodeId } = device
  const value = status !== 'Dead'
  return {
    topic: `${device.path(topicStyle(settings))}/status`,
    payload: settings.payload === 'raw' ? value : { time: Date.now(), value, status, nodeId },
  }
}

/** Target values before current ones, as Z-Wave JS publishes them; `lastActive` comes last. */
export function reportMessages(
  device: VirtualDevice,
  values: readonly VirtualValue[],
  settings: GatewaySettings,
): GatewayMessage[] {
  const style = topicStyle(settings)
  const ordered = [...values].sort((a, b) => Number(b.writeable) - Number(a.writeable))
  const published = settings.topics === 'manual' ? [] : ordered
  const time = Date.now()
  return [
    ...published.map(value => ({
      topic: device.topicOf(value, style),
      payload: payloadOf(device, value, settings),
    })),
    { topic: `${device.path(style)}/lastActive`, payload: { time, value: time } },
  ]
}

function payloadOf({ nodeId }: VirtualDevice, virtual: VirtualValue, { payload }: GatewaySettings): unknown {
  const { value, lastUpdate: time } = virtual
  if (payload === 'raw') return value
  return payload === 'entire' ? toValueId(nodeId, virtual) : { time, value }
}
