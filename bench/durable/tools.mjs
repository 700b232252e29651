// The tools of the benchmark: one that does nothing, one that may not be repeated, one that takes 100 ms, and one that runs
// until it is aborted and reports that.
import { setTimeout as sleep } from 'node:timers/promises'
import { defineTool, ToolManager } from 'toolpost'

const schema = { type: 'object', properties: { x: { type: 'number' } } }

export function benchTools(say = () => {}) {
  const tools = new ToolManager()
  const echo = ({ x }) => ({ x })
  const description = 'Echoes'
  tools.addCustomTool(defineTool({ name: 'read', description, schema, readOnly: true, handler: echo }))
  tools.addCustomTool(defineTool({ name: 'write', description, schema, handler: echo }))
  tools.addCustomTool(
    defineTool({ name: 'nap', description, schema, readOnly: true, handler: () => sleep(100, 'slept') }),
  )
  const hold = (_, { signal }) => {
    say('begun')
    return new Promise((_, reject) =>
      signal.addEventListener('abort', () => {
        say('aborted')
        reject(new Error('aborted'))
      }),
    )
  }
  const maxTimeoutMs = 600_000
  tools.addCustomTool(
    defineTool({
      ...{ name: 'hold', description, schema, readOnly: true, handler: hold },
      ...{ timeoutMs: maxTimeoutMs, maxTimeoutMs },
    }),
  )
  return tools
}

export function published(tools) {
  return tools.getTools().map(({ name, description, schema, readOnly }) => ({
    ...{ name, description, schema, readOnly, fingerprint: name },
  }))
}
