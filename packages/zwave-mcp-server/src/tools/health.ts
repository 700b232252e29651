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

/** `check_zwave_health`: whether everything between here and the devices works. It never fails; it reports. */
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
        online: { ...FIELDS.booleanOrNull, description: 'null: the gateway has not said.' },
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
        description: 'What should be looked at, one sentence each.',
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
    problems: connected ? findProblems(network, devices, gatewayAnswers) : [],
  }
}

/** What should be looked at though nothing is down. */
function findProblems(
  { gateway }: ZwaveNetwork,
  devices: readonly Device[],
  gatewayAnswers: boolean,
): string[] {
  const { name, reachable } = gateway
  const problems = [
    name === null && UNKNOWN_GATEWAY,
    !gatewayAnswers && 'The gateway did not answer when it was asked for its nodes.',
    reachable.length > 1 &&
      `${reachable.length} gateways share the topic prefix (${listWords(reachable)}): give each of them its own.`,
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
    `No topics of ${whose} have been seen (gateway type Manual, or Retain is off): the gateway is asked for ` +
    'values instead, and commands go through its API. The gateway types Named topics and ValueID topics are followed.'
  )
}

function lastMessage(at: number, now: number) {
  return { time: new Date(at).toISOString(), ageSeconds: Math.max(0, Math.round((now - at) / 100) / 10) }
}

function describe({ broker, gateway, driver, devices, lastMessage, virtualHome, problems }: Health): string {
  const virtual = virtualHome ? ' This is a virtual home: no real devices are connected.' : ''
  if (broker.cause !== null) return `${brokerUnreachable(broker.url, broker.cause)}${virtual}`
  const heard = lastMessage
    ? `The last message came ${sayAge(lastMessage.ageSeconds * 1000)}.`
    : 'No message has come yet.'
  const dead = devices.dead > 0 ? `, ${devices.dead} of them dead` : ''
  const count = `${devices.total} ${devices.total === 1 ? 'device is' : 'devices are'} known${dead}.`
  const problem = problems.map(sentence => ` ${sentence}`).join('')
  return `The MQTT broker is connected, ${sayGateway(gateway)}, ${sayDriver(driver)}. ${count} ${heard}${problem}${virtual}`
}

function sayGateway({ online }: Health['gateway']): string {
  if (online === null) return 'the gateway has not shown itself'
  return online ? 'the gateway is online' : 'the gateway is offline'
}

function sayDriver({ ready }: Health['driver']): string {
  if (ready === null) return 'and the Z-Wave driver has not said whether it is ready'
  return ready ? 'and the Z-Wave driver is ready' : 'and the Z-Wave driver is not ready'
}
