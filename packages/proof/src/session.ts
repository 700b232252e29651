// The process of a session: `node session.js <job as JSON>`. It loads a driver, starts the servers, runs the
// cases one after the other, and sends a report of each. If the driver throws where nobody can catch it, this
// process dies.
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { CASES, type Case, runCase } from './cases.ts'
import type { Driver, ServerSpec } from './driver.ts'
import { Ledger, note } from './ledger.ts'
import { waitUntil } from './processes.ts'
import type { Verdict } from './run.ts'
import type { ServerSettings } from './server/tools.ts'
import { CaseFailure, messageOf, NO_ANSWER, Trial, within } from './trial.ts'

export interface Job {
  file: string
  ledger: string
  /** When this process was started, in milliseconds since 1970. */
  startedAt: number
  /** Cases that need the same servers. */
  ids: string[]
}

export interface Report extends Verdict {
  /** The executor's process, if it is another one. */
  pid?: number | undefined
  versions?: Record<string, string>
  isNotStarted?: boolean
}

const SERVER = fileURLToPath(new URL('server/main.js', import.meta.url))
const START_MS = 10_000
const CONNECT_MS = 8_000
const HOPELESS_MS = 1_500
/** How long Node takes to start on the idle machine that the bounds are for. */
const BOOT_MS = 60

const job: Job = JSON.parse(process.argv[2] ?? '{}')
const slowness = Math.max(1, (Date.now() - job.startedAt) / BOOT_MS)
const ledger = new Ledger(job.ledger)
const cases = job.ids.map(id => CASES.find(each => each.id === id) as Case)
const warnings: string[] = []
process.once('disconnect', () => process.exit())
process.channel?.unref()
process.on('warning', ({ name, message }) => warnings.push(`${name}: ${message}`))
/** Where schemas with a remote `$ref` point. */
const trap = createServer((request, response) => {
  note(ledger.file, { what: 'fetch', detail: request.url ?? '' })
  response.end('{}')
}).unref()
let httpServer: ChildProcess | undefined
let port = 0

const driver = (await import(pathToFileURL(job.file).href)) as Driver
const versions = versionsOf(driver.packages ?? [])
let trial: Trial | undefined
for (const each of cases) {
  const from = performance.now()
  const outcome = await judged(each)
  const report: Report = { id: each.id, ...outcome, ms: Math.round(performance.now() - from), versions }
  if (each.ending === 'kill') report.pid = driver.pid?.()
  process.send?.(report)
}

async function judged(each: Case): Promise<Pick<Report, 'state' | 'seen' | 'isNotStarted'>> {
  const needs = [each.over ?? 'stdio', ...(each.needs ?? [])]
  const missing = needs.filter(feature => !driver.supports.includes(feature))
  if (missing.length > 0) return { state: 'unsupported', seen: missing.join(', ') }
  try {
    const startError = trial ? undefined : await start(each)
    if (startError !== undefined && !each.startMayFail)
      return { state: 'failed', seen: startError, isNotStarted: true }
    trial ??= new Trial({ driver, ledger, slowness, startError, warnings, restartServer: startHttpServer })
    return { state: 'passed', seen: await runCase(each, trial) }
  } catch (error) {
    return { state: error instanceof CaseFailure ? 'failed' : 'error', seen: messageOf(error) }
  }
}

/** Starts the driver with its servers; returns why it could not. */
async function start({ over, faults = {}, hasSecond, startMayFail }: Case): Promise<string | undefined> {
  await new Promise<void>(resolve => trap.listen(0, '127.0.0.1', resolve))
  const spec = (more: Partial<ServerSettings>): ServerSpec => ({
    command: process.execPath,
    args: serverArgs(more),
    env: {},
  })
  const server = over === 'http' ? { url: await startHttpServer() } : spec({ faults })
  const servers = { server, ...(hasSecond && { second: spec({ prefix: 'second_' }) }) }
  const connectTimeoutMs = startMayFail ? HOPELESS_MS : CONNECT_MS
  try {
    await within(START_MS, driver.start({ server, servers, connectTimeoutMs }), `${NO_ANSWER} to 'start'`)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

function serverArgs(more: Partial<ServerSettings>): string[] {
  const trapUrl = `http://127.0.0.1:${(trap.address() as AddressInfo).port}`
  const settings: ServerSettings = { ledger: ledger.file, faults: {}, prefix: '', trapUrl, ...more }
  return [SERVER, JSON.stringify(settings)]
}

/** Starts the server over HTTP; if it was started before, afresh on the same port. Returns its URL. */
async function startHttpServer(): Promise<string> {
  httpServer?.kill('SIGKILL')
  const child = spawn(process.execPath, serverArgs({ port }), { stdio: 'ignore' })
  httpServer = child
  const entry = () => ledger.entries('start').find(({ pid }) => pid === child.pid)
  if (!(await waitUntil(() => entry() !== undefined, START_MS))) throw new Error('The server did not start')
  port = Number(entry()?.detail)
  return `http://127.0.0.1:${port}/mcp`
}

function versionsOf(packages: readonly string[]): Record<string, string> {
  const folders = createRequire(job.file).resolve.paths('any') ?? []
  const all: Record<string, string> = { node: process.versions.node }
  for (const name of packages)
    for (const folder of folders.toReversed())
      try {
        all[name] = JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8')).version
      } catch {}
  return all
}
