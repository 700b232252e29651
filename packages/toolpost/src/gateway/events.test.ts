import { describe, expect, it } from 'vitest'
import {
  dataOf,
  echoTool,
  eventReader,
  patientTool,
  type TestGateway,
  testGateway,
} from '../../test/gateway.ts'
import { startHostile } from '../../test/hostile-server/harness.ts'
import type { ServerStatus } from '../mcp/server-status.ts'

const watch = async (gateway: TestGateway, headers: Record<string, string> = {}) =>
  eventReader(await gateway.get('/api/events', headers))

describe('GET /api/events', () => {
  it('tells of tools that come, and of servers that die and come back', async () => {
    await using hostile = await startHostile()
    await using gateway = testGateway([], { executor: hostile.executor, mcp: hostile.mcp })
    const events = await watch(gateway)
    expect(await events.next()).toMatchObject({ type: 'servers', data: { servers: [{ state: 'ready' }] } })
    const { pid } = hostile.status()
    hostile.tools.addCustomTool({ ...echoTool, name: 'another' })
    await events.until(({ type }) => type === 'tools')
    await gateway.post('/api/tools/die/call', {})
    const isBack = ([server]: ServerStatus[]) => server?.state === 'ready' && server.pid !== pid
    await events.until(({ type, data }) => type === 'servers' && isBack(data.servers))
  })

  it('begins with the state of now, running calls included, and tells of calls as they begin and end', async () => {
    const { tool, begun, finish } = patientTool()
    await using gateway = testGateway([tool, echoTool])
    const call = gateway.post('/api/tools/patient/call', {})
    await begun
    const events = await watch(gateway)
    for (const type of ['servers', 'approvals', 'questions', 'call'])
      expect((await events.next())?.type).toBe(type)
    finish('done')
    await call
    expect(await events.next()).toMatchObject({ type: 'call', data: { tool: 'patient', result: {} } })
    await gateway.post('/api/tools/echo/call', { n: 1 })
    const { data } = (await events.next()) ?? {}
    expect(data).toMatchObject({ tool: 'echo', args: { n: 1 } })
    expect(data).not.toHaveProperty('result')
    expect(await events.next()).toMatchObject({ data: { serial: data.serial, result: { success: true } } })
  })

  it('secrets are in neither the list of calls nor the events', async () => {
    await using gateway = testGateway()
    const events = await watch(gateway)
    const token = `ghp_${'a1B2'.repeat(9)}`
    await gateway.post('/api/tools/echo/call', { n: 1, password: 'hunter22', note: `use ${token}` })
    const ended = await events.until(({ data }) => data.result)
    const { calls } = await dataOf(gateway.get('/api/calls'))
    for (const shown of [ended.data, calls].map(value => JSON.stringify(value))) {
      expect(shown).toContain('echo')
      expect(shown).not.toContain('hunter22')
      expect(shown).not.toContain(token)
    }
  })
})
