import parsePrometheus from 'parse-prometheus-text-format'
import { describe, expect, it } from 'vitest'
import { dataOf, echoTool, testGateway } from '../../test/gateway.ts'
import { executorOf, failingTool, histories } from '../../test/history.ts'
import type { ToolExecutor } from '../executor/executor.ts'
import { sourceOf } from './context.ts'

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

  it('without parameters lists the last calls, oldest first, as they were in memory', async () => {
    await using gateway = await gatewayOf(kind)
    for (const n of [1, 2]) await gateway.executor.run({ name: 'echo', args: { n } })
    const { calls } = await dataOf(gateway.get('/api/calls'))
    expect(calls).toMatchObject([{ args: { n: 1 } }, { args: { n: 2 } }])
  })

  it.each([
    ['outcome=maybe', "Invalid outcome 'maybe'; expected one of ok, failed, unknown_tool,"],
    ['limit=0', "Invalid limit '0'; expected a number from 1 to 1000"],
    ['limit=ten', "Invalid limit 'ten'"],
    ['since=yesterday', "Invalid since 'yesterday'; expected 90s,"],
    ['cursor=abc', "Invalid cursor 'abc'"],
    ['q=---', "Invalid q '---'; expected 1 to 20 words"],
    ['tol=echo', "Unknown parameter 'tol'; expected one of tool,"],
  ])('answers %s with 400 and a message', async (query, error) => {
    await using gateway = await gatewayOf(kind)
    const response = await gateway.get(`/api/calls?${query}`)
    expect(response.status).toBe(400)
    expect((await dataOf(response)).error).toContain(error)
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

  it('gives one call by its serial', async () => {
    await using gateway = await gatewayOf(kind)
    await gateway.executor.run({ name: 'echo', args: { x: 1 } })
    const { calls } = await dataOf(gateway.get('/api/calls?tool=echo'))
    const path = `/api/calls/${calls[0].serial}`
    expect(await dataOf(gateway.get(path))).toMatchObject({ tool: 'echo', args: { x: 1 } })
    expect((await gateway.get(path.replace(/.$/, 'x'))).status).toBe(404)
    expect((await gateway.get(path.slice(0, -1))).status).toBe(404)
  })
})

describe('a gateway with a history', () => {
  it('reaches back over a restart', async () => {
    const before = await open()
    await before.executor.run({ name: 'echo', args: { run: 1 } })
    await before.history.close()
    const { history, executor } = await open({ file: before.file })
    await using gateway = testGateway([], { executor, history })
    await executor.run({ name: 'echo', args: { run: 2 } })
    const { calls } = await dataOf(gateway.get('/api/calls?limit=5'))
    expect(calls).toMatchObject([{ args: { run: 2 } }, { args: { run: 1 } }])
    const { calls: recent } = await dataOf(gateway.get('/api/calls'))
    expect(recent).toMatchObject([{ serial: calls[0].serial }])
    expect(await dataOf(gateway.get(`/api/calls/${calls[1].serial}`))).toMatchObject({
      args: { run: 1 },
      stages: expect.arrayContaining([expect.objectContaining({ name: 'fit' })]),
    })
  })

  it('says where the trace of a call is shown, if the configuration does', async () => {
    const { history, executor } = await open()
    executor.use((call, next) => {
      call.notes.trace_id = (call.args as { trace?: string }).trace
      return next()
    })
    const config = { trace: { url: 'http://localhost:16686/trace/{traceId}?of={traceId}' } }
    await using gateway = testGateway([], { project: { ...sourceOf({ executor, history }), config } })
    for (const trace of ['4bf92f35', 'no id" onclick="', undefined])
      await executor.run({ name: 'echo', args: { trace } })
    const urlsOf = (calls: { traceUrl?: string }[]) => calls.map(({ traceUrl }) => traceUrl)
    const expected = ['http://localhost:16686/trace/4bf92f35?of=4bf92f35', undefined, undefined]
    expect(urlsOf((await dataOf(gateway.get('/api/calls'))).calls)).toEqual(expected)
    expect(urlsOf((await dataOf(gateway.get('/api/calls?limit=5'))).calls).reverse()).toEqual(expected)
  })

  it('exports a page at a time, as fast as it is read', async () => {
    const { history, executor } = await open()
    await using gateway = testGateway([], { executor, history })
    for (let n = 0; n < 1_200; n++) await executor.run({ name: 'echo', args: { n } })
    const reader = (await gateway.get('/api/calls/export')).body?.getReader()
    const { value } = (await reader?.read()) ?? {}
    expect(new TextDecoder().decode(value).trim().split('\n')).toHaveLength(500)
    await reader?.cancel()
    const all = await (await gateway.get('/api/calls/export')).text()
    expect(all.trim().split('\n')).toHaveLength(1_200)
  })

  it('tells of it in its health and its metrics', async () => {
    const { history, executor } = await open()
    await using gateway = testGateway([], { executor, history })
    await executor.run({ name: 'echo' })
    await history.list()
    expect(await dataOf(gateway.get('/healthz'))).toMatchObject({ history: { state: 'open', dropped: 0 } })
    const text = await (await gateway.get('/metrics')).text()
    const metrics = parsePrometheus(text) as { name: string; metrics: { value: string }[] }[]
    const sampleOf = (name: string) => metrics.find(family => family.name === name)?.metrics[0]
    expect(sampleOf('toolpost_history_written_total')).toMatchObject({ value: '1' })
    expect(sampleOf('toolpost_history_dropped_total')).toMatchObject({ value: '0' })
  })

  it('answers from memory while the file cannot be used', async () => {
    const { history } = await open({ file: '/dev/null/history.db' })
    const executor: ToolExecutor = executorOf([echoTool])
    history.observe(executor)
    await using gateway = testGateway([], { executor, history })
    await executor.run({ name: 'echo' })
    expect((await dataOf(gateway.get('/api/calls?limit=1'))).calls).toHaveLength(1)
    expect(await dataOf(gateway.get('/healthz'))).toMatchObject({
      status: 'ok',
      history: { state: 'failed' },
    })
  })
})
