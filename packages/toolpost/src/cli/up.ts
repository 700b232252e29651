import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { ServedGateway, ServeOptions } from '../gateway/index.ts'
import { record, replay } from '../interceptors/cassette.ts'
import { announceGateway, followToken, makeToken, readToken, stateFolder } from '../project/local-state.ts'
import type { Project } from '../project/project.ts'
import { DEFAULT_CONFIG_FILE } from '../project/read.ts'
import { missingVoice, startInstalledVoice } from '../project/voice.ts'
import { CassetteError, readCassette } from '../tools/cassette-file.ts'
import { isLoopback } from '../util/loopback.ts'
import type { CommandContext, ProjectWishes } from './context.ts'
import { openDurable, requireDurable } from './durable.ts'
import { EXIT, UsageError } from './exit-codes.ts'
import { chosenToken } from './gateway-client.ts'
import { unlessStopped } from './stop-signals.ts'
import { printResult, say, type Terminal } from './terminal.ts'
import { announceChanges, statusLines } from './up-texts.ts'

export interface UpFlags {
  host?: string
  port?: string
  token?: string
  allowHost?: string[]
  voice?: boolean
  worker?: boolean
  record?: string
  replay?: string
}

/** Since the start of the process. Whatever is not ready by then is reported as still starting. */
const FIRST_WORD_MS = 1_600
const SHORTEST_WAIT_MS = 300

/**
 * With `--voice` the project includes the voice gateway; throws if that is not installed. With `--no-worker` durable runs are
 * left to others. With `--record` and `--replay` calls and replies go to a cassette, or come from it.
 */
export function wishesOf(flags: UpFlags, onProblem: (text: string) => void): ProjectWishes {
  const { voice, worker = true } = flags
  const install = voice ? missingVoice() : undefined
  if (install) throw new UsageError(`--voice needs another package; run: ${install}`)
  const durable = { role: worker ? 'worker' : 'gateway', stays: true } as const
  return { durable, ...cassetteWishes(flags, onProblem), ...(voice && { voice: startInstalledVoice }) }
}

function cassetteWishes({ record: to, replay: from }: UpFlags, onProblem: (text: string) => void) {
  if (to !== undefined && from !== undefined) throw new UsageError('--record and --replay cannot be combined')
  try {
    if (to !== undefined) return { inside: [record(to)], model: { record: to } }
    if (from === undefined) return {}
    const model = readCassette(from).replies.length > 0 ? { wanted: `replay:${from}`, isRequired: true } : {}
    return { inside: [replay(from, { onProblem })], model }
  } catch (error) {
    throw error instanceof CassetteError ? new UsageError(error.message, { cause: error }) : error
  }
}

/** `toolpost up`: starts everything in parallel, prints an overview, and serves it until stopped. */
export async function runUp(context: CommandContext, flags: UpFlags): Promise<number> {
  const { project, stop, terminal, telemetry } = context
  requireDurable(project)
  const address = addressOf(project, flags, terminal)
  await unlessStopped(project.answerInputs(), stop.signal)
  // First, because it can fail: then nothing else is started.
  const gateway = await listen(project, address)
  const withdraw = announce(context, gateway)
  const word = delay(Math.max(SHORTEST_WAIT_MS, FIRST_WORD_MS - performance.now()), undefined, { ref: false })
  const started = project.start()
  // The history comes after what people are waiting for.
  const kept = project.keepHistory({ after: Promise.race([started, word]) })
  await Promise.race([Promise.all([started, kept]), word, stop.first])
  const { url, takenPort } = gateway
  const overview = [
    `Toolpost, ${project.file ?? 'built-in example (no toolpost.json here)'}`,
    '',
    ...statusLines(project, telemetry?.target),
    '',
    ...(takenPort === undefined ? [] : [`Port ${takenPort} is in use; using another one.`]),
    `Console  ${consoleAddress(gateway)}`,
    `MCP      ${url}mcp  (with the token that \`toolpost token\` prints)`,
    ...(flags.record === undefined ? [] : [`Recording calls and replies to ${flags.record}`]),
    ...(flags.replay === undefined ? [] : [`Replaying ${flags.replay}: tools do not run`]),
    '',
    'Press Ctrl-C to stop.',
  ]
  await untilStopped(context, overview.join('\n'))
  await drain(context, gateway)
  withdraw()
  return EXIT.ok
}

/** `toolpost worker`: runs durable calls with the tools of this machine until stopped; it accepts no calls itself. */
export async function runWorker(context: CommandContext): Promise<number> {
  const { project, stop, terminal } = context
  await unlessStopped(project.answerInputs(), stop.signal)
  const { durable } = await unlessStopped(openDurable(project), stop.signal)
  await Promise.race([project.ready(), stop.first])
  const { text } = durable.status()
  const tools = `${project.tools.getTools().length} tools. Press Ctrl-C to stop.`
  await untilStopped(context, `Worker, ${project.file ?? 'built-in example'}: ${text}\n${tools}`)
  say(terminal, 'Finishing the runs in progress, for up to ten seconds; other workers take over the rest.')
  await project.closeDurable()
  return EXIT.ok
}

/** Prints what is running, and follows the configuration and its servers until the program is asked to stop. */
async function untilStopped({ project, stop, terminal }: CommandContext, overview: string): Promise<void> {
  const following = project.follow()
  stop.onHangup = () => void following.reload()
  printResult(terminal, overview)
  notifySystemd('--ready')
  const quiet = announceChanges(project, terminal)
  await stop.first
  notifySystemd('STOPPING=1')
  following.stop()
  quiet()
}

/** Tells systemd the state of the service, if it asked for that when starting this process. Never fails. */
function notifySystemd(state: string): void {
  if (!process.env.NOTIFY_SOCKET) return
  spawn('systemd-notify', [`--pid=${process.pid}`, state], { stdio: 'ignore' }).on('error', () => {})
}

type Address = Pick<ServeOptions, 'host' | 'port' | 'token' | 'hosts'>

function addressOf(project: Project, flags: UpFlags, terminal: Terminal): Address {
  const { gateway = {} } = project.config
  const host = flags.host ?? gateway.host
  // Beyond loopback, or with an issuer's tokens beside it, somebody has to choose it.
  const isLocal = host === undefined || isLoopback(host)
  const token = chosenToken(project.config, flags) ?? (isLocal ? ownToken(project, terminal) : undefined)
  if (token === false && !isLocal)
    throw new UsageError(`"token": false turns authentication off, which is possible on loopback only`)
  const port = flags.port === undefined ? gateway.port : Number(flags.port)
  if (flags.port !== undefined && !(/^\d+$/.test(flags.port) && Number(flags.port) <= 65_535))
    throw new UsageError(`--port expects a number from 0 to 65535, got '${flags.port}'`)
  return { host, port, token, hosts: flags.allowHost }
}

/** The token in `.toolpost/`, made on first use. If it cannot be saved, it lasts until the gateway stops. */
function ownToken({ file }: Project, terminal: Terminal): string | undefined {
  const folder = stateFolder(file)
  try {
    return readToken(folder) ?? makeToken(folder)
  } catch (error) {
    say(
      terminal,
      `Cannot save a token in ${folder}: ${(error as Error).message}\nThis one is valid until Toolpost stops; set TOOLPOST_TOKEN to choose a permanent one.`,
    )
    return undefined
  }
}

/** Other commands in this folder find the gateway, and it takes over a new token. */
function announce({ project, terminal }: CommandContext, gateway: ServedGateway): () => void {
  const folder = stateFolder(project.file)
  const config = resolve(project.file ?? DEFAULT_CONFIG_FILE)
  const note = () => {
    try {
      return announceGateway(folder, { url: gateway.url, token: gateway.token, config })
    } catch {
      // Then commands in this folder need `--url`.
      return () => {}
    }
  }
  let withdraw = note()
  const isOwn = gateway.token !== undefined && gateway.token === readToken(folder)
  const unfollow = isOwn
    ? followToken(folder, token => {
        gateway.setToken(token)
        withdraw = note()
        say(terminal, `The token has changed. Console  ${consoleAddress(gateway)}`)
      })
    : () => {}
  return () => {
    unfollow()
    withdraw()
  }
}

async function listen(project: Project, address: Address): Promise<ServedGateway> {
  const { serveGateway, GatewayError } = await import('../gateway/index.ts')
  const { slowMs } = project.config.executor ?? {}
  try {
    return await serveGateway({ project, slowMs, logger: project.logger, ...address })
  } catch (error) {
    throw error instanceof GatewayError ? new UsageError(error.message, { cause: error }) : error
  }
}

/** The token is in the fragment, which browsers never send. */
function consoleAddress({ url, token }: ServedGateway): string {
  return token === undefined ? url : `${url}#token=${encodeURIComponent(token)}`
}

/** Waits for calls in flight and spoken answers, until stopped a second time. */
async function drain({ project, stop, terminal }: CommandContext, gateway: ServedGateway): Promise<void> {
  const { inFlight } = project.executor.metrics.snapshot()
  const calls = inFlight === 1 ? 'call' : 'calls'
  if (inFlight > 0) say(terminal, `Waiting for ${inFlight} ${calls} in flight; press Ctrl-C to abort.`)
  void stop.second.then(() => {
    gateway.abort()
    void project.closeVoice({ drainMs: 0 })
  })
  await Promise.all([project.closeVoice(), gateway.close()])
  await project.closeDurable()
}
