import { PassThrough, type Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { BrokerConnection } from './broker-connection.ts'
import { type Config, readConfig, reportFailure } from './config.ts'
import { aboutCommand } from './data.ts'
import { stderrLogger } from './log.ts'
import { createServer } from './server.ts'
import { ZwaveNetwork } from './zwave/network.ts'

const CLOSE_MS = 500
const ANSWER_MARGIN_MS = 2_000
/** For what was just read to be taken up, and its answer written. */
const READ_MS = 20

/** Runs the command; `stdout` carries JSON-RPC, and `process.stdout` no longer writes to it. */
export async function main(stdout: Writable): Promise<void> {
  try {
    const flag = { type: 'boolean' } as const
    const options = { 'virtual-home': flag, version: flag, help: { ...flag, short: 'h' } } as const
    const { values } = parseArgs({ options })
    const config = readConfig(process.env)
    const about = aboutCommand('zwave-mcp-server', values)
    if (about) stdout.write(about)
    else await run(values['virtual-home'] ? { ...config, brokerUrl: undefined } : config, stdout)
  } catch (error) {
    process.exitCode = reportFailure('zwave-mcp-server', error)
  }
}

/** Serves MCP until the client disconnects: it closes our stdin or stops reading our stdout. */
async function run(config: Config, stdout: Writable): Promise<void> {
  const { prefix, confirmTimeoutMs, staleMs } = config
  const logger = stderrLogger(config.logLevel)
  const virtual = config.brokerUrl === undefined
  if (virtual) logger.warn({}, 'using a virtual home; set MQTT_BROKER_URL to use a real one')
  const startVirtualHome = async () => (await (await import('./home/index.ts')).startHome({ prefix })).url
  const url = config.brokerUrl ?? startVirtualHome
  const link = new BrokerConnection({ ...config, url, filter: `${prefix}/#`, logger })
  const network = new ZwaveNetwork({ ...config, link, logger })
  const stop = async (reason: string) => {
    logger.info({ reason }, 'shutting down')
    setTimeout(() => process.exit(0), CLOSE_MS)
    await network.close().catch(() => {})
    process.exit(0)
  }
  process.once('SIGTERM', () => stop('SIGTERM'))
  process.once('SIGINT', () => stop('SIGINT'))
  process.on('uncaughtException', error => {
    logger.error({ error, stack: error.stack }, 'unexpected error')
    process.exit(1)
  })
  const context = { network, confirmTimeoutMs, staleMs, virtual, now: Date.now }
  const { stdin } = process
  const input = new PassThrough()
  const inFlight = new Set<Promise<unknown>>()
  const connection = serveStdio(() => createServer({ context, logger, inFlight }), {
    transport: new StdioServerTransport(input, stdout),
    onerror: error => logger.warn({ error }, 'MCP error'),
  })
  const isDeaf = new Promise(resolve => stdout.once('error', resolve).once('close', resolve))
  const isSilent = new Promise(resolve => stdin.once('end', resolve).once('close', resolve))
  stdin.pipe(input, { end: false })
  // A client that writes its requests and closes the pipe still gets its answers; the SDK alone would drop them.
  const finished = isSilent
    .then(() => delay(READ_MS))
    .then(() => Promise.race([Promise.allSettled(inFlight), delay(confirmTimeoutMs + ANSWER_MARGIN_MS)]))
    .then(() => delay(READ_MS))
  await Promise.race([isDeaf, finished])
  await connection.close()
  await new Promise(resolve => stdout.end(resolve))
  await stop('client disconnected')
}
