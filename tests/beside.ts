import { setTimeout as pause } from 'node:timers/promises'

export interface BesideOptions<T> {
  /** What must not be felt elsewhere. Repeated if the machine was too busy to tell. */
  attack(): Promise<T>
  /** A call of something that the attack has nothing to do with: another tool, `GET /healthz`. */
  probe?(): Promise<unknown>
}

/** What a caller beside an attack may feel on a machine that has nothing else to do. */
const LIMIT_MS = 100
/** On a machine that is busy: so many times what the same caller felt before the attack. */
const TIMES_IDLE = 10
/** A freeze, however busy the machine is. */
const FREEZE_MS = 1_000
const PERIOD_MS = 5
const IDLE_MS = 250
const SPIN_MS = 50
/** A busy machine holds one of them up; a freeze holds up all. */
const ATTEMPTS = 3

/**
 * Runs an attack with a probe beside it, and gives what the attack resolved to. The probe is due every 5 ms; its
 * time, with that which the event loop let it wait, must at p99 stay under 100 ms (the longer the more the processors
 * are shared with others) or ten times what it was right before the attack, in the same process, and under a second in
 * any case. Without a `probe` only the event loop is measured. Throws with the figures if the attack is felt in every
 * one of three attempts.
 *
 *     const result = await besideAttack({
 *       attack: () => executor.run({ name: 'flood' }),
 *       probe: () => executor.execute('echo', { text: 'fine' }),
 *     })
 */
export async function besideAttack<T>({ attack, probe }: BesideOptions<T>): Promise<T> {
  const figures: string[] = []
  await probe?.()
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const idleMs = p99((await waitsDuring(() => pause(IDLE_MS), probe)).waits)
    const slowdown = slowdownNow()
    const { work, waits } = await waitsDuring(attack, probe)
    const attackedMs = p99(waits)
    const limitMs = Math.min(FREEZE_MS, Math.max(LIMIT_MS * slowdown, TIMES_IDLE * idleMs))
    if (attackedMs <= limitMs) return work.result
    figures.push(
      `${Math.round(attackedMs)} ms (idle ${Math.round(idleMs)} ms, limit ${Math.round(limitMs)} ms)`,
    )
  }
  throw new Error(`The attack was felt beside it, at p99: ${figures.join('; ')}`)
}

/** How long each probe took that was due while the work went on: also those that a freeze kept from beginning. */
async function waitsDuring<T>(start: () => Promise<T>, probe?: () => Promise<unknown>) {
  const waits: number[] = []
  let due = performance.now() + PERIOD_MS
  let isOver = false
  const end = () => {
    isOver = true
  }
  const work = { result: start() }
  work.result.then(end, end)
  while (!isOver) {
    await pause(PERIOD_MS)
    await probe?.()
    for (let wait = performance.now() - due; wait > 0; wait -= PERIOD_MS) waits.push(wait)
    due = performance.now() + PERIOD_MS
  }
  return { work, waits }
}

/** How many times longer than on an idle machine work takes now. */
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

function p99(waits: number[]): number {
  return waits.sort((a, b) => a - b)[Math.ceil(waits.length * 0.99) - 1] ?? 0
}
