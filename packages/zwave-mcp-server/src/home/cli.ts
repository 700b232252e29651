import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { withoutCredentials } from 'toolpost-common/broker-address'
import { ConfigError, checkBrokerUrl } from '../config.ts'
import { createLogger, isLogLevel, type Logger } from '../log.ts'
import { VERSION } from '../version.ts'
import { GATEWAY_TYPES, PAYLOAD_TYPES } from './gateway-messages.ts'
import { type DeviceDescription, describeDevices, startBroker, startHome } from './index.ts'

const HELP = `zwave-home ${VERSION}: an MQTT broker for this machine, and a virtual Z-Wave home on it.

Usage: zwave-home [--virtual-home] [options]

  --virtual-home    play Z-Wave JS UI and its devices; without it, only the broker is started
  --broker <url>    join this broker instead of starting one (with --virtual-home)
  --port <number>   the port of the broker; left out: a free one
  --devices <file>  the devices, described in JSON
  --delay <ms>      how long a device takes to act (10)
  --topic <prefix>  the topic prefix (zwave)
  --topics <type>   the gateway type: named, valueid or manual (named)
  --payload <type>  the payload type: time-value, entire or raw (time-value)
  --until-stdin-ends  stop when standard input ends
  --version, --help

Prints one line of JSON on stdout when it is ready: {"url":"mqtt://127.0.0.1:PORT"}. Logs go to stderr.
`

main().catch(fail)

async function main(): Promise<void> {
  const { values } = parseArguments()
  if (values.help || values.version) {
    process.stdout.write(values.help ? HELP : `${VERSION}\n`)
    return
  }
  const running = await start(values, makeLogger())
  const end = () => void running.close().finally(() => process.exit(0))
  process.once('SIGTERM', end)
  process.once('SIGINT', end)
  if (values['until-stdin-ends']) process.stdin.once('end', end).resume()
  process.stdout.write(`${JSON.stringify({ url: withoutCredentials(running.url) })}\n`)
}

function parseArguments() {
  const flag = { type: 'boolean' } as const
  const text = { type: 'string' } as const
  const options = {
    broker: text,
    port: text,
    devices: text,
    delay: text,
    topic: text,
    topics: text,
    payload: text,
  }
  try {
    return parseArgs({
      options: {
        ...options,
        'virtual-home': flag,
        'until-stdin-ends': flag,
        version: flag,
        help: { ...flag, short: 'h' },
      },
    })
  } catch (error) {
    throw new ConfigError(`${error instanceof Error ? error.message : error} See zwave-home --help.`)
  }
}

type Values = ReturnType<typeof parseArguments>['values']

async function start(values: Values, logger: Logger): Promise<{ url: string; close(): Promise<void> }> {
  const port = values.port === undefined ? {} : { port: readNumber('--port', values.port, 65_535) }
  if (!values['virtual-home']) {
    if (values.broker)
      throw new ConfigError('--broker needs --virtual-home: without it there is nothing to start.')
    return startBroker(port)
  }
  return startHome({
    ...port,
    ...(values.broker && { brokerUrl: checkBrokerUrl(values.broker) }),
    ...(values.topic && { prefix: values.topic }),
    ...(values.delay !== undefined && { delayMs: readNumber('--delay', values.delay, 3_600_000) }),
    ...(values.devices && { devices: await readDevices(values.devices) }),
    ...(values.topics !== undefined && { topics: readChoice('--topics', values.topics, GATEWAY_TYPES) }),
    ...(values.payload !== undefined && { payload: readChoice('--payload', values.payload, PAYLOAD_TYPES) }),
    logger,
  })
}

function readChoice<Choice extends string>(name: string, text: string, choices: readonly Choice[]): Choice {
  const choice = choices.find(item => item === text)
  if (choice) return choice
  throw new ConfigError(`invalid ${name} "${text}"; expected one of ${choices.join(', ')}`)
}

function readNumber(name: string, text: string, max: number): number {
  const value = Number(text)
  if (text !== '' && Number.isInteger(value) && value >= 0 && value <= max) return value
  throw new ConfigError(`${name} must be a whole number up to ${max}, not "${text}".`)
}

async function readDevices(path: string): Promise<DeviceDescription[]> {
  try {
    return describeDevices(JSON.parse(await readFile(path, 'utf8')))
  } catch (error) {
    throw new ConfigError(`${path}: ${error instanceof Error ? error.message : error}`)
  }
}

function makeLogger(): Logger {
  const level = process.env.ZWAVE_LOG_LEVEL ?? ''
  return createLogger({
    level: isLogLevel(level) ? level : 'info',
    write: line => void process.stderr.write(`${line}\n`),
    pretty: process.stderr.isTTY,
  })
}

function fail(error: unknown): void {
  process.stderr.write(`zwave-home: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(error instanceof ConfigError ? 2 : 1)
}
