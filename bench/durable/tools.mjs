// The tools of the benchmark: one that does nothing, one that may not be repeated, and one that takes 100 ms.
import { setTimeout as sleep } from 'node:timers/promises'
import { defineTool, ToolManager } from 'toolpost'

export { published } from '../../scripts/proof/tools.mjs'

const schema = { type: 'object', properties: { x: { type: 'number' } } }

export function benchTools() {
  const tools = new ToolManager()
  const echo = ({ x }) => ({ x })
  const description = 'Echoes'
  tools.addCustomTool(defineTool({ name: 'read', description, schema, readOnly: true, handler: echo }))
  tools.addCustomTool(defineTool({ name: 'write', description, schema, handler: echo }))
  tools.addCustomTool(
    defineTool({ name: 'nap', description, schema, readOnly: true, handler: () => sleep(100, 'slept') }),
  )
  return tools
}
