import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { ToolExecutor, ToolManager } from 'toolpost'
import { McpIntegration } from 'toolpost/mcp'

const server = new URL('../../packages/toolpost/test/hostile-server/server.mjs', import.meta.url)

const junk = fc.oneof(
  fc.string({ maxLength: 200, unit: 'binary' }),
  fc.json({ maxDepth: 4 }),
  fc.record({ jsonrpc: fc.constant('2.0'), id: fc.oneof(fc.constant('$id'), fc.jsonValue()) }).map(toLine),
  fc
    .record({
      jsonrpc: fc.constant('2.0'),
      method: fc.constantFrom(
        'ping',
        'notifications/progress',
        'notifications/tools/list_changed',
        'notifications/message',
        'sampling/createMessage',
        'elicitation/create',
        'roots/list',
        'nonsense',
      ),
      id: fc.option(fc.jsonValue({ maxDepth: 0 }), { nil: undefined }),
      params: fc.jsonValue({ maxDepth: 3 }),
    })
    .map(toLine),
  fc
    .record({ jsonrpc: fc.constant('2.0'), id: fc.constant('$id'), result: fc.jsonValue({ maxDepth: 4 }) })
    .map(toLine),
  fc
    .record({ jsonrpc: fc.constant('2.0'), id: fc.constant('$id'), error: fc.jsonValue({ maxDepth: 2 }) })
    .map(toLine),
)

function toLine(message) {
  return JSON.stringify(message).replaceAll('"$id"', '$id')
}

/** A server that answers calls with the fuzzed lines; after each, an ordinary call must work. */
export const stdioServerTarget = {
  name: 'stdio-server',
  inputs: fc.array(junk, { minLength: 1, maxLength: 5 }),
  async setUp() {
    const tools = new ToolManager()
    const mcp = new McpIntegration({
      servers: { hostile: { command: process.execPath, args: [fileURLToPath(server)] } },
    })
    mcp.start(tools)
    await mcp.ready()
    return { mcp, executor: new ToolExecutor(tools, { timeoutMs: 10_000 }) }
  },
  async check(lines, { executor }) {
    const raw = lines.join('\n')
    const answer = await executor.run({ name: 'answer', args: { raw } }, { timeoutMs: 20 })
    if (typeof answer.success !== 'boolean') throw new Error('no result')
    const after = await executor.run({ name: 'echo', args: { text: 'alive' } })
    if (!after.success || after.result !== 'alive') throw new Error(`broken afterwards: ${after.error}`)
  },
  tearDown: ({ mcp }) => mcp.close(),
}
