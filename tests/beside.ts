import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export interface BesideOptions<T> {
  /** Must not be felt elsewhere. Repeated if the machine was too busy to tell. */
  attack(): Promise<T>
  /** A call unrelated to the attack: another tool, `GET /healthz`. */
  probe?(): Promise<unknown>
  /** The longest delay that the probe may feel; more for one that waits for another process, which may wait for a core. */
  limitMs?: number
  /** Fails only if all attempts are felt: a busy machine delays one, a freeze delays them all. */
  attempts?: number
  /** How many times longer work takes now than on an idle machine; measured by default. */
  slowdown?(): number
}

/** The longest delay that another caller may feel, on an otherwise idle machine. */
const LIMIT_MS = 100
/** On a busy machine: this many times what the same caller felt before the attack. */
const TIMES_IDLE = 10
/** A freeze, even if it happens only once. */
const FREEZE_MS = 1_000
/** How much memory an attack may leave behind. */
const LEFT_BYTES = 50 * 1024 * 1024
const LITTLE_BYTES = LEFT_BYTES / 4
/** An attack's sockets, processes and timers take a moment to go away. */
const FREEING_MS = 2_000
const PERIOD_MS = 5
const IDLE_MS = 250
const SPIN_MS = 50
const ATTEMPTS = 3

/**
 * Runs an attack with a probe beside it, and returns the attack's result. The probe is due every 5 ms; its time, including
 * event loop delay, must stay under 100 ms at p99 and never reach a second, or more if the machine is busy. Otherwise the
 * attack is repeated, with a limit of at least ten times what the probe took right before. Without a `probe` only the event
 * loop is measured. Afterwards memory must be back to within 50 MB. Throws with the figures if every attempt was felt.
 *
 *     const result = await besideAttack({
 *       attack: () => executor.run({ name: 'flood' }),
 *       probe: () => executor.execute('echo', { text: 'fine' }),
 *     })
 */
export async function besideAttack<T>({
  attack,
  probe,
  limitMs = LIMIT_MS,
  attempts = ATTEMPTS,
  slowdown = slowdownNow,
}: BesideOptions<T>): Promise<T> {
  const figures: string[] = []
  await probe?.()
  for (let attempt = 0; attempt < attempts; attempt++) {
    const idleMs = attempt === 0 ? 0 : await idleFor(probe)
    const heldBefore = aboutHeldBytes()
    const { work, waits } = await waitsDuring(attack, probe)
    const { p99Ms, worstMs } = figuresOf(waits)
    const result = await work.result
    await memoryIsBack(heldBefore)
    // Most attacks are not felt at all: then there is no need to measure how busy the machine is.
    const times = p99Ms <= limitMs && worstMs <= FREEZE_MS ? 1 : slowdown()
    const allowedMs = Math.max(limitMs * times, Math.min(FREEZE_MS, TIMES_IDLE * idleMs))
    if (p99Ms <= allowedMs && worstMs <= FREEZE_MS * times) return result
    const [felt, once, idle, limit] = [p99Ms, worstMs, idleMs, allowedMs].map(Math.round)
    figures.push(`${felt} ms, once ${once} ms (idle ${idle} ms, limit ${limit} ms)`)
  }
  throw new Error(`The attack was felt beside it, at p99: ${figures.join('; ')}`)
}

/** How long the probe takes while nothing else happens in this process. */
async function idleFor(probe?: () => Promise<unknown>): Promise<number> {
  return figuresOf((await waitsDuring(() => pause(IDLE_MS), probe)).waits).p99Ms
}

/**
 * How long each probe took that was due during the work, including those that a freeze kept from starting, but without the
 * time in which other programs had the processors.
 */
async function waitsDuring<T>(start: () => Promise<T>, probe?: () => Promise<unknown>) {
  const waits: number[] = []
  let due = performance.now() + PERIOD_MS
  let starved = starvedMs()
  let isOver = false
  const end = () => {
    isOver = true
  }
  const work = { result: start() }
  work.result.then(end, end)
  while (!isOver) {
    await pause(PERIOD_MS)
    await probe?.()
    const starvedBefore = starved
    starved = starvedMs()
    const waited = performance.now() - due - (starved - starvedBefore)
    for (let wait = waited; wait > 0; wait -= PERIOD_MS) waits.push(wait)
    due = performance.now() + PERIOD_MS
  }
  return { work, waits }
}

/** How long this thread has been ready to run, but without a processor; known only on Linux. */
function starvedMs(): number {
  try {
    const [, waitedNs] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')
    return Number(waitedNs) / 1_000_000
  } catch {
    return 0
  }
}

function slowdownNow(): number {
  const before = process.cpuUsage()
  const began = performance.now()
  let usedMs = 0
  while (usedMs < SPIN_MS) {
    const { user, system } = process.cpuUsage(before)
    usedMs = (user + system) / 1_000
  }
  return Math.max(1, (performance.now() - began) / usedMs)
}

function figuresOf(waits: number[]): { p99Ms: number; worstMs: number } {
  waits.sort((a, b) => a - b)
  return { p99Ms: waits[Math.ceil(waits.length * 0.99) - 1] ?? 0, worstMs: waits.at(-1) ?? 0 }
}

async function memoryIsBack(before: number): Promise<void> {
  const isBack = () => usedBytes() - before < LEFT_BYTES || heldBytes() - before < LEFT_BYTES
  for (const end = performance.now() + FREEING_MS; !isBack(); await pause(PERIOD_MS * 20))
    if (performance.now() > end)
      throw new Error(`The attack left ${Math.round((heldBytes() - before) / 1024 / 1024)} MB in memory`)
}

function usedBytes(): number {
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

setFlagsFromString('--expose-gc')
const collectGarbage: (options?: { type: 'minor' }) => void = runInNewContext('gc')
let lastHeld = Number.NEGATIVE_INFINITY

/** Memory in use, without garbage. */
function heldBytes(): number {
  collectGarbage()
  lastHeld = usedBytes()
  return lastHeld
}

/** The same, or at most a little less: collecting only recent garbage takes a fraction of the time. */
function aboutHeldBytes(): number {
  collectGarbage({ type: 'minor' })
  return usedBytes() - lastHeld < LITTLE_BYTES ? lastHeld : heldBytes()
}
