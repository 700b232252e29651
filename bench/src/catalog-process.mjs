// One catalog in a separate process: prints its measurements as JSON. The argument is the number of tools.
import { ToolExecutor, ToolManager } from 'toolpost'
import { argsOf, nameOf, toolOf } from './catalog-tool.mjs'

const size = Number(process.argv[2])
const LOOKUPS = 2_000
const MISSES = 50
/** How many different tools are called in turn, and the total number of calls. */
const TURN_TOOLS = Math.min(size, 200)
const TURN_CALLS = 20_000

const empty = heapMb()
const definitions = Array.from({ length: size }, (_, index) => toolOf(index))
const defined = heapMb()
const tools = new ToolManager()
const customMs = timeMs(() => {
  for (const tool of definitions) tools.addCustomTool(tool)
})
const registered = heapMb()
const served = definitions.map(tool => ({ ...tool }))
const mcpMs = timeMs(() => new ToolManager().addMcpTools(served, { server: 'catalog' }))

const executor = new ToolExecutor(tools)
const firstInProcessMs = await callMs(0)
const firstCallMs = await callMs(size - 1)
const secondCallUs = (await callMs(size - 1)) * 1_000

const measured = {
  customMs,
  mcpMs,
  lookupUs: lookupUs(LOOKUPS, index => nameOf((index * 7_919) % size)),
  missUs: lookupUs(MISSES, index => `absent_${index}`),
  firstInProcessMs,
  firstCallMs,
  secondCallUs,
  inTurnNs: await callsInTurnNs(),
  toolsMb: defined - empty,
  registeredMb: registered - defined,
}
process.stdout.write(JSON.stringify(measured))

async function callMs(index) {
  const begin = performance.now()
  const result = await executor.run({ id: 'call_1', name: nameOf(index), args: argsOf(index) })
  const took = performance.now() - begin
  if (!result.success || result.result !== 'it')
    throw new Error(`Unexpected result: ${JSON.stringify(result)}`)
  return took
}

/** Warm calls, each to a different tool than the one before. */
async function callsInTurnNs() {
  const calls = Array.from({ length: TURN_TOOLS }, (_, index) => ({
    name: nameOf(index),
    args: argsOf(index),
  }))
  for (let i = 0; i < TURN_CALLS; i++) await executor.run(calls[i % TURN_TOOLS])
  const begin = performance.now()
  for (let i = 0; i < TURN_CALLS; i++) await executor.run(calls[i % TURN_TOOLS])
  return ((performance.now() - begin) * 1e6) / TURN_CALLS
}

function lookupUs(lookups, nameAt) {
  const names = Array.from({ length: lookups }, (_, index) => nameAt(index))
  const ms = timeMs(() => {
    for (const name of names) tools.findTool(name)
  })
  return (ms * 1_000) / lookups
}

function timeMs(action) {
  const begin = performance.now()
  action()
  return performance.now() - begin
}

function heapMb() {
  globalThis.gc()
  return process.memoryUsage().heapUsed / 2 ** 20
}
