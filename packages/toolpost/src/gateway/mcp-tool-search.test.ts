import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { as, dataOf } from '../../test/gateway.ts'
import { CLIENTS } from '../../test/mcp-clients.ts'
import { ToolExecutor } from '../executor/executor.ts'
import { defineTool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { type ServedGateway, serveGateway } from './serve-gateway.ts'

const SEEKER = 'a-token-for-the-seeker'
const clients = { seeker: { token: SEEKER, toolSearch: true } }

/** A hundred tools, of which one opens the garage. */
function manager(): ToolManager {
  const tools = new ToolManager()
  const add = (name: string, description: string) =>
    tools.addCustomTool(
      defineTool({
        name,
        description,
        schema: { type: 'object', properties: { fast: { type: 'boolean' } } },
        handler: ({ fast }) => `${name} ${fast}`,
      }),
    )
  for (let number = 0; number < 100; number++) add(`tool_${number}`, `Does the thing ${number}`)
  add('open_garage', 'Opens the door of the garage')
  return tools
}

describe.each(CLIENTS)('a client that searches its tools, %s', (_, connect) => {
  let served: ServedGateway
  beforeAll(async () => {
    served = await serveGateway({ port: 0, executor: new ToolExecutor(manager()), clients })
  })
  afterAll(() => served.close({ drainMs: 0 }))

  it('is shown a search, and calls what it found', async () => {
    await using client = await connect({ url: served.url }, { token: SEEKER })
    const past = () => dataOf(fetch(`${served.url}api/calls`, { headers: as(SEEKER) }))
    const { calls: before } = await past()
    expect(await client.tools()).toMatchObject([{ name: 'find_tools' }, { name: 'call_tool' }])
    const found = await client.call('find_tools', { query: 'open the garage', limit: 1 })
    expect(found.content[0].text).toContain('- open_garage(fast?: boolean)')
    const inner = { name: 'tool_7', arguments: { fast: true } }
    expect((await client.call('call_tool', inner)).content).toEqual([{ type: 'text', text: 'tool_7 true' }])
    const { calls } = await past()
    expect(calls.slice(before.length).map(({ tool }: { tool: string }) => tool)).toEqual([
      'find_tools',
      'tool_7',
    ])
  })
})
