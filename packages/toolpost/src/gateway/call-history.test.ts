import { describe, expect, it } from 'vitest'
import { dataOf, echoTool, testGateway } from '../../test/gateway.ts'
import { executorOf, failingTool, histories } from '../../test/history.ts'
import type { ToolExecutor } from '../executor/executor.ts'

const { open } = histories()

/** The same questions to a gateway with a history and to one without. */
async function gatewayOf(kind: string) {
  if (kind === 'the journal') return testGateway([echoTool, failingTool])
  const { history, executor } = await open()
  return testGateway([], { executor, history })
}

describe.each(['the history', 'the journal'])('GET /api/calls from %s', kind => {
  it('filters, newest first, and goes on after a cursor', async () => {
    await using gateway = await gatewayOf(kind)
    const { executor } = gateway
    for (let n = 0; n < 5; n++)
      await executor.run({ name: 'echo', args: { n, room: 'Kitchen' } }, { caller: n % 2 ? 'odd' : 'even' })
    await executor.run({ name: 'failing' }, { origin: 'mcp' })
    await executor.run({ name: 'nothing' })
    const ask = async (query: string) => dataOf(gateway.get(`/api/calls?${query}`))
    const numbers = async (query: string) =>
      (await ask(query)).calls.map(({ args }: { args?: { n?: number } }) => args?.n)
    expect(await numbers('tool=echo')).toEqual([4, 3, 2, 1, 0])
    expect(await numbers('caller=odd')).toEqual([3, 1])
    expect(await numbers('server=local&outcome=ok&limit=2')).toEqual([4, 3])
    expect(await numbers('q=kitch&until=1h')).toEqual([])
    expect(await numbers('q=kitch&since=1h')).toHaveLength(5)
    const failed = (await ask('outcome=failed')).calls
    expect(failed).toMatchObject([
      { tool: 'nothing', result: { code: 'unknown_tool' } },
      { tool: 'failing', origin: 'mcp', slow: false, result: { error: 'the lamp is broken' } },
    ])
    expect((await ask('outcome=tool_error')).calls).toHaveLength(1)
    const first = await ask('limit=4')
    const second = await ask(`limit=4&cursor=${first.next}`)
    const serials = [...first.calls, ...second.calls].map(({ serial }) => serial)
    expect(new Set(serials).size).toBe(7)
    expect(serials).toEqual(serials.toSorted().reverse())
    expect(second.next).toBeUndefined()
  })

  it('exports all that match', async () => {
    await using gateway = await gatewayOf(kind)
    for (const text of ['=1+1', 'plain'])
      await gateway.executor.run({ id: text, name: 'echo', args: { text } })
    await gateway.executor.run({ name: 'failing' })
    const jsonl = await gateway.get('/api/calls/export?tool=echo')
    expect(jsonl.headers.get('content-type')).toContain('jsonl')
    const lines = (await jsonl.text()).trim().split('\n')
    expect(lines.map(line => JSON.parse(line).id)).toEqual(['plain', '=1+1'])
    expect((await gateway.get('/api/calls/export?format=csv')).status).toBe(400)
    expect((await gateway.get('/api/calls/export?limit=5')).status).toBe(400)
  })
})

it('a gateway without a history has the last calls before somebody asks for them, and all from then on', async () => {
  await using gateway = testGateway()
  const run = (n: number) => gateway.executor.run({ name: 'echo', args: { n } })
  const kept = async () => {
    const lines = (await (await gateway.get('/api/calls/export')).text()).trim().split('\n')
    return lines.map(line => JSON.parse(line).args.n)
  }
  for (let n = 0; n < 5_000; n++) await run(n)
  const last = await kept()
  expect(last[0]).toBe(4_999)
  expect(last.length).toBeGreaterThanOrEqual(1_000)
  expect(last.length).toBeLessThan(5_000)
  await run(5_000)
  expect(await kept()).toEqual([5_000, ...last])
})

describe('a gateway with a history', () => {
  it('says why there are no calls while the file cannot be used', async () => {
    const { history } = await open({ file: '/dev/null/history.db' })
    const executor: ToolExecutor = executorOf([echoTool])
    history.observe(executor)
    await using gateway = testGateway([], { executor, history })
    await executor.run({ name: 'echo' })
    const answer = await gateway.get('/api/calls')
    expect([answer.status, (await dataOf(answer)).error]).toEqual([
      503,
      expect.stringContaining('history.db'),
    ])
    expect(await dataOf(gateway.get('/healthz'))).toMatchObject({
      status: 'ok',
      history: { state: 'failed' },
    })
  })
})
