import { describe, expect, it } from 'vitest'
import { as, dataOf, executorOf, testGateway, toolNamed } from '../../test/gateway.ts'
import { Approvals, policy } from '../interceptors/index.ts'

const CLAUDE = 'claude-token-0123456789'
const HOME = 'home-token-0123456789!?'
const LIMITED = 'limited-token-0123456789'
const OWN = 'own-token-0123456789abc'
const clients = {
  claude: { token: CLAUDE },
  home: { token: HOME, approves: true },
  limited: { token: LIMITED, tools: ['other'], approves: true },
}

function setUp() {
  const runs: unknown[] = []
  const approvals = new Approvals()
  const executor = executorOf(toolNamed('wipe', args => runs.push(args)))
  executor.use(policy([{ then: 'ask' }], { approvals }))
  const gateway = testGateway([], { executor, approvals, clients, token: OWN })
  const wipe = (token: string) => gateway.post('/api/tools/wipe/call', { path: '/' }, { headers: as(token) })
  const waiting = async (token = OWN) => {
    await expect.poll(() => approvals.list().length).toBe(1)
    return (await dataOf(gateway.get('/api/approvals', as(token)))).approvals
  }
  const decide = (id: string, token: string, body: unknown = { decision: 'approve' }) =>
    gateway.post(`/api/approvals/${id}`, body, { headers: as(token) })
  return { gateway, executor, runs, wipe, waiting, decide, approvals }
}

describe('approvals over HTTP', () => {
  it('are listed, and decided by the console', async () => {
    const { gateway, runs, wipe, waiting, decide } = setUp()
    await using _ = gateway
    const answer = wipe(CLAUDE)
    const [approval] = await waiting()
    expect(approval).toMatchObject({ tool: 'wipe', args: { path: '/' }, origin: 'http', caller: 'claude' })
    const decided = await decide(approval.id, OWN)
    expect(await dataOf(decided)).toMatchObject({ approval: { id: approval.id, state: 'approved' } })
    expect(await (await answer).json()).toMatchObject({ success: true })
    expect(runs).toEqual([{ path: '/' }])
    expect((await decide(approval.id, OWN)).status).toBe(404)
  })

  it('[F56] are never given by whoever asks, but by another client that approves', async () => {
    const { gateway, runs, wipe, waiting, decide } = setUp()
    await using _ = gateway
    const answer = wipe(CLAUDE)
    const [{ id }] = await waiting(CLAUDE)
    const own = await decide(id, CLAUDE)
    expect(own.status).toBe(403)
    expect(await own.json()).toEqual({ error: 'This client may not decide about calls' })
    expect(runs).toEqual([])
    expect(await waiting(HOME)).toMatchObject([{ id }])
    expect((await decide(id, HOME, { decision: 'approve', remember: 'always' })).status).toBe(403)
    expect((await decide(id, HOME, { decision: 'deny' })).status).toBe(200)
    expect(await (await answer).json()).toMatchObject({ code: 'denied' })
  })

  it('[F56] are not given by a client to itself, even if it approves', async () => {
    const { gateway, runs, wipe, waiting, decide } = setUp()
    await using _ = gateway
    const answer = wipe(HOME)
    const [{ id }] = await waiting(HOME)
    const own = await decide(id, HOME)
    expect([own.status, await own.json()]).toEqual([403, { error: 'A client cannot approve its own calls' }])
    expect(runs).toEqual([])
    await decide(id, OWN, { decision: 'deny' })
    await answer
  })
})
