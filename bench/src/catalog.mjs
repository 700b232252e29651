// Catalogs of many tools: the cost of registering, finding and first calling them. Each measurement runs in a separate
// process, so that nothing is compiled or loaded yet.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { fixed, printGoals, printTable } from './report.mjs'
import { interleave, median, quantile } from './rounds.mjs'

const SIZES = [20, 1_000, 10_000]
const ROUNDS = 9

console.log(`Node ${process.version}; median of ${ROUNDS} processes per size, the maximum in brackets.\n`)
const taken = await interleave({ contenders: SIZES, warmUpRounds: 1, rounds: ROUNDS, measure: inProcess })
const row = (title, key, digits) => [title, ...SIZES.map(size => spread(taken.get(size), key, digits))]
printTable(
  ['tools', ...SIZES.map(size => size.toLocaleString('en'))],
  [
    row('registered as custom tools, ms', 'registerMs', 1),
    row('lookup, µs', 'lookupUs', 2),
    row('first call to another tool, ms', 'firstCallMs', 2),
    row('a warm call, up to 200 tools in turn, ns', 'warmCallNs', 0),
  ],
)
printGoals([
  most('10,000 tools registered in ≤ 100 ms', 'registerMs', 100, 'ms'),
  most('lookup ≤ 0.3 ms', 'lookupUs', 300, 'µs'),
  most('first call to one ≤ 5 ms', 'firstCallMs', 5, 'ms'),
])

function inProcess(size) {
  const program = fileURLToPath(new URL('catalog-process.mjs', import.meta.url))
  const child = spawnSync(process.execPath, [program, String(size)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  })
  if (child.status !== 0)
    throw new Error(`The process for ${size} tools failed with exit code ${child.status}`)
  return JSON.parse(child.stdout)
}

function spread(measured, key, digits) {
  const numbers = measured.map(one => one[key])
  return `${fixed(median(numbers), digits)} (${fixed(quantile(numbers, 1), digits)})`
}

function most(goal, key, limit, unit) {
  const measured = median(taken.get(10_000).map(one => one[key]))
  return { goal, measured: `${fixed(measured)} ${unit}`, reached: measured <= limit }
}
