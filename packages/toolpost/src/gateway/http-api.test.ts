import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import parsePrometheus from 'parse-prometheus-text-format'
import { afterAll, describe, expect, it } from 'vitest'
import {
  ADDRESS,
  dataOf,
  echoTool,
  eventReader,
  patientTool,
  testGateway,
  toolNamed,
} from '../../test/gateway.ts'
import { harnessFor, startHostile } from '../../test/hostile-server/harness.ts'
import { ModelClient } from '../models/index.ts'
import { scriptedModel } from '../testing/index.ts'
import { defineTool } from '../tools/tool.ts'

const turn = defineTool({
  name: 'turn',
  description: 'Switches a light',
  schema: {
    type: 'object',
    properties: { action: { enum: ['on', 'off'] }, level: { type: 'integer' } },
    required: ['action'],
  },
  timeoutMs: 5_000,
  idempotent: true,
  handler: ({ action }: { action?: string }) => `is ${action}`,
})

describe('GET /api/tools', () => {
  it('lists the tools with their signatures, schemas and hints', async () => {
    await using gateway = testGateway([turn, echoTool])
    const { tools } = await dataOf(gateway.get('/api/tools'))
    expect(tools).toEqual([
      {
        name: 'turn',
        description: 'Switches a light',
        source: 'local',
        signature: 'turn(action: "on" | "off", level?: integer)',
        schema: turn.schema,
        idempotent: true,
        timeoutMs: 5_000,
      },
      expect.objectContaining({ name: 'echo', readOnly: true }),
    ])
  })
})

describe('a method that a path does not have', () => {
  it('is answered with 405 and those that it has', async () => {
    await using gateway = testGateway([turn])
    const allow = async (method: string, path: string) => {
      const { status, headers } = await gateway.fetch(new Request(ADDRESS + path, { method }))
      return [status, headers.get('allow')]
    }
    expect(await allow('PUT', '/api/tools')).toEqual([405, 'GET, HEAD'])
    expect(await allow('GET', '/api/tools/turn/call')).toEqual([405, 'POST'])
    expect(await allow('POST', '/')).toEqual([405, 'GET, HEAD'])
  })
})

describe('POST /api/tools/:name/call', () => {
  it('takes arguments and returns the ToolResult', async () => {
    await using gateway = testGateway([turn])
    const response = await gateway.post('/api/tools/turn/call', { action: 'on' })
    expect(response.status).toBe(200)
    expect(await dataOf(response)).toEqual({
      success: true,
      result: 'is on',
      tool_name: 'turn',
      execution_time_ms: expect.any(Number),
    })
  })

  it('answers an unknown tool with 404 and the ToolResult, with suggestions', async () => {
    await using gateway = testGateway([turn])
    const response = await gateway.post('/api/tools/turns/call', {})
    expect(response.status).toBe(404)
    expect(await dataOf(response)).toMatchObject({
      error: "Tool 'turns' not found",
      success: false,
      code: 'unknown_tool',
      diagnosis: { suggestions: ['turn'] },
    })
  })

  it.each([
    ['bad JSON', '{"a": ', 400, /not JSON/],
    ['a body over 10 MB', JSON.stringify({ a: 'x'.repeat(10_000_001) }), 413, /larger than 10000000 bytes/],
  ])('answers %s in one sentence', async (_what, body, status, message) => {
    await using gateway = testGateway()
    const response = await gateway.post('/api/tools/echo/call', body)
    expect(response.status).toBe(status)
    expect((await dataOf(response)).error).toMatch(message)
  })

  it('[F29 F28] hands hostile arguments to the executor, which refuses them', async () => {
    await using gateway = testGateway()
    const deep = `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`
    for (const body of [deep, '{"__proto__": {"isAdmin": true}}', '[1]', '"text"']) {
      const response = await gateway.post('/api/tools/echo/call', body)
      expect(response.status).toBe(200)
      expect(await dataOf(response)).toMatchObject({ success: false, code: 'invalid_arguments' })
    }
  })

  it('passes the trace in the headers on', async () => {
    await using gateway = testGateway([toolNamed('meta', (_, { meta }) => meta ?? {})])
    const parent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    const headers = { traceparent: parent, tracestate: 'vendor=1', baggage: 'user=ada' }
    const init = { headers: { ...headers, cookie: 'a=b' } }
    expect((await dataOf(gateway.post('/api/tools/meta/call', {}, init))).result).toEqual(headers)
  })

  it('holds the deadline of x-timeout-ms, and refuses an invalid one', async () => {
    const { tool, aborted } = patientTool()
    await using gateway = testGateway([tool])
    const headers = { 'x-timeout-ms': '1000' }
    const result = await dataOf(gateway.post('/api/tools/patient/call', {}, { headers }))
    expect(result).toMatchObject({ code: 'timeout', error: "Tool 'patient' timed out after 1000 ms" })
    await aborted
    for (const wrong of ['soon', '0', '-1', '1e12', '']) {
      const init = { headers: { 'x-timeout-ms': wrong } }
      expect((await gateway.post('/api/tools/patient/call', {}, init)).status).toBe(400)
    }
  })

  it('[F06] cancels the call when the caller goes away', async () => {
    const { tool, begun, aborted } = patientTool()
    await using gateway = testGateway([tool])
    const gone = new AbortController()
    const response = gateway.post('/api/tools/patient/call', {}, { signal: gone.signal })
    await begun
    gone.abort()
    await aborted
    expect(await dataOf(response)).toMatchObject({ code: 'cancelled' })
  })

  it('[F24 F32] says what JSON cannot: NaN, BigInt, cycles', async () => {
    const cycle: Record<string, unknown> = { n: Number.NaN, big: 2n ** 70n }
    cycle.self = cycle
    await using gateway = testGateway([toolNamed('odd', () => cycle)])
    const { result } = await dataOf(gateway.post('/api/tools/odd/call', {}))
    expect(result).toEqual({ n: 'NaN', big: '1180591620717411303424', self: '[circular]' })
  })
})

describe('health, metrics and the description', () => {
  it('is ready when every server has been tried, for anybody who asks', async () => {
    await using silent = harnessFor({
      silent: { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'] },
    })
    const token = 'a-token-of-a-test'
    await using starting = testGateway([], { executor: silent.executor, mcp: silent.mcp, token })
    const early = await starting.get('/readyz')
    expect([early.status, await early.json()]).toEqual([503, { status: 'starting' }])
    await using hostile = await startHostile()
    await using gateway = testGateway([], { executor: hostile.executor, mcp: hostile.mcp, token })
    const late = await gateway.get('/readyz')
    expect([late.status, await late.json()]).toEqual([200, { status: 'ready' }])
    expect((await gateway.get('/readyz', { host: 'evil.example' })).status).toBe(403)
  })

  it('counts in a form that Prometheus reads', async () => {
    await using gateway = testGateway()
    await gateway.post('/api/tools/echo/call', {})
    const response = await gateway.get('/metrics')
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/)
    type Family = { name: string; metrics: { value: string }[] }
    const families = parsePrometheus(await response.text()) as Family[]
    const figure = (name: string) => families.find(family => family.name === name)?.metrics[0]?.value
    expect(figure('toolpost_calls_total')).toBe('1')
    expect(figure('toolpost_tools')).toBe('1')
    expect(figure('toolpost_mcp_sessions')).toBe('0')
  })

  it('describes the API, and every tool as an operation with its schema', async () => {
    await using gateway = testGateway([turn])
    const api = await dataOf(gateway.get('/api/openapi.json'))
    expect(api.openapi).toBe('3.1.0')
    expect(Object.keys(api.paths)).toEqual(
      expect.arrayContaining(['/api/tools', '/api/chat', '/api/events', '/api/tools/turn/call']),
    )
    const { post } = api.paths['/api/tools/turn/call']
    expect(post.operationId).toBe('turn')
    expect(post.requestBody.content['application/json'].schema).toEqual(turn.schema)
  })
})

describe('the page', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolpost-console-'))
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>console</title>')
  writeFileSync(join(folder, 'app.js'), 'void 0')
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'assets', 'app-1a2b3c.js'), 'void 0')
  writeFileSync(join(folder, '.hidden'), 'a secret')
  afterAll(() => rmSync(folder, { recursive: true }))

  it('comes with a policy that allows no foreign and no inline script', async () => {
    await using gateway = testGateway([], { console: folder })
    const page = await gateway.get('/')
    expect(await page.text()).toContain('<title>console</title>')
    const policy = page.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'self'")
    expect(policy).toContain("script-src 'self';")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(page.headers.get('x-content-type-options')).toBe('nosniff')
    expect(page.headers.get('permissions-policy')).toContain('microphone=(self)')
    expect(page.headers.get('cache-control')).toBe('no-cache')
    const asset = await gateway.get('/assets/app-1a2b3c.js')
    expect(asset.headers.get('cache-control')).toContain('immutable')
    const script = await gateway.get('/app.js')
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  })
})

describe('the chat', () => {
  const light = { calls: [{ name: 'turn', args: { action: 'on' } }] }

  it('streams tokens and calls, and ends with the answer', async () => {
    const client = new ModelClient({ model: scriptedModel(light, { text: ['It is ', 'on.'] }) })
    const model = { name: 'scripted', why: 'a test wants it' }
    await using gateway = testGateway([turn], { client, model })
    expect(await dataOf(gateway.get('/api/model'))).toEqual({ ...model, voice: false })
    const response = await gateway.post('/api/chat', { message: 'light on' })
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
    const events = await eventReader(response).all()
    const { conversation } = events.at(-1)?.data ?? {}
    const call = { id: 'call_1', name: 'turn', args: { action: 'on' } }
    const timed = { duration_ms: expect.any(Number) }
    const end = { text: 'It is on.', stopReason: 'answer', iterations: 2, model: 'scripted' }
    expect(events.map(({ type, data }) => [type, data])).toEqual([
      ['call', { phase: 'start', ...call }],
      ['call', { phase: 'end', ...call, result: expect.objectContaining({ result: 'is on' }) }],
      ['token', { text: 'It is ' }],
      ['token', { text: 'on.' }],
      ['end', { ...end, conversation, durationMs: expect.any(Number), model_calls: [timed, timed] }],
    ])
    const { calls } = await dataOf(gateway.get('/api/calls'))
    expect(calls).toMatchObject([{ tool: 'turn', origin: 'chat' }])
    // A history in memory has no folder.
    expect(existsSync('conversations')).toBe(false)
  })

  it('keeps a large result without its large texts', async () => {
    const long = toolNamed('long', () => ({ room: 'Kitchen', text: 'x'.repeat(100_000) }))
    const client = new ModelClient({ model: scriptedModel({ calls: [{ name: 'long' }] }, 'Done') })
    await using gateway = testGateway([long], { client })
    const events = await eventReader(await gateway.post('/api/chat', { message: 'go' })).all()
    const { turns } = await dataOf(gateway.get(`/api/conversations/${events.at(-1)?.data.conversation}`))
    const { result } = turns[0].parts[0].call
    expect(result).toMatchObject({ success: true, result: { room: 'Kitchen', text: '[…]' } })
  })

  it('answers one question of a conversation at a time', async () => {
    const { tool, begun, finish } = patientTool()
    const model = scriptedModel('hello', { calls: [{ name: 'patient' }] }, 'done')
    await using gateway = testGateway([tool], { client: new ModelClient({ model }) })
    const hello = await eventReader(await gateway.post('/api/chat', { message: 'hello' })).all()
    const { conversation } = hello.at(-1)?.data ?? {}
    const waiting = await gateway.post('/api/chat', { message: 'wait', conversation })
    await begun
    expect((await gateway.post('/api/chat', { message: 'and?', conversation })).status).toBe(409)
    finish('now')
    expect((await eventReader(waiting).all()).at(-1)?.data).toMatchObject({ text: 'done' })
  })
})
