import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Check } from './cases.ts'
import { memoryOf, waitUntil } from './processes.ts'
import { type Answer, type Args, NO_ANSWER, type Trial } from './trial.ts'

/** A changed list must be in use after this time. */
const FOLLOW_MS = 3_000

async function change(t: Trial, kind: string): Promise<void> {
  const key = t.key()
  await t.call('change', { key, kind })
  await t.happened('fault', key)
}

/** Changes the list; soon a call must be answered in accordance with that. */
async function followed(t: Trial, kind: string, call: [string, Args], isDone: (answer: Answer) => boolean) {
  await change(t, kind)
  await t.eventually(...call, isDone, FOLLOW_MS)
}

const says = (text: string) => (answer: Answer) => answer.ok && answer.text.includes(text)

/** A server that died is in use again within this time. */
const USABLE_MS = 2_000
const SIZE = /too (large|long|big)|exceed|limit|maximum|size|MB|bytes/i

async function usableAgain(t: Trial, since: number): Promise<string> {
  await t.eventually('repeat', { key: 'again' }, ({ ok, text }) => ok && text === 'again', 10_000)
  const ms = Date.now() - since
  t.took(ms, USABLE_MS, 'until it worked again, it')
  return `usable again after ${ms} ms`
}

const MANY = 10_000
const MANY_MS = 90_000
const GONE_MS = 5_000
const MB = 1024 * 1024
const MORE_HANDLES = 20
const MORE_BYTES = 60 * MB

/** Stops the driver; none of its servers, nor their children, may be alive afterwards. */
async function stopsClean(t: Trial): Promise<void> {
  await t.healthy()
  await t.stop()
  const alive = () => memoryOf(t.parts.ledger.pids()).length
  t.check(await waitUntil(() => alive() === 0, GONE_MS), `${alive()} processes are alive ${GONE_MS} ms later`)
}

/** What takes more than one call. */
export const checks: Record<string, Check> = {
  'arguments/prototype': async t => {
    const hostile = '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}'
    const args = `{"key":"${t.key()}","amount":1,${hostile},"place":{"room":"hall",${hostile}}}`
    await t.call('write', JSON.parse(args))
    t.check(!('polluted' in {}), 'Object.prototype was changed')
    await t.healthy()
  },
  'arguments/deep': async t => {
    const nested = `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`
    await t.call('write', { key: t.key(), amount: 1, extra: JSON.parse(nested) })
    await t.healthy()
  },
  'arguments/wrong-repair': async (t, { traps = {} }) => {
    for (const [name, values] of Object.entries(traps))
      for (const value of values) {
        const key = t.key()
        await t.call('write', { key, amount: 1, [name]: value }, { repair: true })
        for (const { args = {} } of t.parts.ledger.entries('call', key)) {
          const isKept = isDeepStrictEqual(args[name], value) || args[name] === undefined
          t.check(isKept, `${name}: ${JSON.stringify(value)} became ${JSON.stringify(args[name])}`)
        }
      }
  },
  'deadlines/late-answer': async t => {
    const key = t.key()
    const expired = await t.call('slow', { key, ms: 600 }, { timeoutMs: 300 })
    t.check(!expired.ok, 'it did not expire')
    const other = t.key()
    const next = t.call('slow', { key: other, ms: 700 })
    await t.happened('answer', key)
    t.succeeded(await next, `slow ${other}`)
  },
  'deadlines/handshake': async t => {
    await t.happened('fault')
    const { startError = '' } = t.parts
    t.check(!startError.startsWith(NO_ANSWER), startError)
    if (!startError) t.failed(await t.call('repeat', { key: t.key() }, { timeoutMs: 2_000 }))
  },
  'cancellation/only-this-call': async t => {
    const [key, aborted, controller] = [t.key(), t.key(), new AbortController()]
    const other = t.call('slow', { key, ms: 600 })
    const call = t.call('hang', { key: aborted }, { signal: controller.signal })
    await t.happened('fault', aborted)
    controller.abort()
    t.failed(await call)
    t.succeeded(await other, key)
    t.check(t.count('cancelled', key) === 0, 'the other call was cancelled too')
  },
  'death/usable-again': async t => {
    const key = t.key()
    t.failed(await t.call('die', { key, when: 'before' }))
    const { at } = await t.happened('fault', key)
    return usableAgain(t, at)
  },
  'death/http-session-lost': async t => {
    await t.healthy()
    await t.parts.restartServer()
    return usableAgain(t, Date.now())
  },
  'death/crash-at-start': async t => {
    await t.happened('fault')
    const text = t.parts.startError ?? (await t.call('repeat', { key: t.key() }, { timeoutMs: 5_000 })).text
    t.check(!text.startsWith(NO_ANSWER), text)
    t.says({ ok: false, text }, /permission denied|code 3/i)
  },
  'bytes/huge': async t => {
    const key = t.key()
    const answer = await t.call('misbehave', { key, kind: 'huge' }, { withinMs: 20_000 })
    await t.happened('fault', key)
    const isWhole = answer.ok && answer.text.length > 50_000_000
    if (!isWhole) t.failed(answer, SIZE)
    await t.healthy()
  },
  'results/image': async t => {
    const answer = await t.call('result', { key: t.key(), kind: 'image' })
    const [image] = answer.images ?? []
    const isRight = image?.mimeType === 'image/png' && image.base64.startsWith('iVBORw0KGgo')
    t.check(answer.ok && isRight, `got ${JSON.stringify(answer).slice(0, 300)}`)
  },
  'results/large': async t => {
    const answer = await t.call('result', { key: t.key(), kind: 'large' })
    t.succeeded(answer, 'begin')
    if (answer.text.length < 1_000_000) t.says(answer, /truncat|cut|omitted|missing|left out|of [\d,.]+ /i)
  },
  'changes/added': t => followed(t, 'add', ['added', { key: 'a' }], says('added a')),
  'changes/gone': async t => {
    await followed(t, 'remove', ['removable', { key: t.key() }], ({ ok }) => !ok)
    await t.healthy()
  },
  'changes/renamed': async t => {
    await followed(t, 'rename', ['renamed', { key: 'b' }], says('renamed b'))
    t.failed(await t.call('renamable', { key: t.key() }))
  },
  'changes/new-schema': t => followed(t, 'schema', ['temporary', { id: 7 }], says('temporary 7')),
  'changes/storm': async t => {
    const before = t.count('list')
    await t.beside(async () => {
      await change(t, 'storm')
      await pause(1_000)
    })
    const listings = t.count('list') - before
    t.check(listings <= 50, `the list was read ${listings} times`)
  },
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
