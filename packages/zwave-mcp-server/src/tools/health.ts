import { sayAge } from '../zwave/age.ts'
import type { Device } from '../zwave/device.ts'
import { answer, brokerUnreachable, type ToolContext, type ZwaveTool } from './tool.ts'

interface Health {
  readonly healthy: boolean
  readonly virtualHome: boolean
  readonly broker: { readonly url: string; readonly connected: boolean; readonly cause: string | null }
  readonly gateway: {
    readonly name: string | null
    readonly online: boolean | null
    readonly version: string | null
  }
  readonly driver: { readonly ready: boolean | null }
  readonly devices: { readonly total: number; readonly asleep: number; readonly dead: number }
  readonly lastMessage: { readonly time: string; readonly ageSeconds: number } | null
}

/** `check_zwave_health`: whether everything between here and the devices works. It never fails; it reports. */
export const checkHealth: ZwaveTool = {
  definition: {
    name: 'check_zwave_health',
    title: 'Check the Z-Wave network',
    description:
      'Checks whether the Z-Wave home can be reached: MQTT broker, gateway (Z-Wave JS UI), Z-Wave driver, number of ' +
      'devices and the time of the last message. Call it when devices do not react or are missing.',
    inputSchema: { type: 'object', properties: {}, additionalProperties: false },
    outputSchema: {
      type: 'object',
      properties: {
        healthy: { type: 'boolean' },
        virtualHome: {
          type: 'boolean',
          description: 'True: the devices are played by a program, they are not real.',
        },
        broker: {
          type: 'object',
          properties: {
            url: { type: 'string' },
            connected: { type: 'boolean' },
            cause: { type: ['string', 'null'] },
          },
          required: ['url', 'connected', 'cause'],
          additionalProperties: false,
        },
        gateway: {
          type: 'object',
          properties: {
            name: { type: ['string', 'null'] },
            online: { type: ['boolean', 'null'], description: 'null: the gateway has not said.' },
            version: { type: ['string', 'null'] },
          },
          required: ['name', 'online', 'version'],
          additionalProperties: false,
        },
        driver: {
          type: 'object',
          properties: { ready: { type: ['boolean', 'null'] } },
          required: ['ready'],
          additionalProperties: false,
        },
        devices: {
          type: 'object',
          properties: { total: { type: 'integer' }, asleep: { type: 'integer' }, dead: { type: 'integer' } },
          required: ['total', 'asleep', 'dead'],
          additionalProperties: false,
        },
        lastMessage: {
          type: ['object', 'null'],
          properties: { time: { type: 'string' }, ageSeconds: { type: 'number' } },
          required: ['time', 'ageSeconds'],
          additionalProperties: false,
        },
      },
      required: ['healthy', 'virtualHome', 'broker', 'gateway', 'driver', 'devices', 'lastMessage'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  },

  async run(_args, context) {
    const health = await examine(context)
    return answer(describe(health), { ...health })
  },
}

async function examine({ network, virtual, now }: ToolContext): Promise<Health> {
  const readiness = await network.ready()
  const connected = readiness.ready && (await network.brokerAnswers())
  const { gateway, lastMessageAt } = network
  const devices = network.devices()
  const count = (status: Device['status']) => devices.filter(device => device.status === status).length
  return {
    healthy: connected && gateway.online !== false && gateway.driverReady !== false,
    virtualHome: virtual,
    broker: {
      url: network.brokerUrl,
      connected,
      cause: connected ? null : readiness.ready ? 'it does not answer' : readiness.cause,
    },
    gateway: { name: gateway.name, online: gateway.online, version: gateway.version },
    driver: { ready: gateway.driverReady },
    devices: { total: devices.length, asleep: count('Asleep'), dead: count('Dead') },
    lastMessage: lastMessageAt === null ? null : lastMessage(lastMessageAt, now()),
  }
}

function lastMessage(at: number, now: number): Health['lastMessage'] {
  return { time: new Date(at).toISOString(), ageSeconds: Math.max(0, Math.round((now - at) / 100) / 10) }
}

function describe({ broker, gateway, driver, devices, lastMessage, virtualHome }: Health): string {
  const virtual = virtualHome ? ' This is a virtual home: no real devices are connected.' : ''
  if (broker.cause !== null) return `${brokerUnreachable(broker.url, broker.cause)}${virtual}`
  const heard = lastMessage
    ? `The last message came ${sayAge(lastMessage.ageSeconds * 1000)}.`
    : 'No message has come yet.'
  const dead = devices.dead > 0 ? `, ${devices.dead} of them dead` : ''
  const count = `${devices.total} ${devices.total === 1 ? 'device is' : 'devices are'} known${dead}.`
  return `The MQTT broker is connected, ${sayGateway(gateway)}, ${sayDriver(driver)}. ${count} ${heard}${virtual}`
}

function sayGateway({ online }: Health['gateway']): string {
  if (online === null) return 'the gateway has not shown itself'
  return online ? 'the gateway is online' : 'the gateway is offline'
}

function sayDriver({ ready }: Health['driver']): string {
  if (ready === null) return 'and the Z-Wave driver has not said whether it is ready'
  return ready ? 'and the Z-Wave driver is ready' : 'and the Z-Wave driver is not ready'
}
