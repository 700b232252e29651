import { setTimeout as sleep } from 'node:timers/promises'
import { ARGS, EXPECTED, forecast, LIMIT_MS, WRONG_ARGS } from './sample-tool.mjs'

const HANGS_AFTER_MS = 5_000
const SHORT_LIMIT_MS = 20

/** Throws unless a contender does what its row in the table claims. */
export async function verify(contender) {
  await returnsTheValue(contender)
  if (contender.validates) await refusesWrongArguments(contender)
  if (contender.hasDeadline) await endsAtTheDeadline(contender)
}

async function returnsTheValue({ title, work = forecast, create, answerOf }) {
  const value = answerOf(await create(work, LIMIT_MS)(ARGS))
  if (value !== EXPECTED) throw new Error(`${title}: expected ${EXPECTED}, got ${JSON.stringify(value)}`)
}

async function refusesWrongArguments({ title, create }) {
  let ran = false
  const work = async () => {
    ran = true
    return EXPECTED
  }
  // Some reject, others return a value that says so: what counts is that the tool did not run.
  await Promise.resolve(create(work, LIMIT_MS)(WRONG_ARGS)).catch(() => {})
  if (ran) throw new Error(`${title}: ran the tool with wrong arguments`)
}

async function endsAtTheDeadline({ title, create }) {
  const hang = () => new Promise(() => {})
  const ended = Promise.resolve(create(hang, SHORT_LIMIT_MS)(ARGS)).then(
    () => true,
    () => true,
  )
  const giveUp = new AbortController()
  const late = sleep(HANGS_AFTER_MS, false, { signal: giveUp.signal }).catch(() => false)
  if (!(await Promise.race([ended, late]))) throw new Error(`${title}: did not end at its deadline`)
  giveUp.abort()
}
