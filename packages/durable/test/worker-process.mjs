// A worker in a separate process, to be killed: node worker-process.mjs <database url> <pool> <id> <ledger>
import { appendFileSync } from 'node:fs'
import { defineTool, ToolExecutor, ToolManager } from 'toolpost'
import { createDurable } from 'toolpost-durable'

const [databaseUrl, pool, workerId, ledger] = process.argv.slice(2)
const note = text => appendFileSync(ledger, `${text} ${workerId}\n`)
const schema = { type: 'object', properties: { id: { type: 'string' }, hold: { type: 'array' } } }

/** Hangs until aborted if this worker is listed in `hold`. */
const work =
  kind =>
  async ({ id, hold = [] }, options) => {
    note(`${kind} ${id}`)
    options.reportProgress?.({ progress: 1, total: 2, message: 'half' })
    if (!hold.includes(workerId)) return { by: workerId }
    return new Promise((_, reject) =>
      options.signal.addEventListener('abort', () => {
        note(`aborted ${id}`)
        reject(new Error('aborted'))
      }),
    )
  }

const tools = new ToolManager()
tools.addCustomTool(defineTool({ name: 'put', description: 'Writes', schema, handler: work('put') }))
tools.addCustomTool(
  defineTool({ name: 'look', description: 'Reads', schema, readOnly: true, handler: work('look') }),
)
const executor = new ToolExecutor(tools)
const durable = createDurable({ executor, databaseUrl, pool, workerId, role: 'worker' })
durable.publish(tools.getTools().map(tool => ({ ...tool, fingerprint: tool.name })))
await durable.ready()
process.stdout.write(`${durable.status().state}\n`)
