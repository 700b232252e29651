import { describe, expect, it, onTestFinished } from 'vitest'
import { configFolder } from '../../test/config-folder.ts'
import {
  ADDRESS,
  as,
  dataOf,
  eventReader,
  OWNER_TOKEN,
  PATIENCE,
  patientTool,
  toolNamed,
} from '../../test/gateway.ts'
import { MemoryDatabase } from '../../test/memory-durable.ts'
import { silentLogger } from '../logging/logger.ts'
import { openProject } from '../project/open-project.ts'
import { createGateway } from './gateway.ts'

const HOME = 'home-token-0123456789!?'
const CLAUDE = 'claude-token-0123456789'
const clients = { home: { token: HOME }, claude: { token: CLAUDE, tools: ['count'] } }

/** A gateway with a tool that counts its calls, and one that waits. */
async function durableGateway(config: object = { durable: true, clients }) {
  const database = new MemoryDatabase()
  const project = await openProject({
    file: `${configFolder({ 'toolpost.json': config })}/toolpost.json`,
    logger: () => silentLogger,
    say: () => {},
    durable: { create: database.create },
  })
  let count = 0
  const patient = patientTool()
  const counting = toolNamed('count', args => {
    count += (args as { by?: number }).by ?? 1
    return count
  })
  for (const tool of [counting, patient.tool]) project.tools.addCustomTool(tool)
  await project.startDurable()
  const gateway = createGateway({ token: OWNER_TOKEN, project })
  onTestFinished(async () => {
    await gateway.close({ drainMs: 0 })
    await project.close()
  })
  const ask = async (method: string, path: string, headers: Record<string, string> = {}, body?: object) => {
    const init = { method, headers: { ...as(OWNER_TOKEN), ...headers } }
    return gateway.fetch(
      new Request(ADDRESS + path, { ...init, ...(body && { body: JSON.stringify(body) }) }),
    )
  }
  const call = (name: string, headers: Record<string, string>, args: object = {}) =>
    ask('POST', `/api/tools/${name}/call`, headers, args)
  return { database, project, gateway, ask, call, patient, count: () => count }
}

describe('Idempotency-Key', () => {
  it('makes the same key and call one run, of one caller; with another call it is refused', async () => {
    const { call, count } = await durableGateway()
    const first = await dataOf(call('count', { 'idempotency-key': '"a-1"' }))
    expect(first).toMatchObject({ success: true, result: 1, run_id: expect.any(String) })
    expect(await dataOf(call('count', { 'idempotency-key': 'a-1' }))).toEqual(first)
    const other = await call('count', { 'idempotency-key': 'a-1' }, { by: 2 })
    expect(other.status).toBe(422)
    expect(await other.json()).toMatchObject({ error: "Idempotency key 'a-1' was used for another call" })
    expect(await dataOf(call('count', { 'idempotency-key': 'a-1', ...as(HOME) }))).toMatchObject({
      result: 2,
    })
    expect(count()).toBe(2)
  })
})

describe('Prefer: respond-async', () => {
  it('is answered with the run and where it is; its end comes over the events and there', async () => {
    const { ask, call, patient } = await durableGateway()
    const events = eventReader(await ask('GET', '/api/events'))
    const response = await call('patient', { prefer: 'respond-async' })
    const location = response.headers.get('location') ?? ''
    const { id } = await dataOf(response)
    expect([response.status, location]).toEqual([202, `/api/runs/${id}`])
    await patient.begun
    expect(await dataOf(ask('GET', location))).toMatchObject({ id, tool: 'patient', state: 'running' })
    patient.finish('done')
    const { data } = await events.until(({ type, data }) => type === 'run' && data.state === 'done')
    expect(data).toMatchObject({ id, result: { success: true, result: 'done', run_id: id } })
    expect(await dataOf(ask('GET', location))).toMatchObject({
      id,
      state: 'done',
      result: { result: 'done' },
    })
    await events.cancel()
  })
})

describe('/api/runs', () => {
  it('lists, filters, pages and cancels', async () => {
    const { ask, call, patient } = await durableGateway()
    const async = { prefer: 'respond-async' }
    const ids: string[] = []
    for (const name of ['count', 'count', 'patient']) ids.unshift((await dataOf(call(name, async))).id)
    await patient.begun
    const listed = async (query: string) =>
      (await dataOf(ask('GET', `/api/runs${query}`))).runs.map(({ id }: { id: string }) => id)
    await expect.poll(() => listed('?state=done'), PATIENCE).toEqual(ids.slice(1))
    expect(await listed('')).toEqual(ids)
    expect(await listed('?tool=patient&state=&before=')).toEqual([ids[0]])
    expect(await listed(`?before=${ids[0]}&limit=1`)).toEqual([ids[1]])
    const cancelled = await ask('DELETE', `/api/runs/${ids[0]}`)
    expect([cancelled.status, await cancelled.text()]).toEqual([204, ''])
    await patient.aborted
    await expect.poll(() => listed('?state=cancelled'), PATIENCE).toEqual([ids[0]])
    expect((await ask('DELETE', `/api/runs/${ids[0]}`)).status).toBe(409)
    expect((await ask('DELETE', '/api/runs/nothing')).status).toBe(404)
    for (const query of ['?state=dead', '?limit=0', '?limit=501', '?limit=x', '?foo=1'])
      expect((await ask('GET', `/api/runs${query}`)).status).toBe(400)
  })

  it("shows a named client its own runs, lists and events alike, and lets it touch no other's", async () => {
    const { ask, call } = await durableGateway()
    const events = eventReader(await ask('GET', '/api/events', as(HOME)))
    const async = { prefer: 'respond-async' }
    const { id: foreign } = await dataOf(call('count', { ...async, ...as(CLAUDE) }))
    const { id: own } = await dataOf(call('count', { ...async, ...as(HOME) }))
    const ids = async (token: string) =>
      (await dataOf(ask('GET', '/api/runs', as(token)))).runs.map(({ id }: { id: string }) => id)
    expect([await ids(HOME), await ids(CLAUDE)]).toEqual([[own], [foreign]])
    expect((await dataOf(ask('GET', '/api/runs'))).runs).toHaveLength(2)
    const { data } = await events.until(({ type }) => type === 'run')
    expect(data.id).toBe(own)
    await events.cancel()
    for (const method of ['GET', 'DELETE'])
      expect((await ask(method, `/api/runs/${foreign}`, as(HOME))).status).toBe(404)
    expect((await ask('POST', `/api/runs/${foreign}/again`, as(HOME))).status).toBe(404)
  })
})
