import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { checks } from './checks.ts'
import type { Feature } from './driver.ts'
import type { StartFaults } from './server/tools.ts'
import type { Args, Trial } from './trial.ts'

/** A case, as `cases.json` describes it. */
export interface Case {
  /** `family/name`. */
  id: string
  /** What has to be true, and why a user cares. */
  title: string
  why: string
  /** Where somebody met it. */
  issue?: string
  covers?: string[]
  needs?: Feature[]
  over?: 'stdio' | 'http'
  /** How the server misbehaves from its start. */
  faults?: StartFaults
  hasSecond?: boolean
  /** Whether the session cannot be used afterwards, and how its process ends, if that is part of the case. */
  isLast?: boolean
  ending?: 'exit' | 'kill'
  /** Whether `start` is part of the case, and may fail. */
  startMayFail?: boolean
  isFatal?: boolean
  /** One call, and what must come of it; cases that need more have a check of their own. */
  call?: { tool: string; args: Args; timeoutMs?: number; repair?: boolean; abort?: 'before' | 'during' }
  expect?: Expectation
  /** Values, by argument, without a certain reading: they must not be replaced by a guess. */
  traps?: Record<string, unknown[]>
}

interface Expectation {
  ok?: boolean
  /** A regular expression that the answer matches; `$key` is the call's key. */
  text?: string
  /** How long the call may take, counted from the ledger's fault, the abort or the deadline, if there is one. */
  withinMs?: number
  /** Whether other calls must not be delayed. */
  isBeside?: boolean
  /** How often the server must have got the call, done it, and been told to stop; a call is never sent twice. */
  calls?: number
  effects?: number
  cancelled?: number
  /** What arguments the server must have got. */
  args?: Args
}

/** May return what is worth mentioning if it passed. */
export type Check = (t: Trial, each: Case) => Promise<unknown>

export const CASES: readonly Case[] = JSON.parse(
  readFileSync(new URL('../cases.json', import.meta.url), 'utf8'),
)
/** How long it is watched whether a call that failed is sent again. */
const REPEAT_MS = 300
/** Tools that write a fault into the ledger. */
const FAULTY = ['hang', 'slow', 'die', 'misbehave']

/** Throws a CaseFailure if the executor did wrong; returns what is worth mentioning if not. */
export async function runCase(each: Case, t: Trial): Promise<string | undefined> {
  const { id, call, expect = {}, isLast } = each
  const remark = call ? await checkCall(t, call, expect) : await checks[id]?.(t, each)
  if (call && !isLast) await t.healthy()
  t.check(t.count('fetch') === 0, 'a URL in a schema was fetched')
  return typeof remark === 'string' ? remark : undefined
}

async function checkCall(t: Trial, call: NonNullable<Case['call']>, expect: Expectation): Promise<void> {
  const { tool, timeoutMs, repair, abort } = call
  const key = t.key()
  const controller = new AbortController()
  let from = Date.now()
  const run = async () => {
    if (abort === 'before') controller.abort()
    const { signal } = controller
    const answer = t.call(tool, { key, ...call.args }, { signal, timeoutMs, repair, withinMs: 20_000 })
    const fault = FAULTY.includes(tool) && abort !== 'before' ? await t.happened('fault', key) : undefined
    from = timeoutMs === undefined ? (fault?.at ?? from) : from + timeoutMs
    if (abort === 'during') from = Date.now()
    if (abort === 'during') controller.abort()
    return answer
  }
  const answer = await (expect.isBeside ? t.beside(run) : run())
  const text = new RegExp(expect.text?.replace('$key', key) ?? '', 'i')
  if (expect.ok !== undefined)
    t.check(answer.ok === expect.ok, `${answer.ok ? 'success' : 'an error'}: ${answer.text}`)
  t.says(answer, text)
  if (expect.withinMs !== undefined) t.took(answer.endedAt - from, expect.withinMs, 'the answer')
  t.check(tool !== 'hang' || answer.endedAt >= from - 20, 'it did not wait for the deadline')
  if (expect.cancelled)
    t.check(!!(await t.parts.ledger.wait('cancelled', key, 2_000)), 'the server was never told')
  if (!answer.ok) await pause(REPEAT_MS)
  const calls = t.count('call', key)
  t.check(calls === (expect.calls ?? Math.min(calls, 1)), `the server got the call ${calls} times`)
  const effects = t.count('effect', key)
  t.check(effects === (expect.effects ?? effects), `the effect happened ${effects} times`)
  const [{ args } = {}] = t.parts.ledger.entries('call', key)
  const isRight = !expect.args || isDeepStrictEqual(args, { key, ...expect.args })
  t.check(isRight, `the server got ${JSON.stringify(args)}`)
}
