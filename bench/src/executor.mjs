// The executor against its peers, in one process. Needs `--expose-gc`, which scripts/bench.mjs passes.
import { readFileSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setTracingDisabled } from '@openai/agents'
import { CONTENDERS } from './contenders.mjs'
import { fixed, printGoals, printTable, times, whole } from './report.mjs'
import { interleave, median, ratio } from './rounds.mjs'
import { ARGS, forecast, LIMIT_MS } from './sample-tool.mjs'
import { verify } from './verify.mjs'

const SLICE_MS = 5
const WARM_UP_ROUNDS = 60
const ROUNDS = 300
const PEERS = '@langchain/core @langchain/langgraph @mastra/core @openai/agents ai ajv pino zod'.split(' ')

setTracingDisabled(true)
for (const contender of CONTENDERS) await verify(contender)
console.log(`Node ${process.version}; ${PEERS.map(versionOf).join(', ')}`)
console.log(
  'Every contender returned the right value, rejected wrong arguments and met its deadline, where it has one.\n',
)

const timings = await race(CONTENDERS)
printCalls(timings)
printGoals(goals(timings))

/** Nanoseconds per call, by id, one number per round. */
async function race(contenders) {
  const entrants = contenders.map(({ id, work = forecast, create, settle }) => ({
    id,
    settle,
    call: create(work, LIMIT_MS),
    calls: 100,
  }))
  const taken = await interleave({
    contenders: entrants,
    warmUpRounds: WARM_UP_ROUNDS,
    rounds: ROUNDS,
    measure: slice,
  })
  return Object.fromEntries([...taken].map(([{ id }, numbers]) => [id, numbers]))
}

/** As many calls, one after the other, as take about SLICE_MS. */
async function slice(entrant) {
  const { call, calls } = entrant
  await settle()
  const begin = process.hrtime.bigint()
  for (let i = 0; i < calls; i++) await call(ARGS)
  const nanoseconds = Number(process.hrtime.bigint() - begin) / calls
  entrant.calls = Math.max(10, Math.round((SLICE_MS * 1e6) / nanoseconds))
  await entrant.settle?.()
  return nanoseconds
}

/** Keeps one contender's garbage and timers from being charged to the next. */
async function settle() {
  await nextTurn()
  globalThis.gc({ type: 'minor' })
}

function printCalls(timings) {
  const rows = CONTENDERS.map(({ id, title }) => [
    title,
    whole(median(timings[id])),
    times(ratio(timings[id], timings.naive)),
  ])
  printTable(['', 'ns per call', '× naive (10–90 % of rounds)'], rows)
}

function goals(timings) {
  const against = (id, base) => ratio(timings[id], timings[base]).median
  const most = (goal, value, limit) => ({ goal, measured: `${fixed(value)} ×`, reached: value <= limit })
  const faster = against('langchain', 'toolpost')
  return [
    most('Toolpost, logging off: ≤ 0.25 × naive', against('toolpost', 'naive'), 0.25),
    most('Toolpost, logging off: no slower than Mastra', against('toolpost', 'mastra'), 1),
    {
      goal: 'Toolpost, logging off: ≥ 45 × faster than LangChain',
      measured: `${fixed(faster, 1)} ×`,
      reached: faster >= 45,
    },
    most(
      'an interceptor that only calls next(): at most 0.25 × naive more',
      against('toolpost-interceptor', 'naive') - against('toolpost', 'naive'),
      0.25,
    ),
    most('tool reads its signal: ≤ 1.1 × naive', against('toolpost-signal', 'naive'), 1.1),
    most('the same, against naive with the same tool', against('toolpost-signal', 'naive-signal'), 1.1),
    most('logging to a sink: ≤ 2.5 × naive', against('toolpost-logging', 'naive'), 2.5),
    most('history on: ≤ 0.6 × naive', against('toolpost-history', 'naive'), 0.6),
    most('as in a project: ≤ 1.0 × naive', against('toolpost-project', 'naive'), 1),
  ]
}

function versionOf(name) {
  const file = new URL(`../node_modules/${name}/package.json`, import.meta.url)
  return `${name} ${JSON.parse(readFileSync(file, 'utf8')).version}`
}
