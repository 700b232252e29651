// Catalogs of many tools: the cost of registering, finding and first calling them. Each measurement runs in a separate
// process, so that nothing is compiled or loaded yet.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { fixed, printGoals, printTable } from './report.mjs'
import { interleave, median, quantile } from './rounds.mjs'

const SIZES = [20, 1_000, 10_000]
const WARM_UP_ROUNDS = 1
const ROUNDS = 9

console.log(`Node ${process.version}; median of ${ROUNDS} processes per size, the maximum in brackets.\n`)
const taken = await interleave({
  contenders: SIZES,
  warmUpRounds: WARM_UP_ROUNDS,
  rounds: ROUNDS,
  measure: size => inProcess('catalog-process.mjs', size),
})
const compiles = SIZES.map(size => inProcess('catalog-compiles.mjs', size))
printCatalogs()
printGoals(goals(taken.get(10_000), compiles[SIZES.indexOf(10_000)]))

function inProcess(file, size) {
  const program = fileURLToPath(new URL(file, import.meta.url))
  const child = spawnSync(process.execPath, ['--expose-gc', program, String(size)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  })
  if (child.status !== 0)
    throw new Error(`The process for ${size} tools failed with exit code ${child.status}`)
  return JSON.parse(child.stdout)
}

function printCatalogs() {
  const row = (title, key, digits) => [title, ...SIZES.map(size => spread(taken.get(size), key, digits))]
  printTable(
    ['tools', ...SIZES.map(size => size.toLocaleString('en'))],
    [
      row('registered as custom tools, ms', 'customMs', 1),
      row('registered as MCP tools, ms', 'mcpMs', 1),
      row('lookup, µs', 'lookupUs', 2),
      row('lookup of an unknown name, µs', 'missUs', 2),
      row('first call in the process, ms', 'firstInProcessMs', 1),
      row('first call to another tool, ms', 'firstCallMs', 2),
      row('second call to it, µs', 'secondCallUs', 1),
      row('a warm call, up to 200 tools in turn, ns', 'inTurnNs', 0),
      row('memory of the tools themselves, MB', 'toolsMb', 2),
      row('memory added by registering, MB', 'registeredMb', 2),
      ['schemas compiled by registering', ...compiles.map(({ byRegistering }) => byRegistering)],
      ['schemas compiled by a first call', ...compiles.map(({ byFirstCall }) => byFirstCall)],
    ],
  )
}

function spread(measured, key, digits) {
  const numbers = measured.map(one => one[key])
  return `${fixed(median(numbers), digits)} (${fixed(quantile(numbers, 1), digits)})`
}

function goals(measured, { byRegistering }) {
  const middle = key => median(measured.map(one => one[key]))
  const most = (goal, key, limit, unit) => ({
    goal,
    measured: `${fixed(middle(key))} ${unit}`,
    reached: middle(key) <= limit,
  })
  return [
    most('10,000 tools registered in ≤ 100 ms', 'customMs', 100, 'ms'),
    most('lookup < 1 ms', 'lookupUs', 999, 'µs'),
    most('lookup of an unknown name < 1 ms', 'missUs', 999, 'µs'),
    most('first call to one ≤ 5 ms', 'firstCallMs', 5, 'ms'),
    { goal: 'no eager compile', measured: `${byRegistering} schemas`, reached: byRegistering === 0 },
  ]
}
