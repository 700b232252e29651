import { parseArgs } from 'node:util'
import { brokerAddress } from './broker-address.ts'
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

const DEFAULT_CONFIRM_TIMEOUT_MS = 5_000
const DEFAULT_STALE_MS = 5 * 60_000
const MAX_DURATION_MS = 2 ** 31 - 1

type Environment = Readonly<Record<string, string | undefined>>

/** Reads the environment; an empty variable counts as unset. */
export function readConfig(env: Environment): Config {
  const brokerUrl = env.MQTT_BROKER_URL?.trim()
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
    brokerUrl: brokerUrl ? checkBrokerUrl(brokerUrl) : undefined,
    username: env.MQTT_USERNAME || undefined,
    password: env.MQTT_PASSWORD || undefined,
    gatewayName: env.ZWAVE_GATEWAY_NAME || undefined,
    prefix,
    confirmTimeoutMs: readDuration(env, 'ZWAVE_CONFIRM_TIMEOUT_MS', DEFAULT_CONFIRM_TIMEOUT_MS),
    staleMs: readDuration(env, 'ZWAVE_STALE_MS', DEFAULT_STALE_MS),
    logLevel,
  }
}

/** Validates a broker URL. The error message never shows a password. */
export function checkBrokerUrl(text: string): string {
  try {
    brokerAddress(text)
    return text
  } catch (error) {
    throw new ConfigError(error instanceof Error ? error.message : String(error))
  }
}

function readDuration(env: Environment, name: string, fallback: number): number {
  const text = env[name]?.trim()
  if (!text) return fallback
  const value = Number(text)
  if (Number.isInteger(value) && value > 0 && value <= MAX_DURATION_MS) return value
  throw new ConfigError(`${name} must be a whole number of milliseconds, e.g. ${fallback}, not "${text}".`)
}

export const FLAG = { type: 'boolean' } as const
export const TEXT = { type: 'string' } as const

type Options = Readonly<Record<string, typeof FLAG | typeof TEXT>>
type Values<Given extends Options> = {
  [Name in keyof Given]?: Given[Name] extends typeof FLAG ? boolean : string
} & { help?: boolean; version?: boolean }

/** Parses a command's options, including `--help` and `--version`. */
export function readOptions<Given extends Options>(command: string, options: Given): Values<Given> {
  try {
    const common = { version: FLAG, help: { ...FLAG, short: 'h' } }
    return parseArgs({ options: { ...options, ...common } }).values as Values<Given>
  } catch (error) {
    throw new ConfigError(`${error instanceof Error ? error.message : error} See ${command} --help.`)
  }
}

/** Prints one line saying why the command failed; returns its exit code. */
export function reportFailure(command: string, error: unknown): 1 | 2 {
  process.stderr.write(`${command}: ${error instanceof Error ? error.message : String(error)}\n`)
  return error instanceof ConfigError ? 2 : 1
}
