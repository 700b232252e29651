import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { brokerAddress, ConfigError, reportFailure, withoutCredentials } from '../config.ts'
import { aboutCommand } from '../data.ts'
import { type DeviceDescription, describeDevices, startBroker, startHome } from './index.ts'
import { GATEWAY_TYPES, PAYLOAD_TYPES } from './virtual-home.ts'

const TEXT = { type: 'string' } as const
const FLAG = { type: 'boolean' } as const
const OPTIONS = {
  broker: TEXT,
  port: TEXT,
  devices: TEXT,
  delay: TEXT,
  topic: TEXT,
  topics: TEXT,
  payload: TEXT,
  'virtual-home': FLAG,
  version: FLAG,
  help: { ...FLAG, short: 'h' },
} as const

main().catch(error => process.exit(reportFailure('zwave-home', error)))

async function main(): Promise<void> {
  const { values } = parseArgs({ options: OPTIONS })
  const about = aboutCommand('zwave-home', values)
  if (about) return void process.stdout.write(about)
  const running = await start(values)
  const end = () => void running.close().finally(() => process.exit(0))
  process.once('SIGTERM', end)
  process.once('SIGINT', end)
  process.stdout.write(`${JSON.stringify({ url: withoutCredentials(running.url) })}\n`)
}

async function start(values: ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values']) {
  const { broker, topic, devices } = values
  const port = readNumber('--port', values.port, 65_535)
  if (!values['virtual-home']) {
    if (broker) throw new ConfigError('--broker needs --virtual-home: without it there is nothing to start.')
    return startBroker({ port })
  }
  if (broker) brokerAddress(broker)
  return startHome({
    port,
    brokerUrl: broker,
    prefix: topic || undefined,
    delayMs: readNumber('--delay', values.delay, 3_600_000),
    devices: devices === undefined ? undefined : await readDevices(devices),
    topics: readChoice('--topics', values.topics, GATEWAY_TYPES),
    payload: readChoice('--payload', values.payload, PAYLOAD_TYPES),
  })
}

function readChoice<Choice>(name: string, text: string | undefined, choices: readonly Choice[]) {
  const choice = choices.find(item => item === text)
  if (choice || text === undefined) return choice
  throw new ConfigError(`invalid ${name} "${text}"; expected one of ${choices.join(', ')}`)
}

function readNumber(name: string, text: string | undefined, max: number): number | undefined {
  if (text === undefined) return undefined
  if (/^\d+$/.test(text) && Number(text) <= max) return Number(text)
  throw new ConfigError(`${name} must be a whole number up to ${max}, not "${text}".`)
}

async function readDevices(path: string): Promise<DeviceDescription[]> {
  try {
    return describeDevices(JSON.parse(await readFile(path, 'utf8')))
  } catch (error) {
    throw new ConfigError(`${path}: ${error instanceof Error ? error.message : error}`)
  }
}
