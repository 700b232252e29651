// Attacks `toolpost up` from outside and measures another caller meanwhile: `npm run attack [-- --only server --part 1/3]`.
// Fails if that caller is slowed down (p99 over 100 ms and over three times the idle p99), if an attacked call ends late or
// with a wrong code, or if memory is not freed.
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { argumentAttacks } from './arguments.mjs'
import { bodyAttacks } from './bodies.mjs'
import { clientAttacks } from './clients.mjs'
import { startGateway } from './gateway.mjs'
import { schemaAttacks } from './schemas.mjs'
import { serverAttacks } from './servers.mjs'

const LIMIT_MS = 100
const TIMES_IDLE = 3
const MAX_LEFT_MB = 50
/** The gateway's share of CPU time, with its children and servers; below this, other programs distort the result. */
const MIN_OWN_SHARE = 0.5
const IDLE_MS = 1_000
/** An attack's leftovers may take this long: lists being read, processes ending. */
const FREEING_MS = 5_000

const { values } = parseArgs({
  options: { only: { type: 'string' }, part: { type: 'string', default: '1/1' } },
})
const [part, parts] = values.part.split('/').map(Number)
const attacks = [...schemaAttacks, ...argumentAttacks, ...bodyAttacks, ...serverAttacks, ...clientAttacks]
  .filter(({ name }) => !values.only || name.includes(values.only))
  .filter((_, at) => at % parts === part - 1)

console.log(
  '| attack | p50 / p99 / max beside it (ms) | p99 with a processor (our share of them) | idle p99 | longest turn (CPU ms) | codes of the attacked calls | latest (with a processor, in the executor) | memory | |',
)
console.log('|---|---|---|---|---|---|---|---|---|')
let misses = 0
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
for (const attack of attacks) misses += await measure(attack).catch(error => failed(attack, error))
console.log(`Attacks: ${attacks.length}, failed: ${misses}`)
process.exit(misses > 0 ? 1 : 0)

async function measure({
  name,
  setUp = () => ({}),
  run,
  isKilled = false,
  codes = /^(?:success|timeout|invalid_arguments|invalid_schema|unavailable|tool_error|unknown_tool)$/,
}) {
  const { tearDown, ...setting } = await setUp()
  const gateway = await startGateway(setting)
  await pause(IDLE_MS / 2)
  await gateway.figures()
  await pause(IDLE_MS)
  const idle = await gateway.figures()
  const before = await gateway.memory()
  await gateway.figures()
  const workBefore = gateway.work()
  const calls = (await run({ ...gateway, setting })) ?? []
  const beside = await gateway.figures()
  const work = gateway.work()
  const isAlive = gateway.isAlive()
  const [after, busyMs] = isKilled ? [before, 0] : await memoryBack(gateway, before)
  const closeMs = await gateway.close()
  await tearDown?.()

  // On a busy machine, even an idle gateway is slow.
  const limit = Math.max(LIMIT_MS, TIMES_IDLE * idle.p99)
  const latest = Math.max(0, ...calls.map(({ lateMs }) => lateMs))
  const ownLatest = Math.max(0, ...calls.map(({ lateMs, starvedMs = 0 }) => lateMs - starvedMs))
  const inExecutor = Math.max(0, ...calls.map(({ inExecutorMs = 0 }) => inExecutorMs))
  const left = after.heldMb - before.heldMb
  // If other programs had the CPUs, waits say nothing about the gateway; the length of its turns still does.
  const ownShare = (work.own - workBefore.own) / Math.max(1, work.all - workBefore.all)
  const isStarved = ownShare < MIN_OWN_SHARE && busyMs <= LIMIT_MS
  const problems = [
    beside.p99 > limit && !isStarved && 'slowed down',
    beside.failures > 0 && `${beside.failures} probes failed`,
    latest > limit && !isStarved && 'late',
    calls.some(({ code }) => !codes.test(code)) && 'wrong code',
    !(left < MAX_LEFT_MB) && 'memory',
    !isAlive && !isKilled && 'died',
    closeMs > 12_000 && 'did not stop',
  ].filter(Boolean)
  const isOver = beside.p99 > limit || latest > limit
  const counted = Object.entries(numberOf(calls))
  const told = counted.map(([code, count]) => `${count} ${code}`).join(', ') || '–'
  const [p50, p99, max, own99, idle99, late] = [
    beside.p50,
    beside.p99,
    beside.max,
    beside.own.p99,
    idle.p99,
    latest,
  ].map(Math.round)
  console.log(
    `| ${name} | ${p50} / ${p99} / ${max} | ${own99} (${Math.round(100 * ownShare)} %) | ${idle99} | ${Math.round(busyMs)} | ${told} | ${late > 0 ? `+${late} ms (${Math.round(ownLatest)}, ${Math.round(inExecutor)})` : 'in time'} | ` +
      `${Math.round(before.heldMb)} → ${Math.round(after.heldMb)} MB (RSS ${Math.round(before.rssMb)} → ${Math.round(after.rssMb)}) | ${problems.join(', ') || (isStarved && isOver ? 'starved' : '✔')} |`,
  )
  if (problems.length > 0)
    for (const { code, error } of calls.slice(0, 2)) console.log(`    ${code}: ${error}`)
  return problems.length > 0 ? 1 : 0
}

function failed({ name }, error) {
  console.log(`| ${name} | – | – | – | – | ${error.message.split('\n')[0]} | – | – | failed |`)
  return 1
}

/** By code. */
function numberOf(calls) {
  const counts = {}
  for (const { code } of calls) counts[code] = (counts[code] ?? 0) + 1
  return counts
}

async function memoryBack(gateway, before) {
  const end = performance.now() + FREEING_MS
  let after = await gateway.memory()
  const { busyMs } = after
  while (!(after.heldMb - before.heldMb < MAX_LEFT_MB) && performance.now() < end)
    after = await gateway.memory()
  return [after, busyMs]
}
