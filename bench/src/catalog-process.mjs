// One catalog in a separate process: prints its measurements as JSON. The argument is the number of tools.
import { ToolExecutor, ToolManager } from 'toolpost'
import { argsOf, nameOf, toolOf } from './catalog-tool.mjs'

const size = Number(process.argv[2])
const LOOKUPS = 2_000
const CALLS = 20_000

const definitions = Array.from({ length: size }, (_, index) => toolOf(index))
const tools = new ToolManager()
const registerMs = timeMs(() => {
  for (const tool of definitions) tools.addCustomTool(tool)
})
const executor = new ToolExecutor(tools)
await callMs(0)
const firstCallMs = await callMs(size - 1)
process.stdout.write(
  JSON.stringify({ registerMs, lookupUs: lookupUs(), firstCallMs, warmCallNs: await warmCallNs() }),
)

async function callMs(index) {
  const begin = performance.now()
  const result = await executor.run({ id: 'call_1', name: nameOf(index), args: argsOf(index) })
  const took = performance.now() - begin
  if (!result.success || result.result !== 'it')
    throw new Error(`Unexpected result: ${JSON.stringify(result)}`)
  return took
}

/** Up to 200 tools in turn. */
async function warmCallNs() {
  const calls = Array.from({ length: Math.min(size, 200) }, (_, index) => ({
    name: nameOf(index),
    args: argsOf(index),
  }))
  for (let i = 0; i < CALLS; i++) await executor.run(calls[i % calls.length])
  const begin = performance.now()
  for (let i = 0; i < CALLS; i++) await executor.run(calls[i % calls.length])
  return ((performance.now() - begin) * 1e6) / CALLS
}

function lookupUs() {
  const names = Array.from({ length: LOOKUPS }, (_, index) => nameOf((index * 7_919) % size))
  const ms = timeMs(() => {
    for (const name of names) tools.findTool(name)
  })
  return (ms * 1_000) / LOOKUPS
}

function timeMs(action) {
  const begin = performance.now()
  action()
  return performance.now() - begin
}
