import { type Device, fullName } from '../zwave/device.ts'
import { answer, listWords, type RunTool, sayAge, type ToolContext, UNKNOWN_GATEWAY } from './tool.ts'

type Health = Awaited<ReturnType<typeof examine>>

const MAX_NAMES = 5

/** `check_zwave_health`: whether everything between here and the devices works. Never fails; it reports. */
export const checkHealth: RunTool = async (_args, context) => {
  const health = await examine(context)
  return answer(describe(health), { ...health })
}

async function examine({ network, virtual, now }: ToolContext) {
  const cause = await network.whyNotReady()
  const [connected, gatewayAnswers] = cause
    ? [false, false]
    : await Promise.all([network.brokerAnswers(), network.refresh()])
  const { gateway, lastMessageAt } = network
  const { name, version, reachable, driverReady } = gateway
  const devices = network.devices()
  // A gateway that answers is online, even if its status topic is not retained.
  const online = gateway.online ?? (name !== null && gatewayAnswers ? true : null)
  const isKnown = online !== null || devices.length > 0
  const count = (status: Device['status']) => devices.filter(device => device.status === status).length
  const problems = [
    name === null && UNKNOWN_GATEWAY,
    !gatewayAnswers && 'The gateway did not answer a request for its nodes.',
    reachable.length > 1 &&
      `${reachable.length} gateways share the topic prefix (${listWords(reachable)}): give each its own.`,
    sayUnfollowed(devices),
  ]
  return {
    healthy: connected && isKnown && online !== false && driverReady !== false,
    virtualHome: virtual,
    broker: {
      url: network.brokerUrl,
      connected,
      cause: connected ? null : (cause ?? 'it does not answer'),
    },
    gateway: { name, online, version },
    driver: { ready: driverReady },
    devices: { total: devices.length, asleep: count('Asleep'), dead: count('Dead') },
    lastMessage: lastMessageAt && {
      time: new Date(lastMessageAt).toISOString(),
      ageSeconds: Math.max(0, Math.round((now() - lastMessageAt) / 100) / 10),
    },
    problems: connected ? problems.filter(problem => typeof problem === 'string') : [],
  }
}

function sayUnfollowed(devices: readonly Device[]): string | false {
  const unfollowed = devices.filter(({ isFollowed }) => !isFollowed)
  if (unfollowed.length === 0) return false
  const names = listWords(unfollowed.slice(0, MAX_NAMES).map(fullName), 'or')
  return (
    `No topics seen for ${unfollowed.length === devices.length ? 'any device' : names} (gateway type Manual, or Retain is ` +
    'off): values are requested from the gateway, and commands go through its API. For live updates, use the gateway type ' +
    'Named topics or ValueID topics.'
  )
}

function describe({ broker, gateway, driver, devices, lastMessage, virtualHome, problems }: Health): string {
  const virtual = virtualHome && 'This is a virtual home: no real devices are connected.'
  if (broker.cause !== null)
    return [`The MQTT broker at ${broker.url} is unreachable: ${broker.cause}.`, virtual]
      .filter(Boolean)
      .join(' ')
  const online = {
    true: 'the gateway is online',
    false: 'the gateway is offline',
    null: 'no gateway has been seen',
  }
  const ready = {
    true: 'and the Z-Wave driver is ready',
    false: 'and the Z-Wave driver is not ready',
    null: 'and the Z-Wave driver has not reported its status',
  }
  const dead = devices.dead > 0 ? `, ${devices.dead} of them dead` : ''
  const sentences = [
    `The MQTT broker is connected, ${online[`${gateway.online}`]}, ${ready[`${driver.ready}`]}.`,
    `${devices.total} ${devices.total === 1 ? 'device is' : 'devices are'} known${dead}.`,
    lastMessage
      ? `The last message arrived ${sayAge(lastMessage.ageSeconds * 1000)}.`
      : 'No message has arrived yet.',
    ...problems,
    virtual,
  ]
  return sentences.filter(Boolean).join(' ')
}
