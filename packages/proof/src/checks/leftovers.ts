import { setTimeout as pause } from 'node:timers/promises'
import type { Check } from '../cases.ts'
import { memoryOf, waitUntil } from '../processes.ts'
import type { Trial } from '../trial.ts'

const MANY = 10_000
const MANY_MS = 90_000
const GONE_MS = 5_000
const MB = 1024 * 1024
const MORE_HANDLES = 20
const MORE_BYTES = 60 * MB

async function allGone(t: Trial): Promise<void> {
  const alive = () => memoryOf(t.parts.ledger.pids()).length
  t.check(await waitUntil(() => alive() === 0, GONE_MS), `${alive()} processes are alive ${GONE_MS} ms later`)
}

/** Stops the driver; none of its servers, nor their children, may be alive afterwards. */
async function stopsClean(t: Trial): Promise<void> {
  await t.healthy()
  await t.stop()
  await allGone(t)
}

/** Loads, and what is left behind. */
export const leftoverChecks: Record<string, Check> = {
  'load/ten-thousand': async t => {
    const key = t.key()
    const from = performance.now()
    const wrong = await t.burst(MANY, { key, withinMs: MANY_MS })
    const perSecond = Math.round(MANY / ((performance.now() - from) / 1_000))
    t.check(wrong.length === 0, `${wrong.length} of ${MANY} went wrong: ${wrong[0]}`)
    t.check(t.count('call', key) === MANY, `the server got ${t.count('call', key)} calls`)
    return `${perSecond} calls a second`
  },
  'load/slow-server': async t => {
    const hang = () => t.call('second_hang', { key: t.key() }, { timeoutMs: 1_000 })
    for (const answer of await t.beside(() => Promise.all(Array.from({ length: 50 }, hang)))) t.failed(answer)
  },
  'leftovers/stubborn': stopsClean,
  'leftovers/children': async t => {
    const key = t.key()
    await t.call('child', { key })
    await t.happened('child', key)
    await stopsClean(t)
  },
  'leftovers/killed': t => t.healthy(),
  'leftovers/exits': async t => {
    await t.healthy()
    await t.stop()
  },
  'leftovers/stop-during-call': async t => {
    const key = t.key()
    const call = t.call('hang', { key }, { withinMs: 15_000, timeoutMs: 20_000 })
    await t.happened('fault', key)
    const [, answer] = await Promise.all([t.stop(), call])
    t.failed(answer)
  },
  'leftovers/listeners': async t => {
    await t.burst(50)
    const { signal } = new AbortController()
    const resources = () => process.getActiveResourcesInfo().length
    const before = resources()
    // A few at a time: each call in progress may listen, and Node warns of more than ten listeners.
    for (let n = 0; n < 125; n++) {
      const [wrong] = await t.burst(4, { signal })
      t.check(wrong === undefined, `a call went wrong: ${wrong}`)
    }
    await pause(100)
    const [warning] = t.parts.warnings
    t.check(warning === undefined, `a warning: ${warning}`)
    const more = resources() - before
    t.check(more <= MORE_HANDLES, `${more} more handles and timers than before`)
  },
  'leftovers/memory': async t => {
    const memoryAfter = async (bursts: number) => {
      for (let n = 0; n < bursts; n++) await t.burst(100)
      await pause(100)
      globalThis.gc?.()
      return memoryOf([t.parts.driver.pid?.() ?? process.pid])[0] ?? 0
    }
    const before = await memoryAfter(20)
    const more = (await memoryAfter(30)) - before
    const remark = `${Math.round(more / MB)} MB more`
    t.check(more < MORE_BYTES, remark)
    return remark
  },
}
