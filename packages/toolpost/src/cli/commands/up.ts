import { setTimeout as delay } from 'node:timers/promises'
import type { ServedGateway, ServeOptions } from '../../gateway/index.ts'
import { EXIT, UsageError } from '../exit-codes.ts'
import type { Session } from '../session.ts'
import { printResult, say, type Terminal } from '../terminal.ts'
import { announceServers, announceVoice } from '../up/latecomers.ts'
import { type Overview, overview, statusText } from '../up/overview.ts'
import { Parts } from '../up/parts.ts'
import { keepStatusLine } from '../up/status-line.ts'
import { Voice } from '../up/voice.ts'

export interface UpFlags {
  host?: string
  port?: string
  token?: string
  allowHost?: string[]
  voice?: boolean
}

/** After the start of the process. What is not there by then is reported as still coming. */
const FIRST_WORD_MS = 1_600
const SHORTEST_WAIT_MS = 300

/** `toolpost up`: starts everything side by side, says what there is, and serves it until it is stopped. */
export async function runUp(session: Session, flags: UpFlags, terminal: Terminal): Promise<number> {
  const address = addressOf(session, flags)
  const { stop } = session
  const parts = new Parts(session)
  const voice = flags.voice ? new Voice(session, parts, text => say(terminal, text)) : undefined
  // First of all, because it can be refused: then nothing is started.
  const gateway = await listen({ session, parts, voice }, address)
  await Promise.race([Promise.all([parts.start(), voice?.start()]), firstWord(), stop.first])
  const now = () => lookAt({ session, parts, voice }, gateway, address.token !== undefined)
  printResult(terminal, overview(now()))
  const status = keepStatusLine(terminal, () => statusText(now(), session.executor.metrics.snapshot()))
  const latecomers = announceServers(parts.servers, terminal)
  announceVoice(voice, terminal)
  await stop.first
  latecomers.stop()
  status.stop()
  void stop.second.then(() => voice?.close({ drainMs: 0 }))
  await Promise.all([voice?.close(), drain(session, gateway, terminal)])
  return EXIT.ok
}

function firstWord(): Promise<void> {
  return delay(Math.max(SHORTEST_WAIT_MS, FIRST_WORD_MS - performance.now()), undefined, { ref: false })
}

type Address = Pick<ServeOptions, 'host' | 'port' | 'token' | 'hosts'>

function addressOf({ config }: Session, flags: UpFlags): Address {
  const token = flags.token ?? (process.env.TOOLPOST_TOKEN || undefined)
  return {
    host: flags.host ?? config.gateway?.host,
    port: flags.port === undefined ? config.gateway?.port : portOf(flags.port),
    token,
    hosts: flags.allowHost,
  }
}

function portOf(text: string): number {
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= 65_535) return port
  throw new UsageError(`--port takes a number from 0 to 65535, got '${text}'`)
}

/** What runs, and is shown. */
interface Running {
  session: Session
  parts: Parts
  voice: Voice | undefined
}

async function listen({ session, parts, voice }: Running, address: Address): Promise<ServedGateway> {
  const { executor, config, logger } = session
  const { serveGateway, GatewayError } = await import('../../gateway/index.ts')
  const { servers: mcp, client } = parts
  const slowMs = config.executor?.slowMs
  try {
    return await serveGateway({
      executor,
      mcp,
      client,
      model: () => parts.model(),
      voice: () => voice?.input,
      slowMs,
      logger,
      ...address,
    })
  } catch (error) {
    throw error instanceof GatewayError ? new UsageError(error.message, { cause: error }) : error
  }
}

function lookAt({ session, parts, voice }: Running, gateway: ServedGateway, hasToken: boolean): Overview {
  const { file, tools } = session
  const local = tools.getTools().filter(tool => !tools.originOf(tool))
  return {
    file,
    url: gateway.url,
    takenPort: gateway.takenPort,
    hasToken,
    localTools: local.map(({ name }) => name),
    servers: parts.servers.status(),
    problem: parts.problem,
    model: parts.chosen,
    voice: voice?.parts ?? [],
  }
}

/** Calls under way are waited for, unless somebody is in a hurry. */
async function drain({ executor, stop }: Session, gateway: ServedGateway, terminal: Terminal): Promise<void> {
  const { inFlight } = executor.metrics.snapshot()
  if (inFlight > 0) say(terminal, `Waiting for ${inFlight} calls under way; Ctrl-C ends them`)
  void stop.second.then(() => gateway.abort())
  await gateway.close()
}
