// MCP over stdio: the SDK's client alone, LangChain's adapter, and Toolpost including the executor, each with its own
// server process, with 1, 32 and 256 parallel calls.
import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { MultiServerMCPClient } from '@langchain/mcp-adapters'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { ToolExecutor, ToolManager } from '../../packages/toolpost/dist/index.js'
import { McpIntegration } from '../../packages/toolpost/dist/mcp/index.js'
import { fixed, printGoals, printTable, times, whole } from './report.mjs'
import { interleave, median, ratio } from './rounds.mjs'

const PARALLEL = [1, 32, 256]
const CALLS_A_SLICE = 512
const server = {
  command: process.execPath,
  args: [fileURLToPath(new URL('mcp-server.mjs', import.meta.url))],
}

const contenders = [await sdkClient(), await adapter(), await toolpost()]
for (const { title, call, textOf } of contenders) assert.equal(textOf(await call()), 'hi', title)

const rates = new Map()
for (const parallel of PARALLEL) {
  const measure = contender => callsASecond(contender, parallel)
  rates.set(parallel, await interleave({ contenders, warmUpRounds: 3, rounds: 20, measure }))
}
report()
for (const { close } of contenders) await close()

async function callsASecond({ call }, parallel) {
  let left = CALLS_A_SLICE
  const before = performance.now()
  const worker = async () => {
    while (left-- > 0) await call()
  }
  await Promise.all(Array.from({ length: parallel }, worker))
  return (CALLS_A_SLICE / (performance.now() - before)) * 1_000
}

function report() {
  const base = contenders[0]
  const rows = PARALLEL.flatMap(parallel => {
    const taken = rates.get(parallel)
    return contenders.map(contender => {
      const numbers = taken.get(contender)
      return [
        `${parallel} at a time: ${contender.title}`,
        whole(median(numbers)),
        times(ratio(numbers, taken.get(base))),
      ]
    })
  })
  printTable(['', 'calls per second', '× the SDK (10–90 % of rounds)'], rows)
  const at32 = rates.get(32)
  const measured = ratio(at32.get(contenders[2]), at32.get(base)).median
  const goal = '32 at a time: ≥ 160 % of the SDK client on its own transport'
  printGoals([{ goal, measured: `${fixed(measured * 100, 0)} %`, reached: measured >= 1.6 }])
}

async function sdkClient() {
  const client = new Client({ name: 'bench', version: '1.0.0' })
  await client.connect(new StdioClientTransport(server))
  return {
    title: 'SDK client, callTool',
    call: () => client.callTool({ name: 'echo', arguments: { text: 'hi' } }),
    textOf: result => result.content[0].text,
    close: () => client.close(),
  }
}

async function adapter() {
  const client = new MultiServerMCPClient({ mcpServers: { bench: { transport: 'stdio', ...server } } })
  const [tool] = await client.getTools()
  return {
    title: '@langchain/mcp-adapters, invoke',
    call: () => tool.invoke({ text: 'hi' }),
    textOf: result => result,
    close: () => client.close(),
  }
}

async function toolpost() {
  const tools = new ToolManager()
  const mcp = new McpIntegration({ servers: { bench: server } })
  mcp.start(tools)
  await mcp.ready()
  const executor = new ToolExecutor(tools)
  return {
    title: 'Toolpost, executor.run',
    call: () => executor.run({ name: 'echo', args: { text: 'hi' } }),
    textOf: ({ result }) => result,
    close: () => mcp.close(),
  }
}
