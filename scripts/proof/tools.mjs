// The tools of the proof. A write records itself out of band before it answers: a line in a file opened with O_APPEND.
import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineTool, ToolManager } from 'toolpost'

const READ_MS = 20
/** Longer, so that some are running whenever a worker or its link is lost. */
const WRITE_MS = 100
const schema = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }

export function proofTools(ledger) {
  const tools = new ToolManager()
  const count = async ({ id }) => {
    appendFileSync(ledger, `${id} ${process.pid}\n`)
    await sleep(WRITE_MS)
    return { id }
  }
  tools.addCustomTool(defineTool({ name: 'write', description: 'Writes', schema, handler: count }))
  const read = async ({ id }) => {
    await sleep(READ_MS)
    return { id }
  }
  tools.addCustomTool(
    defineTool({ name: 'read', description: 'Reads', schema, readOnly: true, handler: read }),
  )
  return tools
}

export function published(tools) {
  return tools.getTools().map(({ name, description, schema, readOnly }) => ({
    name,
    description,
    schema,
    readOnly,
    fingerprint: name,
  }))
}
