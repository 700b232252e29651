// Throws random hostile input at the product: `npm run fuzz -- --seconds 60 [--seed 1] [--target executor]`.
// Fails on an uncaught error, a hang, growing memory or a failed check; prints the seed to reproduce it.
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { executorTarget } from './executor.mjs'
import { gatewayTarget } from './gateway.mjs'
import { httpTarget, stdioTarget } from './server.mjs'

const TARGETS = [executorTarget, stdioTarget, httpTarget, gatewayTarget]
/** Generous, because the machine may be busy with other work. */
const HANG_MS = 30_000
const MAX_GROWTH_MB = 50

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string' },
    target: { type: 'string' },
  },
})
const chosen = TARGETS.filter(({ name }) => values.target === undefined || name === values.target)
if (chosen.length === 0) {
  console.error(`unknown target; expected one of ${TARGETS.map(({ name }) => name).join(', ')}`)
  process.exit(2)
}
const seed = Number(values.seed ?? Math.trunc(Math.random() * 2 ** 31))
const limitMs = (Number(values.seconds) * 1_000) / chosen.length
let current = 'start'
let failures = 0
for (const event of ['uncaughtException', 'unhandledRejection'])
  process.on(event, error => {
    console.error(`✘ ${current}: ${event} (--target ${current} --seed ${seed})`)
    console.error(error)
    process.exit(1)
  })

console.log(`Fuzzing for ${values.seconds} s, seed ${seed}`)
for (const target of chosen) {
  current = target.name
  if (await fuzz(target)) failures++
}
console.log(`Fuzz: ${chosen.length - failures} passed, ${failures} failed`)
process.exit(failures > 0 ? 1 : 0)

async function fuzz({ name, setUp = async () => ({}), inputs, check, tearDown = async () => {} }) {
  const context = await setUp()
  const half = { seed, limitMs: limitMs / 2 }
  const first = await run({ inputs, check, context, ...half })
  const heapBefore = heapMb()
  const second = first.failed ? first : await run({ inputs, check, context, ...half, seed: seed + 1 })
  const grownMb = heapMb() - heapBefore
  await tearDown(context)
  const problem = second.failed
    ? fc.defaultReportMessage(second)
    : grownMb > MAX_GROWTH_MB && `memory grew by ${grownMb.toFixed(0)} MB`
  const runs = first.numRuns + (first.failed ? 0 : second.numRuns)
  if (problem)
    console.error(`✘ ${name}: ${problem}\nReproduce: npm run fuzz -- --target ${name} --seed ${seed}`)
  else console.log(`✔ ${name}: ${runs} inputs, memory ${grownMb >= 0 ? '+' : ''}${grownMb.toFixed(1)} MB`)
  return problem
}

function run({ inputs, check, context, seed, limitMs }) {
  const property = fc.asyncProperty(inputs, input => withoutHanging(check(input, context)))
  const limits = { numRuns: 1e7, interruptAfterTimeLimit: limitMs }
  return fc.check(property, { seed, ...limits, includeErrorInReport: true })
}

async function withoutHanging(work) {
  const over = new AbortController()
  const hung = sleep(HANG_MS, undefined, { signal: over.signal }).then(
    () => Promise.reject(new Error(`no answer within ${HANG_MS} ms`)),
    () => {},
  )
  await Promise.race([work, hung]).finally(() => over.abort())
}

function heapMb() {
  globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return (heapUsed + arrayBuffers) / 1024 / 1024
}
