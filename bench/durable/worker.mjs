// A worker in a separate process: node worker.mjs <database url> <pool> <concurrency> [<servers with limits>]. With servers, it
// also prints what it costs when idle, over 20 seconds.
import { setTimeout as sleep } from 'node:timers/promises'
import { ToolExecutor } from 'toolpost'
import { createDurable } from 'toolpost-durable'
import { benchTools, published } from './tools.mjs'

const [databaseUrl, pool, concurrency, limited] = process.argv.slice(2)
const servers = Array.from({ length: Number(limited ?? 0) }, (_, index) => `server-${index}`)
const tools = benchTools()
const executor = new ToolExecutor(tools)
const durable = createDurable({
  executor,
  databaseUrl,
  pool,
  role: 'worker',
  servers,
  limits: Object.fromEntries(servers.map(server => [server, { concurrency: 2 }])),
  concurrency: Number(concurrency),
})
durable.publish(published(tools))
await durable.ready()
process.stdout.write(`${durable.status().state}\n`)
if (limited !== undefined) {
  await sleep(3_000)
  const before = process.cpuUsage()
  await sleep(20_000)
  const { user, system } = process.cpuUsage(before)
  process.stdout.write(`${(((user + system) / 20_000_000) * 100).toFixed(2)}\n`)
}
process.on('SIGTERM', async () => {
  await durable.close()
  process.exit()
})
