import { readdirSync, readFileSync } from 'node:fs'
import { inSlices } from '../runtime/slices.ts'
import { MAX_KNOWN_PROCESSES } from './limits.ts'

/** Process ids and start times, since ids are reused. */
export type Processes = Map<number, number>

interface Stat {
  parent: number
  group: number
  session: number
  /** In ticks since boot. */
  start: number
}

/** When a process was started; `undefined` if it is gone, or without /proc. */
export function startOf(pid: number): number | undefined {
  return statOf(pid)?.start
}

/** Those of `known` still running, and all their descendants. */
export function livingBelow(known: Processes): Processes {
  const living: Processes = new Map()
  const waiting: [pid: number, start: number | undefined][] = [...known]
  for (const [pid, knownStart] of waiting) {
    const start = startOf(pid)
    if (start === undefined || start !== (knownStart ?? start) || living.has(pid)) continue
    living.set(pid, start)
    if (living.size >= MAX_KNOWN_PROCESSES) break
    for (const child of childrenOf(pid)) waiting.push([child, undefined])
  }
  return living
}

function childrenOf(pid: number): number[] {
  const threads = attempted(() => readdirSync(`/proc/${pid}/task`), [])
  const children = threads.flatMap(thread => procFile(pid, `task/${thread}/children`).split(' '))
  return children.map(Number).filter(child => child > 0)
}

/** Every process started at `start` or later. */
export async function startedSince(start: number): Promise<Map<number, Stat>> {
  const found = new Map<number, Stat>()
  await inSlices(readdirSync('/proc').map(Number), pid => {
    const stat = pid > 0 && statOf(pid)
    if (stat && stat.start >= start) found.set(pid, stat)
  })
  return found
}

/** `undefined` for zombies: containers often have no init to reap them. */
function statOf(pid: number): Stat | undefined {
  const text = procFile(pid, 'stat')
  // The fields follow the name, which may contain anything.
  const [state = '', ...fields] = text.slice(text.lastIndexOf(')') + 2).split(' ')
  if ('ZX'.includes(state)) return undefined
  const [parent = 0, group = 0, session = 0] = fields.slice(0, 3).map(Number)
  return { parent, group, session, start: Number(fields[18]) }
}

/** A file of /proc, which is fast to read; empty if the process is gone. */
export function procFile(pid: number, name: string): string {
  return attempted(() => readFileSync(`/proc/${pid}/${name}`, 'latin1'), '')
}

function attempted<T>(read: () => T, otherwise: T): T {
  try {
    return read()
  } catch {
    return otherwise
  }
}
