import { spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { GROUP_GRACE_MS } from './limits.ts'

const isWindows = process.platform === 'win32'
/** Doubles from check to check. */
const FIRST_CHECK_MS = 5

/** Leaders of the groups that are alive: ended with this process, should it go without closing them. */
const living = new Set<number>()
let watchesExit = false

/** From now on the group ends with this process at the latest. */
export function adoptGroup(leader: number): void {
  living.add(leader)
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
  try {
    process.kill(-leader, signal)
  } catch {
    // It is gone already.
  }
}

/**
 * Ends what is left of a group whose leader has exited: asked first, then forced. Resolves when none of it runs,
 * or after a bounded time.
 */
export async function endGroup(leader: number): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (!exists(leader)) break
    signalGroup(leader, signal)
    if (await isGoneWithin(leader, GROUP_GRACE_MS)) break
  }
  living.delete(leader)
}

async function isGoneWithin(leader: number, ms: number): Promise<boolean> {
  const giveUpAt = performance.now() + ms
  for (let wait = FIRST_CHECK_MS; performance.now() < giveUpAt; wait *= 2) {
    await pause(wait)
    if (!exists(leader) || !(await hasRunning(leader))) return true
  }
  return false
}

/** Whether there is anybody in the group, the dead that nobody has collected included. */
function exists(leader: number): boolean {
  if (isWindows) return false
  try {
    process.kill(-leader, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Containers often have nobody who collects the dead, and then they would be waited for in vain. */
async function hasRunning(leader: number): Promise<boolean> {
  try {
    const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name))
    const running = await Promise.all(pids.map(pid => isRunningIn(leader, pid)))
    return running.includes(true)
  } catch {
    return true
  }
}

async function isRunningIn(leader: number, pid: string): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // After the name, which may contain anything: state, parent, group.
  const [state = '', , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(group) === leader && !'ZX'.includes(state)
}
