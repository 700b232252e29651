import { hostname } from 'node:os'
import type { IClientOptions, MqttClient } from 'mqtt'
import { brokerAddress } from './broker-address.ts'
import { hushPackets, sendWithoutDelay } from './packets.ts'

export interface BrokerAccess {
  /** `mqtt://host:1883`; may contain user and password. */
  readonly url: string
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** Unique, and the same at every start; default: `toolpost-voice-<hostname>`. */
  readonly clientId?: string | undefined
}

export type ClientSettings = IClientOptions & { clientId: string }

const CONNECT_TIMEOUT_MS = 5_000
const KEEPALIVE_S = 15
const FIRST_DELAY_MS = 250
const LONGEST_DELAY_MS = 10_000

/** The mqtt.js options for a broker. Throws if the URL is invalid. */
export function clientSettings({ url, username, password, clientId }: BrokerAccess): ClientSettings {
  return {
    ...brokerAddress(url),
    clientId: clientId || `toolpost-voice-${hostname()}`,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    clean: true,
    protocolVersion: 4,
    reconnectPeriod: FIRST_DELAY_MS,
    reconnectOnConnackError: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    keepalive: KEEPALIVE_S,
    timerVariant: 'native',
    log: () => {},
  }
}

/** Connects, and reconnects until ended. */
export async function connectClient(settings: ClientSettings): Promise<MqttClient> {
  hushPackets()
  const { connect } = await import('mqtt')
  const client = connect(settings)
  client.on('error', () => {})
  client.on('connect', () => sendWithoutDelay(client))
  return client
}

/** The pause before attempt `attempt`, from 0: exponential backoff with jitter. */
export function reconnectDelayMs(attempt: number): number {
  const delayMs = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** attempt)
  return delayMs * (0.5 + Math.random() / 2)
}
