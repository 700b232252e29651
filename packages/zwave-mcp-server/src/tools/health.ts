import { sayAge } from '../zwave/age.ts'
import { type Device, fullName } from '../zwave/device.ts'
import type { ZwaveNetwork } from '../zwave/zwave-network.ts'
import {
  answer,
  brokerUnreachable,
  FIELDS,
  fields,
  listWords,
  READS,
  type ToolContext,
  takes,
  UNKNOWN_GATEWAY,
  type ZwaveTool,
} from './tool.ts'

type Health = Awaited<ReturnType<typeof examine>>

const MAX_NAMES = 5

/** `check_zwave_health`: whether everything between here and the devices works. Never fails; it reports. */
export const checkHealth: ZwaveTool = {
  definition: {
    name: 'check_zwave_health',
    title: 'Check the Z-Wave network',
    description:
      'Checks whether the Z-Wave home can be reached: MQTT broker, gateway (Z-Wave JS UI), Z-Wave driver, number of ' +
      'devices and the time of the last message. Call it when devices do not react or are missing.',
    inputSchema: takes({}),
    outputSchema: fields({
      healthy: FIELDS.boolean,
      virtualHome: {
        ...FIELDS.boolean,
        description: 'True if the devices are simulated.',
      },
      broker: fields({ url: FIELDS.text, connected: FIELDS.boolean, cause: FIELDS.textOrNull }),
      gateway: fields({
        name: FIELDS.textOrNull,
        online: { ...FIELDS.booleanOrNull, description: 'null: not known.' },
        version: FIELDS.textOrNull,
      }),
      driver: fields({ ready: FIELDS.booleanOrNull }),
      devices: fields({ total: FIELDS.integer, asleep: FIELDS.integer, dead: FIELDS.integer }),
      lastMessage: {
        ...fields({ time: FIELDS.text, ageSeconds: { type: 'number' } }),
        type: ['object', 'null'],
      },
      problems: {
        type: 'array',
        items: FIELDS.text,
        description: 'What needs attention, one sentence each.',
      },
    }),
    annotations: READS,
  },

  async run(_args, context) {
    const health = await examine(context)
    return answer(describe(health), { ...health })
  },
}

async function examine({ network, virtual, now }: ToolContext) {
  const readiness = await network.ready()
  const [connected, gatewayAnswers] = await Promise.all([
    readiness.ready && network.brokerAnswers(),
    readiness.ready && network.refresh(),
  ])
  const { gateway, lastMessageAt } = network
  const devices = network.devices()
  // A gateway that answers is online, even if its status topic is not retained.
  const online = gateway.online ?? (gateway.name !== null && gatewayAnswers ? true : null)
  const isKnown = online !== null || devices.length > 0
  const count = (status: Device['status']) => devices.filter(device => device.status === status).length
  return {
    healthy: connected && isKnown && online !== false && gateway.driverReady !== false,
    virtualHome: virtual,
    broker: {
      url: network.brokerUrl,
      connected,
      cause: connected ? null : readiness.ready ? 'it does not answer' : readiness.cause,
    },
    gateway: { name: gateway.name, online, version: gateway.version },
    driver: { ready: gateway.driverReady },
    devices: { total: devices.length, asleep: count('Asleep'), dead: count('Dead') },
    lastMessage: lastMessageAt === null ? null : lastMessage(lastMessageAt, now()),
    problems: connected ? findProblems(network, devices, gatewayAnswers) : [],
  }
}

/** What needs attention although nothing is down. */
function findProblems(
  { gateway }: ZwaveNetwork,
  devices: readonly Device[],
  gatewayAnswers: boolean,
): string[] {
  const { name, reachable } = gateway
  const problems = [
    name === null && UNKNOWN_GATEWAY,
    !gatewayAnswers && 'The gateway did not answer a request for its nodes.',
    reachable.length > 1 &&
      `${reachable.length} gateways share the topic prefix (${listWords(reachable)}): give each its own.`,
    sayUnfollowed(devices),
  ]
  return problems.filter(problem => typeof problem === 'string')
}

function sayUnfollowed(devices: readonly Device[]): string | false {
  const unfollowed = devices.filter(({ isFollowed }) => !isFollowed)
  if (unfollowed.length === 0) return false
  const whose =
    unfollowed.length === devices.length
      ? 'any device'
      : listWords(unfollowed.slice(0, MAX_NAMES).map(fullName), 'or')
  return (
    `No topics seen for ${whose} (gateway type Manual, or Retain is off): values are requested from the gateway, ` +
    'and commands go through its API. For live updates, use the gateway type Named topics or ValueID topics.'
  )
}

function lastMessage(at: number, now: number) {
  return { time: new Date(at).toISOString(), ageSeconds: Math.max(0, Math.round((now - at) / 100) / 10) }
}

function describe({ broker, gateway, driver, devices, lastMessage, virtualHome, problems }: Health): string {
  const virtual = virtualHome ? ' This is a virtual home: no real devices are connected.' : ''
  if (broker.cause !== null) return `${brokerUnreachable(broker.url, broker.cause)}${virtual}`
  const heard = lastMessage
    ? `The last message arrived ${sayAge(lastMessage.ageSeconds * 1000)}.`
    : 'No message has arrived yet.'
  const dead = devices.dead > 0 ? `, ${devices.dead} of them dead` : ''
  const count = `${devices.total} ${devices.total === 1 ? 'device is' : 'devices are'} known${dead}.`
  const problem = problems.map(sentence => ` ${sentence}`).join('')
  return `The MQTT broker is connected, ${sayGateway(gateway)}, ${sayDriver(driver)}. ${count} ${heard}${problem}${virtual}`
}

function sayGateway({ online }: Health['gateway']): string {
  if (online === null) return 'no gateway has been seen'
  return online ? 'the gateway is online' : 'the gateway is offline'
}

function sayDriver({ ready }: Health['driver']): string {
  if (ready === null) return 'and the Z-Wave driver has not reported its status'
  return ready ? 'and the Z-Wave driver is ready' : 'and the Z-Wave driver is not ready'
}
