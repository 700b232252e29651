// Runs cases on a driver. Cases with the same servers share a session, a process, until one ends it or fails: all that a
// driver can do wrong ends there.
import { fork } from 'node:child_process'
import { on } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Case } from './cases.ts'
import { Ledger } from './ledger.ts'
import { killProcess, memoryOf, waitUntil } from './processes.ts'
import type { Job, Report } from './session.ts'

export interface Verdict {
  id: string
  /** `error` is a mistake of the suite: the fault did not happen, so nothing was shown. */
  state: 'passed' | 'failed' | 'unsupported' | 'error'
  seen?: string | undefined
  ms: number
}

export interface DriverReport {
  driver: string
  versions: Record<string, string>
  verdicts: Verdict[]
}

/** Where a driver is, and the Node that runs it. */
export interface DriverSource {
  name: string
  file: string
  node: string
}

const SESSION = fileURLToPath(new URL('session.js', import.meta.url))
/** How long a session may be silent: cases have shorter limits of their own, unless the driver blocks its process. */
const SILENCE_MS = 120_000
const EXIT_MS = 3_000
const GONE_MS = 5_000
/** After so many failures to start in a row, a driver is not started again. */
const MAX_START_FAILURES = 3

/** Runs the cases; reports verdicts as they come, and returns them in the order of the cases. */
export async function runDriver(
  source: DriverSource,
  cases: readonly Case[],
  onVerdict: (verdict: Verdict) => void,
): Promise<DriverReport> {
  const report: DriverReport = { driver: source.name, versions: {}, verdicts: [] }
  const order = (each: Case) => `${serversOf(each)} ${each.isLast ?? false}`
  const rest = cases.toSorted((a, b) => order(a).localeCompare(order(b)))
  let startFailures = 0
  while (rest.length > 0) {
    const isOther = (each: Case, at: number) =>
      serversOf(each) !== serversOf(rest[0] as Case) || rest[at - 1]?.isLast
    const end = rest.findIndex(isOther)
    for await (const result of runSession(source, rest.slice(0, end < 0 ? undefined : end))) {
      const { versions = {}, isNotStarted, ...verdict } = result
      Object.assign(report.versions, versions)
      startFailures = isNotStarted ? startFailures + 1 : 0
      const isHopeless = startFailures === MAX_START_FAILURES
      for (const { id } of rest.splice(0, isHopeless ? rest.length : 1))
        report.verdicts.push({ ...verdict, id })
      onVerdict(verdict)
    }
  }
  const place = (verdict: Verdict) => cases.findIndex(({ id }) => id === verdict.id)
  report.verdicts.sort((a, b) => place(a) - place(b))
  return report
}

/** Equal for cases that may share a session. */
const serversOf = ({ over, faults, hasSecond }: Case) => JSON.stringify([over, faults, hasSecond])

/** Yields a verdict for each case, up to the first failure. */
async function* runSession({ file, node }: DriverSource, cases: readonly Case[]): AsyncGenerator<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'toolpost-proof-'))
  const ledger = new Ledger(join(folder, 'ledger'))
  const job: Job = { file, ledger: ledger.file, startedAt: Date.now(), ids: cases.map(({ id }) => id) }
  // A process group of its own, which is killed as a whole.
  const options = { execPath: node, execArgv: ['--expose-gc'], cwd: folder, detached: true, silent: true }
  const child = fork(SESSION, [JSON.stringify(job)], options)
  const stdout: string[] = []
  const stderr: string[] = []
  child.stdout?.on('data', data => stdout.push(String(data)))
  child.stderr?.on('data', data => stderr.push(String(data)))
  const silence = new AbortController()
  const watchdog = setTimeout(() => silence.abort(), SILENCE_MS)
  let judged = 0
  try {
    for await (const [report] of on(child, 'message', { signal: silence.signal, close: ['close'] })) {
      watchdog.refresh()
      const seen = await seenFromHere(report, cases[judged++]?.ending)
      const verdict: Report = seen === undefined ? report : { ...report, state: 'failed', seen }
      yield verdict
      const isUsable = verdict.state === 'passed' || verdict.state === 'unsupported'
      if (!isUsable || judged === cases.length) return
    }
    yield ended(`ended with exit code ${child.exitCode}`)
  } catch (error) {
    yield ended(silence.signal.aborted ? `did not answer for ${SILENCE_MS} ms` : (error as Error).message)
  } finally {
    clearTimeout(watchdog)
    for (const pid of [child.pid && -child.pid, ...ledger.pids()]) killProcess(pid)
    rmSync(folder, { recursive: true, force: true })
  }

  /** What the session itself cannot see: its output, and what remains when it ends. */
  async function seenFromHere({ state, pid }: Report, ending: Case['ending']): Promise<string | undefined> {
    await pause(10)
    if (stdout[0]) return `the driver printed to stdout: ${JSON.stringify(stdout[0].slice(0, 200))}`
    if (state !== 'passed' || !ending) return undefined
    if (ending === 'exit') {
      const isGone = await waitUntil(() => child.exitCode !== null, EXIT_MS)
      return isGone ? undefined : `the process was still running ${EXIT_MS} ms later`
    }
    for (const each of [pid, child.pid]) killProcess(each)
    const isGone = await waitUntil(() => memoryOf(ledger.pids()).length === 0, GONE_MS)
    return isGone ? undefined : `a server was still alive ${GONE_MS} ms later`
  }

  function ended(how: string): Report {
    const last = stderr.join('').trim().split('\n').slice(-6).join(' | ').slice(-600)
    const seen = `the driver's process ${how}: ${last}`
    return { id: cases[judged]?.id ?? '', state: 'failed', seen, ms: 0 }
  }
}
