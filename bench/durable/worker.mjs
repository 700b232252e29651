// A worker in a separate process: node worker.mjs <database url> <pool> <concurrency>
import { ToolExecutor } from 'toolpost'
import { createDurable } from 'toolpost-durable'
import { benchTools, published } from './tools.mjs'

const [databaseUrl, pool, concurrency] = process.argv.slice(2)
const say = text => process.stdout.write(`${text}\n`)
const tools = benchTools(say)
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
say(durable.status().state)
process.on('SIGTERM', async () => {
  await durable.close()
  process.exit()
})
