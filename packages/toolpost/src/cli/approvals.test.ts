import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import { commandLine } from '../../test/command.ts'
import type { ConsoleLine } from '../../test/console-line.ts'
import { dataOf } from '../../test/gateway.ts'
import { eventsIn, hostileServer } from '../../test/hostile-server/hostile-server.ts'
import { startUp } from '../../test/up.ts'

const { folder: parent, toolpost } = commandLine()
const PATIENCE = { interval: 20, timeout: 15_000 }
const tools = [
  { name: 'wipe', inputSchema: { type: 'object' }, annotations: { destructiveHint: true } },
  { name: 'look', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
]

/** A folder with a configuration whose server has a destructive tool. */
function home(settings: object = {}) {
  const folder = mkdtempSync(join(parent, 'home-'))
  const journal = join(folder, 'journal')
  const config = join(folder, 'toolpost.json')
  const disk = hostileServer({ label: 'done', journal, tools })
  writeFileSync(config, JSON.stringify({ model: 'offline', mcpServers: { disk }, ...settings }))
  const lines = () => eventsIn(journal)
  return {
    folder,
    config,
    remembered: join(folder, 'toolpost.approvals.json'),
    /** How often it was really called. */
    wipes: () => lines().filter(line => line === 'call wipe').length,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  }
}

async function up(config: string) {
  const running = await startUp(dirname(config))
  const approvals = (...words: string[]) => toolpost(['approvals', ...words, '--config', config])
  return {
    ...running,
    approvals,
    /** What waits, as soon as something does. */
    async waiting() {
      const list = async () => (await dataOf(running.ask('api/approvals'))).approvals
      await expect.poll(async () => (await list()).length, PATIENCE).toBe(1)
      return (await list())[0]
    },
  }
}

/** A real MCP client, which cannot ask its person. */
async function connect({ url, headers }: Pick<ConsoleLine, 'url' | 'headers'>) {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}mcp`), { requestInit: { headers } }))
  await expect
    .poll(async () => (await client.listTools()).tools.map(({ name }) => name), PATIENCE)
    .toContain('wipe')
  return {
    wipe: (args: object = {}) => client.callTool({ name: 'wipe', arguments: args as never }),
    [Symbol.asyncDispose]: () => client.close(),
  }
}

/** Half a dozen processes, one after the other, on a machine that may be busy. */
describe('toolpost approvals', { timeout: 60_000 }, () => {
  it('lists what waits and approves it, and the call runs once', async () => {
    using place = home()
    await using gateway = await up(place.config)
    expect(await gateway.approvals()).toEqual({ code: 0, out: '', err: 'Nothing is waiting for approval.\n' })
    await using client = await connect(gateway)
    const answer = client.wipe({ disk: 'a' })
    const { id } = await gateway.waiting()
    expect(place.wipes()).toBe(0)
    const list = await gateway.approvals()
    expect(list.code).toBe(0)
    expect(list.out).toBe(
      `${id}  wipe of disk {"disk":"a"}\n  asked by mcp: the tool is marked as destructive\n`,
    )
    expect(JSON.parse((await gateway.approvals('--json')).out)).toMatchObject([{ id, tool: 'wipe' }])
    expect(await gateway.approvals('approve', id.slice(0, 8))).toEqual({
      code: 0,
      out: '',
      err: 'Approved.\n',
    })
    expect(await answer).toMatchObject({ content: [{ text: 'done wipe' }] })
    expect(place.wipes()).toBe(1)
    const again = await gateway.approvals('approve', id)
    expect(again).toEqual({ code: 2, out: '', err: 'Error: No pending approval with this id\n' })
    expect(place.wipes()).toBe(1)
    expect(existsSync(place.remembered)).toBe(false)
  })
})
