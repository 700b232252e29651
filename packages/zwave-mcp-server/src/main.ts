import type { Writable } from 'node:stream'
import { parseArgs } from 'node:util'
import { type Config, ConfigError, readConfig } from './config.ts'
import { createLogger, type Logger } from './log.ts'
import { BrokerConnection } from './mqtt/broker-connection.ts'
import { serve } from './serve.ts'
import { VERSION } from './version.ts'
import { ZwaveNetwork } from './zwave/zwave-network.ts'

const HELP = `zwave-mcp-server ${VERSION}: an MCP server on stdio for a Z-Wave home behind Z-Wave JS UI and MQTT.

Usage: zwave-mcp-server [--virtual-home]

  --virtual-home  play a home instead of using a real one; the default if MQTT_BROKER_URL is not set
  --version       print the version
  --help          print this

Environment: MQTT_BROKER_URL, MQTT_USERNAME, MQTT_PASSWORD, ZWAVE_MQTT_TOPIC (zwave), ZWAVE_GATEWAY_NAME,
ZWAVE_CONFIRM_TIMEOUT_MS (5000), ZWAVE_STALE_MS (300000), ZWAVE_LOG_LEVEL (info).
`

/** A client that lists the tools at once is answered first; the connection to the broker comes after. */
const START_MS = 300
const CLOSE_MS = 500

/** Runs the command; `stdout` is for JSON-RPC, `process.stdout` no longer leads there. */
export async function main(stdout: Writable): Promise<void> {
  try {
    await runCommand(stdout)
  } catch (error) {
    process.stderr.write(`zwave-mcp-server: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = error instanceof ConfigError ? 2 : 1
  }
}

async function runCommand(stdout: Writable): Promise<void> {
  const { values } = parseArguments()
  if (values.help || values.version) {
    stdout.write(values.help ? HELP : `${VERSION}\n`)
    return
  }
  const config = readConfig(process.env)
  await run(values['virtual-home'] ? withoutBroker(config) : config, stdout)
}

function parseArguments() {
  const flag = { type: 'boolean' } as const
  try {
    return parseArgs({ options: { 'virtual-home': flag, version: flag, help: { ...flag, short: 'h' } } })
  } catch (error) {
    throw new ConfigError(`${error instanceof Error ? error.message : error} See zwave-mcp-server --help.`)
  }
}

function withoutBroker({ brokerUrl: _, ...config }: Config): Config {
  return config
}

async function run(config: Config, stdout: Writable): Promise<void> {
  const logger = createLogger({
    level: config.logLevel,
    write: line => void process.stderr.write(`${line}\n`),
    pretty: process.stderr.isTTY,
  })
  const virtual = config.brokerUrl === undefined
  if (virtual) logger.warn({}, 'no MQTT broker is configured (MQTT_BROKER_URL): this is a virtual home')
  const network = new ZwaveNetwork({ ...config, link: connect(config, logger), logger })
  const stop = (reason: string) => void end(network, logger, reason)
  process.once('SIGTERM', () => stop('SIGTERM'))
  process.once('SIGINT', () => stop('SIGINT'))
  process.on('uncaughtException', error => {
    logger.error({ error, stack: error.stack }, 'unexpected error')
    process.exit(1)
  })
  setTimeout(() => network.start(), START_MS)
  const { confirmTimeoutMs, staleMs } = config
  const context = { network, confirmTimeoutMs, staleMs, virtual, now: Date.now }
  await serve({ context, logger, stdin: process.stdin, stdout })
  await new Promise(resolve => stdout.end(resolve))
  stop('the client is gone')
}

function connect({ brokerUrl, username, password, prefix }: Config, logger: Logger): BrokerConnection {
  return new BrokerConnection({
    url: brokerUrl ?? (() => startOwnHome(prefix, logger)),
    ...(brokerUrl !== undefined && username !== undefined && { username }),
    ...(brokerUrl !== undefined && password !== undefined && { password }),
    filter: `${prefix}/#`,
    logger,
  })
}

async function startOwnHome(prefix: string, logger: Logger): Promise<string> {
  const { startHome } = await import('./home/index.ts')
  const { url } = await startHome({ prefix, logger })
  return url
}

async function end(network: ZwaveNetwork, logger: Logger, reason: string): Promise<void> {
  logger.info({ reason }, 'ending')
  setTimeout(() => process.exit(0), CLOSE_MS)
  await network.close().catch(() => {})
  process.exit(0)
}
