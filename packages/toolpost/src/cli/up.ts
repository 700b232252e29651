import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { ServedGateway, ServeOptions } from '../gateway/index.ts'
import { record, replay } from '../interceptors/cassette.ts'
import { escapeControls } from '../logging/safe-value.ts'
import type { ServerStatus } from '../mcp/index.ts'
import { announceGateway, followToken, makeToken, readToken, stateFolder } from '../project/local-state.ts'
import type { Project } from '../project/project.ts'
import { DEFAULT_CONFIG_FILE } from '../project/resolve.ts'
import { missingVoice, startInstalledVoice } from '../project/voice.ts'
import { CassetteError, readCassette } from '../tools/cassette-file.ts'
import { isLoopback } from '../util/text.ts'
import type { CommandContext, Flags, ProjectWishes } from './context.ts'
import { openDurable, requireDurable } from './durable.ts'
import { EXIT, UsageError, unlessStopped } from './exit.ts'
import { chosenToken } from './gateway-client.ts'
import { printResult, say } from './terminal.ts'

/** Since the start of the process. Whatever is not ready by then is reported as still starting. */
const FIRST_WORD_MS = 1_600
const SHORTEST_WAIT_MS = 300

/** What the flags ask of the project; throws if that is impossible. */
export function wishesOf(flags: Flags, onProblem: (text: string) => void): ProjectWishes {
  const { voice, worker = true, record: to, replay: from } = flags
  const install = voice ? missingVoice() : undefined
  if (install) throw new UsageError(`--voice needs another package; run: ${install}`)
  if (to !== undefined && from !== undefined) throw new UsageError('--record and --replay cannot be combined')
  const durable = { role: worker ? 'worker' : 'gateway', stays: true } as const
  const wishes = { durable, ...(voice && { voice: startInstalledVoice }) }
  try {
    if (to !== undefined) return { ...wishes, inside: [record(to)], model: { record: to } }
    if (from === undefined) return wishes
    const hasReplies = readCassette(from).replies.length > 0
    const model = hasReplies ? { wanted: `replay:${from}`, isRequired: true } : {}
    return { ...wishes, inside: [replay(from, { onProblem })], model }
  } catch (error) {
    throw error instanceof CassetteError ? new UsageError(error.message, { cause: error }) : error
  }
}

/** `toolpost up`: starts everything in parallel, prints an overview, and serves it until stopped. */
export async function runUp(context: CommandContext): Promise<number> {
  const { project, stop, telemetry, flags } = context
  requireDurable(project)
  const address = addressOf(context)
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
    `Toolpost, ${project.file ?? 'built-in example (no toolpost.json here)'}\n`,
    `${statusLines(project, telemetry?.target).join('\n')}\n`,
    takenPort === undefined ? [] : `Port ${takenPort} is in use; using another one.`,
    `Console  ${consoleAddress(gateway)}`,
    `MCP      ${url}mcp  (with the token that \`toolpost token\` prints)`,
    flags.record === undefined ? [] : `Recording calls and replies to ${flags.record}`,
    flags.replay === undefined ? [] : `Replaying ${flags.replay}: tools do not run`,
    '\nPress Ctrl-C to stop.',
  ]
  await untilStopped(context, overview.flat().join('\n'))
  await drain(context, gateway)
  withdraw()
  return EXIT.ok
}

/** `toolpost worker`: runs durable calls with the tools of this machine until stopped; it accepts no calls itself. */
export async function runWorker(context: CommandContext): Promise<number> {
  const { project, stop, terminal } = context
  const { durable } = await unlessStopped(openDurable(project), stop)
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
  const { servers, durable } = project.status()
  // A blank, because a server cannot have such a name.
  const known = new Map<string, string>([[' durable', durable?.state ?? '']])
  for (const { name, state } of servers) known.set(name, state)
  // Failures are reported elsewhere.
  const tellNews = (name: string, state: string, text: string) => {
    if (known.get(name) !== state && /^(ready|lost)$/.test(state)) say(terminal, text)
    known.set(name, state)
  }
  const quiet = project.on('server', server => tellNews(server.name, server.state, serverLine(server)))
  const quietDurable = project.on('durable', () => {
    const { state, text } = project.status().durable ?? { state: '', text: '' }
    tellNews(' durable', state, line(state, 'durable', text))
  })
  await stop.first
  notifySystemd('STOPPING=1')
  following.stop()
  quiet()
  quietDurable()
}

/** Tells systemd the state of the service, if it asked for that when starting this process. Never fails. */
function notifySystemd(state: string): void {
  if (!process.env.NOTIFY_SOCKET) return
  spawn('systemd-notify', [`--pid=${process.pid}`, state], { stdio: 'ignore' }).on('error', () => {})
}

type Address = Pick<ServeOptions, 'host' | 'port' | 'token' | 'hosts'>

function addressOf(context: CommandContext): Address {
  const { config } = context.project
  const { host: given, port, token: chosen, allowHost } = context.flags
  const { gateway = {} } = config
  const host = given ?? gateway.host
  // Beyond loopback, or with an issuer's tokens beside it, somebody has to choose it.
  const isLocal = host === undefined || isLoopback(host)
  const token = chosenToken(config, chosen) ?? (isLocal ? ownToken(context) : undefined)
  if (token === false && !isLocal)
    throw new UsageError(`"token": false turns authentication off, which is possible on loopback only`)
  if (port !== undefined && !(/^\d+$/.test(port) && Number(port) <= 65_535))
    throw new UsageError(`--port expects a number from 0 to 65535, got '${port}'`)
  return { host, port: port === undefined ? gateway.port : Number(port), token, hosts: allowHost }
}

/** The token in `.toolpost/`, made on first use. If it cannot be saved, it lasts until the gateway stops. */
function ownToken({ project, terminal }: CommandContext): string | undefined {
  const folder = stateFolder(project.file)
  try {
    return readToken(folder) ?? makeToken(folder)
  } catch (error) {
    const until = 'This one is valid until Toolpost stops; set TOOLPOST_TOKEN to choose a permanent one.'
    say(terminal, `Cannot save a token in ${folder}: ${(error as Error).message}\n${until}`)
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
  const onToken = (token: string) => {
    gateway.setToken(token)
    withdraw = note()
    say(terminal, `The token has changed. Console  ${consoleAddress(gateway)}`)
  }
  const unfollow = isOwn ? followToken(folder, onToken) : () => {}
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

const SHOWN_NAMES = 12
const MARKS: Record<string, string> = { ready: '✔', open: '✔', failed: '✘', missing: '✘', needs_login: '✘' }

/** The state of everything running, one line each: what is ready, what is not and why. */
function statusLines(project: Project, traces: string | undefined): string[] {
  const { servers, problem, model, voice, history, durable } = project.status()
  const local = project.tools.getTools().filter(tool => !project.tools.originOf(tool))
  const kept = history?.state === 'failed' ? `calls are not kept: ${history.problem}` : (history?.file ?? '')
  return [
    line('ready', 'local', toolsText(local.map(({ name }) => name))),
    servers.map(serverLine),
    problem === undefined ? [] : line('failed', 'servers', `not started: ${problem}`),
    line(model ? 'ready' : '', 'chat', model ? `${model.name}: ${model.why}` : 'still looking for a model'),
    voice.map(({ name, state, text }) => line(state, name, text)),
    traces === undefined ? [] : line('ready', 'traces', traces),
    history ? line(history.state, 'history', kept) : [],
    durable ? line(durable.state, 'durable', durable.text) : [],
  ].flat()
}

function serverLine({ name, state, tools, error = 'no reason given', ...rest }: ServerStatus): string {
  const next = rest.nextAttemptAt ? `, next attempt at ${rest.nextAttemptAt.slice(11, 19)}` : ''
  const texts: Record<string, string> = {
    ready: `ready, ${toolsText(tools)}`,
    needs_login: `needs a login: ${error}`,
    failed: `failed${attemptsText(rest.attempts)}: ${error}${next}`,
    ...(error === 'no reason given' && { starting: 'still starting' }),
  }
  return line(state, name, texts[state] ?? `unreachable; retrying: ${error}${next}`)
}

/** Empty if there was no attempt. */
export function attemptsText(attempts: number): string {
  return attempts === 0 ? '' : ` after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`
}

/** Control characters in what a server sends are shown, not interpreted. */
function line(state: string, name: string, text: string): string {
  return escapeControls(`${MARKS[state] ?? '…'} ${name.padEnd(10)} ${text}`)
}

function toolsText(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN_NAMES).join(', ')
  const count = names.length === 1 ? '1 tool' : `${names.length} tools`
  return `${count}: ${shown}${names.length > SHOWN_NAMES ? ', …' : ''}`
}
