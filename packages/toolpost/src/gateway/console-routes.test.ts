import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { dataOf, deferred, eventReader, patientTool, testGateway, toolNamed } from '../../test/gateway.ts'
import { hostileServer } from '../../test/hostile-server/hostile-server.ts'
import { openHistory } from '../history/history.ts'
import { silentLogger } from '../logging/logger.ts'
import type { AiClient } from '../models/ai-client.ts'
import { openProject } from '../project/open-project.ts'
import { createGateway } from './gateway.ts'

const folder = mkdtempSync(join(tmpdir(), 'toolpost-console-routes-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Says how many messages it was shown, and what the last one asks. */
const counting: AiClient = {
  ask: async prompt => {
    const messages = [...(prompt as { role: string; content: string }[])]
    const text = `${messages.length}: ${messages.at(-1)?.content}`
    const answer = { text, results: [], iterations: 1, stopReason: 'answer' as const }
    return { ...answer, messages: messages as never, usage: { input: 12, output: 3 } }
  },
}

async function endOf(response: Promise<Response>) {
  return (await eventReader(await response).all()).at(-1)?.data
}

describe('calls that are under way', () => {
  it('tell how far they are, in events and in the list', async () => {
    const gate = deferred<string>()
    const told = deferred<void>()
    const slow = toolNamed('slow', (_args, options) => {
      options.reportProgress?.({ progress: 1, total: 4, message: 'the first quarter' })
      told.resolve()
      return gate.promise
    })
    await using gateway = testGateway([slow])
    const events = eventReader(await gateway.get('/api/events'))
    const answer = gateway.post('/api/tools/slow/call', {}, { headers: { 'x-call-id': 'mine' } })
    await told.promise
    const { data } = await events.until(({ type }) => type === 'progress')
    expect(data).toMatchObject({ progress: 1, total: 4, message: 'the first quarter' })
    const { calls } = await dataOf(gateway.get('/api/calls'))
    expect(calls).toMatchObject([{ serial: data.serial, id: 'mine', progress: { progress: 1, total: 4 } }])
    gate.resolve('done')
    await answer
    const { calls: ended } = await dataOf(gateway.get('/api/calls'))
    expect(ended[0]).not.toHaveProperty('progress')
    expect(ended[0].stages[0]).toMatchObject({ name: 'find', start_ms: 0 })
    await events.cancel()
  })

  it('are cancelled by serial, whoever made them', async () => {
    const { tool, begun, aborted } = patientTool()
    await using gateway = testGateway([tool])
    const answer = gateway.executor.run({ name: 'patient' }, { origin: 'mcp' })
    await begun
    const cancel = async (index: number) => {
      const { calls } = await dataOf(gateway.get('/api/calls'))
      const url = `http://localhost/api/calls/${calls[index].serial}`
      return gateway.fetch(new Request(url, { method: 'DELETE' }))
    }
    expect((await cancel(0)).status).toBe(204)
    expect(await answer).toMatchObject({ code: 'cancelled' })
    await aborted
    expect((await cancel(0)).status).toBe(404)
  })
})

describe('conversations', () => {
  it('survive a restart, beside the history; are named, asked again and deleted', async () => {
    const file = join(folder, 'kept', 'history.db')
    const history = await openHistory({ file })
    let id = ''
    {
      await using gateway = testGateway(undefined, { client: counting, history })
      const first = await endOf(gateway.post('/api/chat', { message: 'one' }))
      expect(first).toMatchObject({ text: '2: one', usage: { input: 12, output: 3 } })
      id = first.conversation
      await endOf(gateway.post('/api/chat', { message: 'two', conversation: id }))
    }
    const damaged = { id: 'damaged', owner: 'default', turns: [{ end: {} }] }
    writeFileSync(join(folder, 'kept/conversations/damaged.json'), JSON.stringify(damaged))
    await using gateway = testGateway(undefined, { client: counting, history })
    const path = `/api/conversations/${id}`
    const { conversations } = await dataOf(gateway.get('/api/conversations'))
    expect(conversations).toMatchObject([{ id, name: 'one', turns: 2 }])
    const third = await endOf(gateway.post('/api/chat', { message: 'three', conversation: id }))
    expect(third).toMatchObject({ text: '6: three', conversation: id })
    const again = await endOf(gateway.post('/api/chat', { message: 'anew', conversation: id, turn: 1 }))
    expect(again.text).toBe('4: anew')
    for (const turn of [-1, 1.5])
      expect((await gateway.post('/api/chat', { message: 'x', conversation: id, turn })).status).toBe(400)
    expect((await gateway.post(path, { name: ' ' }, { method: 'PATCH' })).status).toBe(400)
    const { turns } = await dataOf(gateway.get(path))
    expect(turns.map((turn: { question: string }) => turn.question)).toEqual(['one', 'anew'])
    const patched = await gateway.post(path, { name: ' My  talk ' }, { method: 'PATCH' })
    expect(await patched.json()).toMatchObject({ name: 'My talk' })
    expect((await gateway.post(path, undefined, { method: 'DELETE' })).status).toBe(204)
    expect((await gateway.get(path)).status).toBe(404)
    await history.close()
  })

  it('of one client are nobody else’s, and no id makes a file elsewhere', async () => {
    await using gateway = testGateway(undefined, {
      client: counting,
      token: 'owner-of-everything',
      clients: { claude: { token: 'claude-has-this-one' } },
    })
    const owner = { authorization: 'Bearer owner-of-everything' }
    const claude = { authorization: 'Bearer claude-has-this-one' }
    const { conversation } = await endOf(gateway.post('/api/chat', { message: 'hello' }, { headers: claude }))
    const path = `/api/conversations/${encodeURIComponent(conversation)}`
    expect((await gateway.get(path, owner)).status).toBe(404)
    expect((await gateway.get(path, claude)).status).toBe(200)
    const odd = await endOf(
      gateway.post('/api/chat', { message: 'x', conversation: '../../evil' }, { headers: owner }),
    )
    expect(odd.conversation).toMatch(/^[0-9a-f-]{36}$/)
    const chosen = await gateway.post('/api/chat', { message: 'x', model: 'offline' }, { headers: claude })
    expect(chosen.status).toBe(403)
  })
})

describe('servers over HTTP', { timeout: 60_000 }, () => {
  it('are tried, added to the configuration, stopped and started', async () => {
    const file = join(folder, 'toolpost.json')
    writeFileSync(file, '{ "mcpServers": {}, "history": false }')
    const project = await openProject({ file, logger: () => silentLogger, say: () => {} })
    const gateway = createGateway({ token: false, project })
    const send = async (path: string, body?: object) =>
      gateway.fetch(
        new Request(`http://localhost${path}`, { method: 'POST', body: JSON.stringify(body ?? {}) }),
      )
    const statusOf = async () =>
      (await dataOf(gateway.fetch(new Request('http://localhost/api/servers')))).servers[0]
    writeFileSync(join(folder, '.mcp.json'), '{ "mcpServers": { "notes": { "command": "notes-server" } } }')
    try {
      const found = await dataOf(gateway.fetch(new Request('http://localhost/api/servers/found')))
      const notes = { program: expect.any(String), name: 'notes', entry: { command: 'notes-server' } }
      expect(found.servers).toContainEqual(notes)
      const broken = await send('/api/servers', { name: 'broken', entry: { command: 'no-such-program' } })
      expect(broken.status).toBe(422)
      expect(await broken.json()).toMatchObject({ error: expect.stringMatching(/command not found/) })
      expect(readFileSync(file, 'utf8')).not.toContain('broken')
      const { command, args } = hostileServer()
      const entry = { command, args: [...(args ?? []), '--api-key', 'abc'] }
      const added = await send('/api/servers', { name: 'odd', entry })
      expect(added.status).toBe(201)
      expect(await added.json()).toMatchObject({ file, tools: expect.arrayContaining(['odd__echo']) })
      expect(JSON.parse(readFileSync(file, 'utf8')).mcpServers.odd).toEqual(entry)
      expect(readdirSync(folder).filter(name => name.startsWith('.toolpost-try'))).toEqual([])
      expect((await send('/api/servers', { name: 'odd', entry })).status).toBe(409)
      await project.ready()
      const ready = await statusOf()
      expect(ready).toMatchObject({ state: 'ready', readySince: expect.any(Number) })
      expect(ready.target).toContain('--api-key [removed]')
      expect(ready.target).not.toContain('abc')
      await send('/api/servers/odd/stop')
      expect(await statusOf()).toMatchObject({ state: 'closed', error: 'it was stopped' })
      await send('/api/servers/odd/start')
      expect(await statusOf()).toMatchObject({ state: 'ready' })
    } finally {
      await gateway.close({ drainMs: 0 })
      await project.close()
    }
  })

  it('are added, stopped and started by the owner alone', async () => {
    await using gateway = testGateway(undefined, {
      token: 'owner-of-everything',
      clients: { claude: { token: 'claude-has-this-one' } },
    })
    const init = { headers: { authorization: 'Bearer claude-has-this-one' } }
    for (const path of ['/api/servers', '/api/servers/odd/stop', '/api/servers/odd/start'])
      expect((await gateway.post(path, { name: 'x', entry: { command: 'x' } }, init)).status).toBe(403)
  })
})
