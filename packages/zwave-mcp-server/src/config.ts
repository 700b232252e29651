import type { MqttProtocol } from 'mqtt'
import { isLogLevel, type LogLevel } from './log.ts'

/** The configuration read from the environment. Durations are in milliseconds. */
export interface Config {
  /** Undefined: no broker is configured, so the server starts an embedded one with a virtual home. */
  readonly brokerUrl?: string | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** The gateway's topic prefix. */
  readonly prefix: string
  /** The gateway's name in its MQTT settings; only needed if its status is not retained. */
  readonly gatewayName?: string | undefined
  readonly confirmTimeoutMs: number
  readonly staleMs: number
  readonly logLevel: LogLevel
}

/** A configuration mistake; the message says what to write instead. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

const PROTOCOL = /^(?:mqtts?|tcp|ssl|tls|wss?):$/
const MAX_DURATION_MS = 2 ** 31 - 1

type Environment = Readonly<Record<string, string | undefined>>

/** Reads the environment; an empty variable counts as unset. */
export function readConfig(env: Environment): Config {
  const brokerUrl = env.MQTT_BROKER_URL?.trim() || undefined
  if (brokerUrl) brokerAddress(brokerUrl)
  const prefix = (env.ZWAVE_MQTT_TOPIC?.trim() || 'zwave').replace(/^\/+|\/+$/g, '')
  if (!prefix || /[+#]/.test(prefix))
    throw new ConfigError(
      `ZWAVE_MQTT_TOPIC must be a plain topic such as "zwave", not "${env.ZWAVE_MQTT_TOPIC}".`,
    )
  const logLevel = (env.ZWAVE_LOG_LEVEL || env.LOG_LEVEL || 'info').toLowerCase()
  if (!isLogLevel(logLevel))
    throw new ConfigError(
      `ZWAVE_LOG_LEVEL must be trace, debug, info, warn, error or silent, not "${logLevel}".`,
    )
  return {
    brokerUrl,
    username: env.MQTT_USERNAME || undefined,
    password: env.MQTT_PASSWORD || undefined,
    gatewayName: env.ZWAVE_GATEWAY_NAME || undefined,
    prefix,
    confirmTimeoutMs: readDuration(env, 'ZWAVE_CONFIRM_TIMEOUT_MS', 5_000),
    staleMs: readDuration(env, 'ZWAVE_STALE_MS', 5 * 60_000),
    logLevel,
  }
}

function readDuration(env: Environment, name: string, fallback: number): number {
  const text = env[name]?.trim()
  if (!text) return fallback
  const value = Number(text)
  if (Number.isInteger(value) && value > 0 && value <= MAX_DURATION_MS) return value
  throw new ConfigError(`${name} must be a whole number of milliseconds, e.g. ${fallback}, not "${text}".`)
}

/** The parts of `mqtt://user:password@host:1883`, as mqtt.js takes them; the scheme may be missing. Throws a ConfigError. */
export function brokerAddress(text: string) {
  const url = urlOf(text)
  if (!url?.hostname || !PROTOCOL.test(url.protocol))
    throw new ConfigError(
      `The MQTT broker URL must look like mqtt://host:1883 or mqtts://host:8883, not "${withoutCredentials(text)}".`,
    )
  const protocol = url.protocol.slice(0, -1) as MqttProtocol
  return {
    protocol,
    host: protocol.startsWith('ws') ? url.hostname : url.hostname.replace(/^\[|\]$/g, ''),
    path: `${url.pathname}${url.search}`,
    ...(url.port && { port: Number(url.port) }),
    ...(url.username && { username: decoded(url.username) }),
    ...(url.password && { password: decoded(url.password) }),
  }
}

/** The address without user, password and query, safe to show. */
export function withoutCredentials(text: string): string {
  const url = urlOf(text)
  const scheme = /^[a-z\d+.-]+:\/\//i.exec(text.trim())?.[0] ?? ''
  return url ? `${url.protocol}//${url.host}${url.pathname.replace(/\/$/, '')}` : `${scheme}…`
}

function urlOf(text: string): URL | undefined {
  const url = /^[a-z][a-z\d+.-]*:\/\//i.test(text.trim()) ? text.trim() : `mqtt://${text.trim()}`
  return URL.canParse(url) ? new URL(url) : undefined
}

/** A percent sign that does not start an escape is kept as it is, since passwords contain them. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Prints one line saying why the command failed; returns its exit code. */
export function reportFailure(command: string, error: unknown): 1 | 2 {
  const message = error instanceof Error ? error.message : String(error)
  const isUsage = String(Object(error).code).startsWith('ERR_PARSE_ARGS')
  process.stderr.write(`${command}: ${message}${isUsage ? ` See ${command} --help.` : ''}\n`)
  return isUsage || error instanceof ConfigError ? 2 : 1
}
