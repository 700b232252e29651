// A worker for the proof: node worker.mjs <database url> <ledger> <id>. Runs until it is killed.
import { ToolExecutor } from 'toolpost'
import { createDurable } from 'toolpost-durable'
import { proofTools, published } from './tools.mjs'

const [databaseUrl, ledger, workerId, slots = '16'] = process.argv.slice(2)
const concurrency = Number(slots)
const tools = proofTools(ledger)
const executor = new ToolExecutor(tools)
// As in a project, where the history observes.
executor.observe(() => {})
const durable = createDurable({ executor, databaseUrl, workerId, pool: 'proof', role: 'worker', concurrency })
durable.publish(published(tools))
await durable.ready()
process.stdout.write(`${durable.status().state} ${durable.status().text}\n`)
process.on('SIGTERM', async () => {
  await durable.close()
  process.exit()
})
