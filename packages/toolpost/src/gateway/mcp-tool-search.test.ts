import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataOf } from '../../test/gateway.ts'
import { CLIENTS } from '../../test/mcp-clients.ts'
import { ToolExecutor } from '../executor/executor.ts'
import { defineTool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { type ServedGateway, serveGateway } from './serve-gateway.ts'

const TOKENS = {
  seeker: 'a-token-for-the-seeker',
  reader: 'a-token-for-the-reader',
  few: 'a-token-for-the-few',
}
const clients = {
  seeker: { token: TOKENS.seeker, toolSearch: true },
  reader: { token: TOKENS.reader },
  few: { token: TOKENS.few, toolSearch: true, tools: ['tool_1', 'tool_2'] },
}

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
  const open = (name: keyof typeof TOKENS) => connect({ url: served.url }, { token: TOKENS[name], name })
  const namesOf = async (client: Awaited<ReturnType<typeof connect>>) =>
    (await client.tools()).map(({ name }) => name)

  it('is shown a search, and calls what it found', async () => {
    await using client = await open('seeker')
    expect(await namesOf(client)).toEqual(['find_tools', 'call_tool'])
    const found = await client.call('find_tools', { query: 'open the garage', limit: 1 })
    expect(found.content[0].text).toContain('- open_garage(fast?: boolean)')
    const inner = { name: 'tool_7', arguments: { fast: true } }
    expect((await client.call('call_tool', inner)).content).toEqual([{ type: 'text', text: 'tool_7 true' }])
    const { calls } = await dataOf(
      fetch(`${served.url}api/calls`, { headers: { authorization: `Bearer ${TOKENS.seeker}` } }),
    )
    expect(calls.map(({ tool }: { tool: string }) => tool)).toEqual(['find_tools', 'tool_7'])
  })

  it('finds and calls only what it may use', async () => {
    await using client = await open('few')
    expect(await namesOf(client)).toEqual(['tool_1', 'tool_2'])
    await expect(client.call('call_tool', { name: 'open_garage' })).rejects.toThrow('open_garage')
    const found = await client.call('find_tools', { query: 'garage' })
    expect(found.content[0].text).not.toContain('open_garage')
  })
})
