import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { hasProcessGroups } from '../util/platform.ts'

/*
 * Every server runs in a process group of its own, so that whatever it starts ends with it. Daemons that leave the group on
 * purpose are left alone.
 */

/** How long children that outlive their server may take to exit after each signal, and how often that is checked. */
const GROUP_GRACE_MS = 300
const GROUP_CHECK_MS = 10

/** The groups of running servers, by the id of their leader. */
const groups = new Set<number>()

/** Registers a server's process, which must not outlive this one. */
export function adoptGroup(leader: number): void {
  if (!process.listeners('exit').includes(killAll)) process.on('exit', killAll)
  groups.add(leader)
  void watch()
}

/** On Windows, which has no watchdog, nothing else ends servers when this program exits without closing them. */
function killAll(): void {
  for (const group of groups) signalGroup(group, 'SIGKILL')
}

/** Signals a group; returns whether there was anything to signal. On Windows, which has no signals, it kills the tree. */
export function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  if (!hasProcessGroups) {
    const args = ['/pid', String(leader), '/T', '/F']
    if (signal !== 0) spawn('taskkill', args, { stdio: 'ignore', windowsHide: true }).on('error', () => {})
    return signal !== 0
  }
  try {
    return process.kill(-leader, signal)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Ends what a server left behind in its group, with SIGTERM and then SIGKILL. Resolves when that is gone. */
export async function endGroup(leader: number): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (!signalGroup(leader, signal)) break
    const until = performance.now() + GROUP_GRACE_MS
    while (performance.now() < until && signalGroup(leader, 0)) await pause(GROUP_CHECK_MS)
  }
  groups.delete(leader)
  await watch()
}

/*
 * Reads lines with the ids of all groups; the last line counts. Its stdin ends when this program does, however that happens:
 * the servers, whose stdin ends too, get a moment to exit on their own. A shell script, because it takes only 2 MB.
 */
const WATCHDOG = `
while read -r line; do all=$line; done
[ -n "$all" ] || exit 0
sleep 1
for group in $all; do kill -s TERM -- "-$group"; done
sleep 1
for group in $all; do kill -s KILL -- "-$group"; done
`

let watchdog: ChildProcess | undefined

/** Tells the watchdog which groups there are. It starts with the first one; resolves when it has ended with the last. */
async function watch(): Promise<void> {
  if (!hasProcessGroups) return
  if (groups.size > 0) {
    watchdog ??= startWatchdog()
    return void watchdog.stdin?.write(`${[...groups].join(' ')}\n`)
  }
  const last = watchdog
  watchdog = undefined
  if (!last) return
  // From now on it keeps this process alive until it has exited.
  last.ref()
  last.stdin?.end('\n')
  await once(last, 'exit').catch(() => {})
}

/** Best effort: without file handles there is none until the next server starts. */
function startWatchdog(): ChildProcess {
  const child = spawn('/bin/sh', ['-c', WATCHDOG, 'toolpost-watchdog'], {
    // Signals that a terminal sends to this program's group must not reach it.
    detached: true,
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const forget = () => {
    if (watchdog === child) watchdog = undefined
  }
  child.on('error', forget).unref()
  child.on('exit', (_, signal) => {
    forget()
    if (signal) void watch()
  })
  child.stdin?.on('error', () => {})
  ;(child.stdin as Socket | null)?.unref()
  return child
}
