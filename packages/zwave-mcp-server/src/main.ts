import type { Writable } from 'node:stream'
import { BrokerConnection } from './broker-connection.ts'
import { type Config, FLAG, readConfig, readOptions, reportFailure } from './config.ts'
import { type Logger, stderrLogger } from './log.ts'
import { serve } from './serve.ts'
import { VERSION } from './version.ts'
import { ZwaveNetwork } from './zwave/zwave-network.ts'

const HELP = `zwave-mcp-server ${VERSION}: an MCP server on stdio for a Z-Wave home behind Z-Wave JS UI and MQTT.

Usage: zwave-mcp-server [--virtual-home]

  --virtual-home  simulate a home instead of using a real one; the default if MQTT_BROKER_URL is not set
  --version       print the version
  --help          print this

Environment: MQTT_BROKER_URL, MQTT_USERNAME, MQTT_PASSWORD, ZWAVE_MQTT_TOPIC (zwave), ZWAVE_GATEWAY_NAME,
ZWAVE_CONFIRM_TIMEOUT_MS (5000), ZWAVE_STALE_MS (300000), ZWAVE_LOG_LEVEL (info).
`

/** Gives a client that lists the tools right away its answer before the broker connection starts. */
const START_MS = 300
const CLOSE_MS = 500

/** Runs the command; `stdout` carries JSON-RPC, and `process.stdout` no longer writes to it. */
export async function main(stdout: Writable): Promise<void> {
  try {
    const values = readOptions('zwave-mcp-server', { 'virtual-home': FLAG })
    const config = readConfig(process.env)
    if (values.help || values.version) stdout.write(values.help ? HELP : `${VERSION}\n`)
    else await run(values['virtual-home'] ? { ...config, brokerUrl: undefined } : config, stdout)
  } catch (error) {
    process.exitCode = reportFailure('zwave-mcp-server', error)
  }
}

async function run(config: Config, stdout: Writable): Promise<void> {
  const logger = stderrLogger(config.logLevel)
  const virtual = config.brokerUrl === undefined
  if (virtual) logger.warn({}, 'using a virtual home; set MQTT_BROKER_URL to use a real one')
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
  stop('client disconnected')
}

function connect({ brokerUrl, username, password, prefix }: Config, logger: Logger): BrokerConnection {
  return new BrokerConnection({
    ...(brokerUrl === undefined
      ? { url: async () => (await (await import('./home/index.ts')).startHome({ prefix, logger })).url }
      : { url: brokerUrl, username, password }),
    filter: `${prefix}/#`,
    logger,
  })
}

async function end(network: ZwaveNetwork, logger: Logger, reason: string): Promise<void> {
  logger.info({ reason }, 'shutting down')
  setTimeout(() => process.exit(0), CLOSE_MS)
  await network.close().catch(() => {})
  process.exit(0)
}
