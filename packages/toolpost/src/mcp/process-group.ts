import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { MARK_VARIABLE, unwatchGroup, watchGroup } from './group-watchdog.ts'
import { GROUP_GRACE_MS } from './limits.ts'

const isWindows = process.platform === 'win32'
/** Doubles from check to check. */
const FIRST_CHECK_MS = 5

/** Leaders of the groups that are alive: ended with this process, should it go without closing them. */
const living = new Set<number>()
let watchesExit = false

/** A server's process and what came of it. */
export interface Group {
  leader: number
  mark: string
  /** What ran before it, as `runningNow()` gave it: none of that is its. */
  before: ReadonlySet<string>
}

/** The ids of all processes; empty without a /proc. */
export function runningNow(): ReadonlySet<string> {
  try {
    return new Set(isWindows ? [] : readdirSync('/proc'))
  } catch {
    return new Set()
  }
}

/** From now on the group ends with this process at the latest, however that ends. */
export function adoptGroup(leader: number): void {
  living.add(leader)
  setImmediate(() => living.has(leader) && watchGroup(leader))
  if (watchesExit) return
  watchesExit = true
  process.on('exit', () => {
    for (const pid of living) signalGroup(pid, 'SIGKILL')
  })
}

/** Sends a signal to a process and all that it started. On Windows, which has no signals, it ends them. */
export function signalGroup(leader: number, signal: NodeJS.Signals): void {
  if (isWindows) {
    spawn('taskkill', ['/pid', String(leader), '/T', '/F'], { stdio: 'ignore', windowsHide: true }).on(
      'error',
      () => {},
    )
    return
  }
  kill(-leader, signal)
}

/**
 * Ends what a server whose process has exited left behind, in its group or (on Linux) with its mark elsewhere: asked
 * first, then forced. Resolves when none of it runs, or after a bounded time with the processes that still do.
 */
export async function endGroup(group: Group): Promise<number[]> {
  const { leader } = group
  let left = await leftBehind(group)
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (left.length === 0) break
    signalGroup(leader, signal)
    for (const pid of left) kill(pid, signal)
    left = await leftAfter(GROUP_GRACE_MS, group)
  }
  living.delete(leader)
  await unwatchGroup(leader)
  return left
}

async function leftAfter(ms: number, group: Group): Promise<number[]> {
  const giveUpAt = performance.now() + ms
  for (let wait = FIRST_CHECK_MS; ; wait *= 2) {
    await pause(wait)
    const left = await leftBehind(group)
    if (left.length === 0 || performance.now() >= giveUpAt) return left
  }
}

/** Without the dead: containers often have nobody who collects them, and they would be waited for in vain. */
async function leftBehind(group: Group): Promise<number[]> {
  const { leader, before } = group
  if (isWindows) return []
  if (!before.has('self')) return kill(-leader, 0) ? [leader] : []
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name) && !before.has(name))
  const belongs = await Promise.all(pids.map(pid => belongsTo(group, pid)))
  return pids.filter((_, at) => belongs[at]).map(Number)
}

async function belongsTo({ leader, mark }: Group, pid: string): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '')
  // After the name, which may contain anything: state, parent, group.
  const [state = '', , processGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (state === '' || 'ZX'.includes(state)) return false
  if (Number(processGroup) === leader) return true
  const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')
  return environment.includes(`${MARK_VARIABLE}=${mark}\0`)
}

/** Whether there was somebody to signal. */
function kill(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
