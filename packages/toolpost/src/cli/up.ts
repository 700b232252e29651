import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isatty } from 'node:tty'
import type { ServedGateway } from '../gateway/index.ts'
import { record, replay } from '../interceptors/cassette.ts'
import { readCassette } from '../interceptors/cassette-file.ts'
import { announceGateway, followToken, makeToken, readToken, stateFolder } from '../project/local-state.ts'
import type { Project } from '../project/project.ts'
import { DEFAULT_CONFIG_FILE } from '../project/resolve.ts'
import { isStartedByItself } from '../project/servers.ts'
import { missingVoice, startInstalledVoice } from '../project/voice.ts'
import type { Ask } from '../tools/caller.ts'
import { quietly } from '../util/quietly.ts'
import { isLoopback } from '../util/text.ts'
import type { Context, Flags, ProjectSettings } from './context.ts'
import { EXIT, numberOf, stop, UsageError, unlessStopped } from './process.ts'
import { chosenToken, openDurable, requireDurable } from './records.ts'
import { findingsOn, lineOf } from './status.ts'
import { counted, print, say } from './terminal.ts'

/** Since the start of the process. Whatever is not ready by then is reported as still starting. */
const FIRST_WORD_MS = 1_600
const SHORTEST_WAIT_MS = 300

/** What the flags ask of the project; throws if that is impossible. */
function settingsFor({ voice, worker = true, record: to, replay: from }: Flags): ProjectSettings {
  const install = voice ? missingVoice() : undefined
  if (install) throw new UsageError(`--voice needs another package; run: ${install}`)
  if (to !== undefined && from !== undefined) throw new UsageError('--record and --replay cannot be combined')
  const durable = { role: worker ? 'worker' : 'gateway', stays: true } as const
  const settings = { durable, ...(voice && { voice: startInstalledVoice }) }
  if (to !== undefined) return { ...settings, inside: [record(to)], model: { record: to } }
  if (from === undefined) return settings
  const hasReplies = readCassette(from).replies.length > 0
  const model = hasReplies ? { wanted: `replay:${from}`, isRequired: true } : {}
  return { ...settings, inside: [replay(from, { onProblem: say })], model }
}

/** `toolpost up`: starts everything in parallel, prints an overview, and serves it until stopped. */
export async function runUp(context: Context): Promise<number> {
  const { flags } = context
  const project = await context.open(settingsFor(flags))
  requireDurable(project)
  // First, because it can fail: then nothing else is started.
  const gateway = await listen(project, flags)
  const withdraw = announce(project, gateway)
  const word = delay(Math.max(SHORTEST_WAIT_MS, FIRST_WORD_MS - performance.now()), undefined, { ref: false })
  const started = project.start()
  // The history comes after what people are waiting for.
  const kept = project.keepHistory({ after: Promise.race([started, word]) })
  await Promise.race([Promise.all([started, kept]), word, stop.first])
  const { url, takenPort } = gateway
  const overview = [
    `Toolpost, ${project.file ?? 'built-in example (no toolpost.json here)'}\n`,
    `${findingsOn(project, context.telemetry?.target).map(lineOf).join('\n')}\n`,
    takenPort === undefined ? [] : `Port ${takenPort} is in use; using another one.`,
    `Console  ${consoleAddress(gateway)}`,
    `MCP      ${url}mcp${gateway.token ? '  (with the token that `toolpost token` prints)' : ''}`,
    flags.record === undefined ? [] : `Recording calls and replies to ${flags.record}`,
    flags.replay === undefined ? [] : `Replaying ${flags.replay}: tools do not run`,
    '\nPress Ctrl-C to stop.',
  ]
  await untilStopped(project, overview.flat().join('\n'))
  // Calls in flight and spoken answers are waited for, until stopped a second time.
  const { inFlight } = project.executor.metrics.snapshot()
  if (inFlight > 0) say(`Waiting for ${counted(inFlight, 'call')} in flight; press Ctrl-C to abort.`)
  stop.onImpatience = () => {
    gateway.abort()
    void project.closeVoice({ drainMs: 0 })
  }
  await Promise.all([project.closeVoice(), gateway.close()])
  await project.closeDurable()
  withdraw()
  return EXIT.ok
}

/** `toolpost worker`: runs durable calls with the tools of this machine until stopped; it accepts no calls itself. */
export async function runWorker({ open }: Context): Promise<number> {
  const project = await open({ durable: { role: 'worker', stays: true } })
  const { durable } = await unlessStopped(openDurable(project))
  await Promise.race([project.ready(), stop.first])
  const where = `Worker, ${project.file ?? 'built-in example'}: ${durable.status().text}`
  await untilStopped(project, `${where}\n${project.tools.getTools().length} tools. Press Ctrl-C to stop.`)
  say('Finishing the runs in progress, for up to ten seconds; other workers take over the rest.')
  await project.closeDurable()
  return EXIT.ok
}

/** Follows the files of the configuration. SIGHUP reads them again, unless it means that the terminal was closed. */
function follow(project: Project) {
  const following = project.follow()
  const hadTerminal = isatty(0)
  stop.onHangup = () => {
    // The descriptor of a closed terminal is no longer a TTY.
    const isReload = isatty(0) === hadTerminal
    if (isReload) void following.reload()
    return isReload
  }
  return following
}

/** Prints what is running, and follows the configuration and its servers until the program is asked to stop. */
async function untilStopped(project: Project, overview: string): Promise<void> {
  const following = follow(project)
  print(overview)
  notifySystemd('--ready')
  const known = new Map(findingsOn(project).map(([state, name]) => [name, state]))
  const tellNews = () => {
    for (const finding of findingsOn(project)) {
      const [state, name] = finding
      // Failures are reported elsewhere.
      if (known.get(name) !== state && /^(ready|lost)$/.test(state)) say(lineOf(finding))
      known.set(name, state)
    }
  }
  const quiet = [project.on('server', tellNews), project.on('durable', tellNews)]
  await stop.first
  notifySystemd('STOPPING=1')
  following.stop()
  for (const end of quiet) end()
}

/** Tells systemd the state of the service, if it asked for that when starting this process. Never fails. */
function notifySystemd(state: string): void {
  if (!process.env.NOTIFY_SOCKET) return
  spawn('systemd-notify', [`--pid=${process.pid}`, state], { stdio: 'ignore' }).on('error', () => {})
}

async function listen(project: Project, flags: Flags): Promise<ServedGateway> {
  const { gateway = {}, executor } = project.config
  const { host = gateway.host, token: chosen, allowHost: hosts } = flags
  // Beyond loopback, or with an issuer's tokens beside it, somebody has to choose it.
  const isLocal = host === undefined || isLoopback(host)
  const token = chosenToken(project.config, chosen) ?? (isLocal ? ownToken(project) : undefined)
  if (token === false && !isLocal)
    throw new UsageError(`"token": false turns authentication off, which is possible on loopback only`)
  const port = numberOf(flags, 'port', 0, 65_535) ?? gateway.port
  const { serveGateway } = await import('../gateway/index.ts')
  const address = { host, port, token, hosts }
  return serveGateway({ project, slowMs: executor?.slowMs, logger: project.logger, ...address })
}

/** The token in `.toolpost/`, made on first use. If it cannot be saved, it lasts until the gateway stops. */
function ownToken({ file }: Project): string | undefined {
  const folder = stateFolder(file)
  try {
    return readToken(folder) ?? makeToken(folder)
  } catch (error) {
    const until = 'This one is valid until Toolpost stops; set TOOLPOST_TOKEN to choose a permanent one.'
    say(`Cannot save a token in ${folder}: ${(error as Error).message}\n${until}`)
    return undefined
  }
}

/** Other commands in this folder find the gateway, and it takes over a new token. Returns what ends this. */
function announce(project: Project, gateway: ServedGateway): () => void {
  const folder = stateFolder(project.file)
  const config = resolve(project.file ?? DEFAULT_CONFIG_FILE)
  let withdraw = () => {}
  // If this fails, commands in this folder start servers of their own.
  const note = () =>
    quietly(() => {
      withdraw = announceGateway(folder, { url: gateway.url, token: gateway.token, config })
    })
  note()
  const isOwn = gateway.token !== undefined && gateway.token === readToken(folder)
  const onToken = (token: string) => {
    gateway.setToken(token)
    project.guardNewToken()
    note()
    say(`The token has changed. Console  ${consoleAddress(gateway)}`)
  }
  const unfollow = isOwn ? followToken(folder, onToken) : undefined
  return () => {
    unfollow?.()
    withdraw()
  }
}

/** The token is in the fragment, which browsers never send. */
function consoleAddress({ url, token }: ServedGateway): string {
  return token === undefined ? url : `${url}#token=${encodeURIComponent(token)}`
}

/** Many clients list the tools only once, at the start: until this long after it, a list waits for servers still starting. */
const LIST_WAIT_MS = 3_000

/** There is no console to answer in, so waiting for an answer would only be slow. */
const ask: Ask = async () => ({
  action: 'decline',
  reason: "this MCP client cannot ask you; allow it with a rule in 'policy' of toolpost.json",
})

/** `toolpost serve --stdio`: serves the tools over MCP on standard input and output until the client disconnects. */
export async function runServe({ open, flags }: Context): Promise<number> {
  if (!flags.stdio) throw new UsageError('serve needs --stdio; `toolpost up` serves over HTTP')
  const project = await open()
  const { file } = project
  const itself = 'lists this Toolpost as one of its own servers, so it would start itself over and over'
  if (isStartedByItself(file)) throw new UsageError(`${file} ${itself}; remove it there`)
  const { guardStdout, serveTools } = await import('../gateway/index.ts')
  const stdout = guardStdout()
  const following = follow(project)
  void project.keepHistory({ unasked: false })
  const started = Promise.race([project.ready(), delay(LIST_WAIT_MS, undefined, { ref: false })])
  try {
    await serveTools({
      project,
      logger: project.logger,
      stdin: process.stdin,
      stdout,
      ask,
      signal: stop.signal,
      whenListed: async () => void (await started),
    })
    return EXIT.ok
  } finally {
    following.stop()
    process.stdin.destroy()
  }
}
