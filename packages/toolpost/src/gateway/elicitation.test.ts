import { describe, expect, it } from 'vitest'
import { executorOf, PATIENCE, toolNamed } from '../../test/gateway.ts'
import { CLIENTS } from '../../test/mcp-clients.ts'
import { Approvals, type ApprovalsOptions, policy } from '../interceptors/index.ts'
import { type ServeOptions, serveGateway } from './serve-gateway.ts'

/** A gateway with one destructive tool, and how often that ran. */
async function serveDelete(options: ApprovalsOptions = {}, guard: Partial<ServeOptions> = { token: false }) {
  const approvals = new Approvals(options)
  const runs: unknown[] = []
  const remove = (args: unknown) => (runs.push(args) ? 'deleted' : '')
  const executor = executorOf(toolNamed('delete', remove, { destructive: true }))
  executor.use(policy(undefined, { approvals }))
  const gateway = await serveGateway({ port: 0, executor, approvals, ...guard })
  const close = () => gateway.close({ drainMs: 0 })
  return { url: gateway.url, approvals, runs, [Symbol.asyncDispose]: close }
}

/** Accepts everything, and remembers what it was asked. */
function willing() {
  const asked: string[] = []
  const person = async ({ message }: { message: string }) => {
    asked.push(message)
    return { action: 'accept', content: {} }
  }
  return { asked, person }
}

describe.each(CLIENTS)('a client of the %s that can ask its person', (_name, connect) => {
  it('runs the call once if the person accepts', async () => {
    await using gateway = await serveDelete()
    const { asked, person } = willing()
    await using client = await connect(gateway, { person })
    expect(await client.call('delete', { path: 'a' })).toMatchObject({ content: [{ text: 'deleted' }] })
    expect(asked).toEqual(['Run delete with {"path":"a"}? (the tool is marked as destructive)'])
    expect(gateway.runs).toEqual([{ path: 'a' }])
    expect(gateway.approvals.list()).toEqual([])
    await client.call('delete', { path: 'a' })
    expect(asked).toHaveLength(2)
  })
})

describe.each(CLIENTS)('a client of the %s that cannot ask its person', (_name, connect) => {
  it('reads that the call waits, and runs it by calling again once it is approved', async () => {
    await using gateway = await serveDelete({ patienceMs: { mcp: 50 } })
    await using client = await connect(gateway)
    const answer = await client.call('delete', { path: 'a' })
    expect(answer).toMatchObject({ isError: true })
    expect(answer.content[0].text).toMatch(/denied: waiting for approval \S+; call again once it is granted/)
    const [waiting] = gateway.approvals.list()
    gateway.approvals.decide(waiting?.id ?? '', 'approve')
    expect(await client.call('delete', { path: 'a' })).toMatchObject({ content: [{ text: 'deleted' }] })
    expect(gateway.runs).toHaveLength(1)
  })
})

describe.each(CLIENTS)('a named client of the %s that can ask its person', (_name, connect) => {
  const OWNER = 'owner-token-0123456789'
  const NAMED = 'named-token-0123456789'
  const serveNamed = (approves: boolean) =>
    serveDelete({ patienceMs: {} }, { token: OWNER, clients: { named: { token: NAMED, approves } } })

  it('[F56] does not approve its own call, the owner does', async () => {
    await using gateway = await serveNamed(false)
    const { asked, person } = willing()
    await using client = await connect(gateway, { token: NAMED, person })
    const answer = client.call('delete', { path: 'a' })
    await expect.poll(() => gateway.approvals.list().length, PATIENCE).toBe(1)
    const [{ id } = { id: '' }] = gateway.approvals.list()
    const decideAs = (token: string) =>
      fetch(`${gateway.url}api/approvals/${id}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body: '{"decision":"approve"}',
      })
    expect((await decideAs(NAMED)).status).toBe(403)
    expect(gateway.runs).toEqual([])
    expect((await decideAs(OWNER)).status).toBe(200)
    expect(await answer).toMatchObject({ content: [{ text: 'deleted' }] })
    expect(asked).toEqual([])
  })
})
