import { setTimeout as delay } from 'node:timers/promises'
import type { ServedGateway, ServeOptions } from '../../gateway/index.ts'
import { warmUpLogging } from '../../logging/warm-up.ts'
import type { Project } from '../../project/project.ts'
import { missingVoice, startInstalledVoice } from '../../project/voice.ts'
import type { CommandContext, ProjectWishes } from '../context.ts'
import { EXIT, UsageError } from '../exit-codes.ts'
import { requireDurable } from '../require-durable.ts'
import { notifySystemd } from '../service/systemctl.ts'
import { unlessStopped } from '../stop-signals.ts'
import { printResult, say } from '../terminal.ts'
import { announceChanges } from '../up/announcements.ts'
import { type Overview, overview, statusText } from '../up/overview.ts'
import { keepStatusLine } from '../up/status-line.ts'

export interface UpFlags {
  host?: string
  port?: string
  token?: string
  allowHost?: string[]
  voice?: boolean
  worker?: boolean
}

/** Since the start of the process. Whatever is not ready by then is reported as still starting. */
const FIRST_WORD_MS = 1_600
const SHORTEST_WAIT_MS = 300

/**
 * With `--voice` the project includes the voice gateway; throws if that is not installed. With `--no-worker` durable runs are
 * left to others.
 */
export function wishesOf({ voice, worker = true }: UpFlags): ProjectWishes {
  const install = voice ? missingVoice() : undefined
  if (install) throw new UsageError(`--voice needs another package; run: ${install}`)
  const durable = { role: worker ? 'worker' : 'gateway', stays: true } as const
  return { durable, ...(voice && { voice: startInstalledVoice }) }
}

/** `toolpost up`: starts everything in parallel, prints an overview, and serves it until stopped. */
export async function runUp(context: CommandContext, flags: UpFlags): Promise<number> {
  const { project, stop, terminal } = context
  requireDurable(project)
  const address = addressOf(project, flags)
  await unlessStopped(project.answerInputs(), stop.signal)
  // First, because it can fail: then nothing else is started.
  const gateway = await listen(project, address)
  const following = project.follow()
  stop.onHangup(() => void following.reload())
  const word = firstWord()
  const started = project.start()
  // The history comes after what people are waiting for.
  const kept = project.keepHistory({ after: Promise.race([started, word]) })
  await Promise.race([Promise.all([started, kept]), word, stop.first])
  const now = () => lookAt(context, gateway, address.token !== undefined)
  printResult(terminal, overview(now()))
  notifySystemd('--ready')
  const status = keepStatusLine(terminal, () => statusText(now(), project.executor.metrics.snapshot()))
  const announcements = announceChanges(project, terminal)
  await stop.first
  notifySystemd('STOPPING=1')
  following.stop()
  announcements.stop()
  status.stop()
  await drain(context, gateway)
  return EXIT.ok
}

function firstWord(): Promise<void> {
  return delay(Math.max(SHORTEST_WAIT_MS, FIRST_WORD_MS - performance.now()), undefined, { ref: false })
}

type Address = Pick<ServeOptions, 'host' | 'port' | 'token' | 'hosts'>

function addressOf({ config }: Project, flags: UpFlags): Address {
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
  throw new UsageError(`--port expects a number from 0 to 65535, got '${text}'`)
}

async function listen(project: Project, address: Address): Promise<ServedGateway> {
  const { serveGateway, GatewayError } = await import('../../gateway/index.ts')
  const { slowMs } = project.config.executor ?? {}
  warmUpLogging()
  try {
    return await serveGateway({ project, slowMs, logger: project.logger, ...address })
  } catch (error) {
    throw error instanceof GatewayError ? new UsageError(error.message, { cause: error }) : error
  }
}

function lookAt({ project, telemetry }: CommandContext, gateway: ServedGateway, hasToken: boolean): Overview {
  const { file, tools } = project
  const local = tools.getTools().filter(tool => !tools.originOf(tool))
  return {
    file,
    url: gateway.url,
    takenPort: gateway.takenPort,
    hasToken,
    traces: telemetry?.target,
    localTools: local.map(({ name }) => name),
    ...project.status(),
  }
}

/** Waits for calls in flight and spoken answers, until stopped a second time. */
async function drain({ project, stop, terminal }: CommandContext, gateway: ServedGateway): Promise<void> {
  const { inFlight } = project.executor.metrics.snapshot()
  if (inFlight > 0)
    say(
      terminal,
      `Waiting for ${inFlight} ${inFlight === 1 ? 'call' : 'calls'} in flight; press Ctrl-C to abort.`,
    )
  void stop.second.then(() => {
    gateway.abort()
    void project.closeVoice({ drainMs: 0 })
  })
  await Promise.all([project.closeVoice(), gateway.close()])
  await project.closeDurable()
}
