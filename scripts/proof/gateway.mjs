// A gateway for the proof: node gateway.mjs <database url>. Reads calls as lines `{ id, tool, other }` from stdin, and answers
// with lines `{ id, other, result }`. The id is the idempotency key: a call that is resent is the same run, unless `other` replaces
// its argument.
import { createInterface } from 'node:readline'
import { ToolExecutor, ToolManager } from 'toolpost'
import { createDurable } from 'toolpost-durable'

const [databaseUrl] = process.argv.slice(2)
const executor = new ToolExecutor(new ToolManager())
const durable = createDurable({
  executor,
  databaseUrl,
  workerId: 'gateway',
  pool: 'gateway',
  role: 'gateway',
})
await durable.ready()
process.stdout.write(`${JSON.stringify({ state: durable.status() })}\n`)

process.stdout.on('error', () => process.exit())
createInterface({ input: process.stdin }).on('line', async line => {
  const { id, tool, other } = JSON.parse(line)
  const result = await durable.run(
    { name: tool, args: { id: other ?? id } },
    { key: id, pool: 'proof', caller: 'proof' },
  )
  process.stdout.write(`${JSON.stringify({ id, other, result })}\n`)
})
process.on('SIGTERM', async () => {
  await durable.close()
  process.exit()
})
