import { afterAll, describe, expect, it } from 'vitest'
import { dataOf, testGateway, toolNamed } from '../../test/gateway.ts'
import { BigResults } from '../interceptors/long-results.ts'
import { fakeClock } from '../testing/index.ts'

const rows = Array.from({ length: 2_000 }, (_, id) => ({ id, name: `row ${id}` }))
const CLIENT_TOKENS = { ann: 'ann-has-a-long-token', bob: 'bob-has-a-long-token' }
const clients = {
  ann: { token: CLIENT_TOKENS.ann },
  bob: { token: CLIENT_TOKENS.bob },
}
const as = (name: keyof typeof CLIENT_TOKENS) => ({ authorization: `Bearer ${CLIENT_TOKENS[name]}` })

describe('a long result over HTTP', () => {
  const clock = fakeClock()
  const bigResults = new BigResults({ maxTextBytes: 10_000, clock })
  const gateway = testGateway([toolNamed('rows', () => ({ rows }), { readOnly: true })], {
    bigResults,
    clients,
  })
  afterAll(() => gateway.close({ drainMs: 0 }))
  const idOf = (handle: string) => handle.slice('result://'.length)
  const call = (name: string, client: 'ann' | 'bob' = 'ann') =>
    dataOf(gateway.post(`/api/tools/${name}/call`, {}, { headers: as(client) }))

  it('is whole, and has a handle that its caller and the owner can read it by', async () => {
    const { result, handle } = await call('rows')
    expect(result).toEqual({ rows })
    for (const headers of [as('ann'), {}]) {
      const response = await gateway.get(`/api/results/${idOf(handle)}`, headers)
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(await response.json()).toEqual({ rows })
    }
    const { calls } = await dataOf(gateway.get('/api/calls', as('ann')))
    expect(calls.at(-1).result).toMatchObject({ success: true, handle })
  })

  it('of somebody else, or of nobody, is not found', async () => {
    const { handle } = await call('rows')
    const foreign = await gateway.get(`/api/results/${idOf(handle)}`, as('bob'))
    expect(foreign.status).toBe(404)
    expect(await foreign.json()).toEqual({
      error: `The result ${handle} belongs to another caller or conversation.`,
    })
    const unknown = await gateway.get('/api/results/made-up', as('ann'))
    expect(unknown.status).toBe(404)
    expect(await dataOf(unknown)).toEqual({
      error: 'There is no result result://made-up; handles begin with result://.',
    })
  })
})
