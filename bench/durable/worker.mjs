// A worker in a separate process: node worker.mjs <database url> <pool> <concurrency>
import { ToolExecutor } from 'toolpost'
import { createDurable } from 'toolpost-durable'
import { benchTools, published } from './tools.mjs'

const [databaseUrl, pool, concurrency] = process.argv.slice(2)
const tools = benchTools()
const executor = new ToolExecutor(tools)
const durable = createDurable({
  executor,
  databaseUrl,
  pool,
  role: 'worker',
  concurrency: Number(concurrency),
})
durable.publish(published(tools))
await durable.ready()
process.stdout.write(`${durable.status().state}\n`)
process.on('SIGTERM', async () => {
  await durable.close()
  process.exit()
})
