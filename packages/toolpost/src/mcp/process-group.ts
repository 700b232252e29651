import { spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { MARK_VARIABLE, tellWatchdog } from './group-watchdog.ts'
import { GROUP_GRACE_MS } from './limits.ts'

const isWindows = process.platform === 'win32'
/** Doubles from check to check. */
const FIRST_CHECK_MS = 5

/** Leaders of the groups that are alive: ended with this process, should it go without closing them. */
const living = new Set<number>()
let watchesExit = false

/** From now on the group ends with this process at the latest, however that ends. */
export function adoptGroup(leader: number): void {
  living.add(leader)
  setImmediate(() => living.has(leader) && tellWatchdog('+', leader))
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
export async function endGroup(leader: number, mark: string): Promise<number[]> {
  let left = await leftBehind(leader, mark)
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (left.length === 0) break
    signalGroup(leader, signal)
    for (const pid of left) kill(pid, signal)
    left = await leftAfter(GROUP_GRACE_MS, leader, mark)
  }
  if (living.delete(leader)) tellWatchdog('-', leader)
  return left
}

async function leftAfter(ms: number, leader: number, mark: string): Promise<number[]> {
  const giveUpAt = performance.now() + ms
  for (let wait = FIRST_CHECK_MS; ; wait *= 2) {
    await pause(wait)
    const left = await leftBehind(leader, mark)
    if (left.length === 0 || performance.now() >= giveUpAt) return left
  }
}

/** Without the dead: containers often have nobody who collects them, and they would be waited for in vain. */
async function leftBehind(leader: number, mark: string): Promise<number[]> {
  if (isWindows) return []
  const pids: string[] = await readdir('/proc').catch(() => [])
  if (!pids.includes('self')) return kill(-leader, 0) ? [leader] : []
  const numbers = pids.map(Number).filter(pid => pid > 0 && pid !== process.pid)
  const belongs = await Promise.all(numbers.map(pid => isLeftBehind(pid, leader, mark)))
  return numbers.filter((_, at) => belongs[at])
}

async function isLeftBehind(pid: number, leader: number, mark: string): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '')
  // After the name, which may contain anything: state, parent, group.
  const [state = 'X', , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (state === '' || 'ZX'.includes(state)) return false
  if (Number(group) === leader) return true
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
