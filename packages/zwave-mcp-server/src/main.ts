import { PassThrough, type Writable } from 'node:stream'
import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { BrokerConnection } from './broker-connection.ts'
import { type Config, FLAG, readConfig, readOptions, reportFailure } from './config.ts'
import { VERSION } from './data.ts'
import { type Logger, stderrLogger } from './log.ts'
import { createServer } from './server.ts'
import { ZwaveNetwork } from './zwave/network.ts'

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
const ANSWER_MARGIN_MS = 2_000

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

/** Serves MCP until the client disconnects: it closes our stdin or stops reading our stdout. */
async function run(config: Config, stdout: Writable): Promise<void> {
  const { confirmTimeoutMs, staleMs } = config
  const logger = stderrLogger(config.logLevel)
  const virtual = config.brokerUrl === undefined
  if (virtual) logger.warn({}, 'using a virtual home; set MQTT_BROKER_URL to use a real one')
  const network = new ZwaveNetwork({ ...config, link: connect(config, logger), logger })
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
  setTimeout(() => network.start(), START_MS)
  const context = { network, confirmTimeoutMs, staleMs, virtual, now: Date.now }
  const input = new PassThrough()
  const transport = new AnsweringTransport(input, stdout)
  const connection = serveStdio(() => createServer({ context, logger }), {
    transport,
    onerror: error => logger.warn({ error }, 'MCP error'),
  })
  const { stdin } = process
  const ended = new Promise(resolve => stdin.once('end', resolve).once('close', resolve))
  stdin.pipe(input, { end: false })
  // A client that writes its requests and closes the pipe still gets its answers; the SDK alone would drop them.
  const finished = ended.then(() => transport.whenAnswered(confirmTimeoutMs + ANSWER_MARGIN_MS))
  await Promise.race([transport.whenClosed, finished])
  await connection.close()
  await new Promise(resolve => stdout.end(resolve))
  await stop('client disconnected')
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

/** The SDK's stdio transport, which also tracks the requests that have not been answered yet. */
class AnsweringTransport extends StdioServerTransport {
  readonly #open = new Set<unknown>()
  #onIdle = () => {}
  #onClosed = () => {}

  readonly whenClosed = new Promise<void>(resolve => {
    this.#onClosed = resolve
  })

  /** Resolves when every request so far has been answered, or after `maxMs`. */
  async whenAnswered(maxMs: number): Promise<void> {
    if (this.#open.size === 0) return
    await new Promise<void>(resolve => {
      setTimeout(resolve, maxMs)
      this.#onIdle = resolve
    })
  }

  override start(): Promise<void> {
    const deliver = this.onmessage
    this.onmessage = message => {
      const method = 'method' in message ? message.method : undefined
      // A subscription stays open for as long as the client is connected; a cancelled request gets no answer.
      if (method && 'id' in message && method !== 'subscriptions/listen') this.#open.add(message.id)
      if (method === 'notifications/cancelled' && 'params' in message)
        this.#settled(message.params?.requestId)
      deliver?.(message)
    }
    return super.start()
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    await super.send(message)
    if (!('method' in message)) this.#settled(message.id)
  }

  override async close(): Promise<void> {
    await super.close()
    this.#onClosed()
  }

  #settled(id: unknown): void {
    if (this.#open.delete(id) && this.#open.size === 0) this.#onIdle()
  }
}
