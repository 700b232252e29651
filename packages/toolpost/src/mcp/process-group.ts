import { spawn } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { hasProcessGroups } from '../runtime/platform.ts'
import { MARK_VARIABLE, watch } from './group-watchdog.ts'
import { GROUP_GRACE_MS, LOOK_EVERY_MS, LOOK_SHARE } from './limits.ts'
import { livingBelow, type Processes, procFile, startedSince, startOf } from './process-tree.ts'

/** Doubled after each check. */
const FIRST_CHECK_MS = 5

/** A server's process and its descendants. */
export interface Group {
  readonly leader: number
  readonly mark: string
  /** When the leader was started: anything older is not its descendant. `undefined` without /proc. */
  readonly start: number | undefined
  /** The processes at the last check, the leader included: some leave the group and drop their environment. */
  known: Processes
}

/** The live groups: killed when this process exits without closing them. */
const living = new Set<Group>()
let watchesExit = false
let nextLook: NodeJS.Timeout | undefined

/** Registers a process that was just started as the leader of a group that must not outlive this process. */
export function adoptGroup(leader: number, mark: string): Group {
  const start = startOf(leader)
  const group: Group = { leader, mark, start, known: new Map(start === undefined ? [] : [[leader, start]]) }
  living.add(group)
  setImmediate(() => watch(living))
  if (!nextLook) nextLook = setTimeout(lookAtAll, LOOK_EVERY_MS).unref()
  if (!watchesExit) process.on('exit', killAll)
  watchesExit = true
  return group
}

/** Records the descendants of a server: once it is gone, nothing shows whose children they were. */
export function lookAt(group: Group): void {
  group.known = livingBelow(group.known)
}

/** Repeats, less often the longer it takes. */
function lookAtAll(): void {
  const before = process.cpuUsage()
  for (const group of living) lookAt(group)
  void watch(living)
  const { user, system } = process.cpuUsage(before)
  const restMs = Math.max(LOOK_EVERY_MS, (user + system) / 1_000 / LOOK_SHARE)
  nextLook = living.size > 0 ? setTimeout(lookAtAll, restMs).unref() : undefined
}

function killAll(): void {
  for (const group of living) {
    signalGroup(group, 'SIGKILL')
    for (const pid of group.known.keys()) kill(pid, 'SIGKILL')
  }
}

/** Signals a process and its whole group. On Windows, which has no signals, it kills the process tree. */
export function signalGroup(group: Group, signal: NodeJS.Signals): void {
  lookAt(group)
  if (hasProcessGroups) return void kill(-group.leader, signal)
  const taskkill = ['/pid', String(group.leader), '/T', '/F']
  spawn('taskkill', taskkill, { stdio: 'ignore', windowsHide: true }).on('error', () => {})
}

/**
 * Ends what an exited server left behind, in its group or (on Linux) elsewhere, with SIGTERM and then SIGKILL. Resolves to
 * the processes still running after a bounded time, usually none.
 */
export async function endGroup(group: Group): Promise<number[]> {
  let left = await leftBehind(group)
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (left.length === 0) break
    kill(-group.leader, signal)
    for (const pid of left) kill(pid, signal)
    left = await leftAfter(GROUP_GRACE_MS, group)
  }
  living.delete(group)
  await watch(living)
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

/** Processes in its group or session, seen below it, or with its mark, and their descendants. */
async function leftBehind({ leader, mark, start, known }: Group): Promise<number[]> {
  if (!hasProcessGroups) return []
  if (start === undefined) return kill(-leader, 0) ? [leader] : []
  const running = await startedSince(start)
  const left = new Set([leader])
  for (const [pid, { group, start: itsStart }] of running)
    if (group === leader || known.get(pid) === itsStart || hasMark(pid, mark)) left.add(pid)
  for (let before = 0; before < left.size; ) {
    before = left.size
    for (const [pid, { parent, session }] of running) if (left.has(parent) || left.has(session)) left.add(pid)
  }
  left.delete(leader)
  return [...left]
}

function hasMark(pid: number, mark: string): boolean {
  return procFile(pid, 'environ').includes(`${MARK_VARIABLE}=${mark}\0`)
}

/** Returns whether there was a process to signal. */
function kill(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
