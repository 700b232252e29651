import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { commandLine } from '../../test/command.ts'
import { eventReader } from '../../test/gateway.ts'
import { otlpReceiver, type ReceivedSpan } from '../../test/otlp-receiver.ts'
import { startUp } from '../../test/up.ts'
import { fakeOllama } from '../testing/fake-ollama.ts'

const { folder, configFile, toolpost } = commandLine()
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const HEADERS = {
  traceparent: `00-${TRACE}-00f067aa0ba902b7-01`,
  tracestate: 'vendor=1',
  baggage: 'user=ada',
}
const SERVER = fileURLToPath(new URL('../mcp/test-servers/sdk-v2.mjs', import.meta.url))
const CONFIG = { mcpServers: { own: { command: process.execPath, args: [SERVER], trust: true } } }
/** As soon as they end, instead of after five seconds. */
const AT_ONCE = { OTEL_BSP_SCHEDULE_DELAY: '20' }

/** `post` sends JSON as the owner; `stop` waits for the end, and with it for the last export. */
async function up(config: object, env: Record<string, string>) {
  const running = await startUp(folder, {
    words: ['--config', configFile(config)],
    env: { ...AT_ONCE, ...env },
  })
  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    running.ask(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    })
  return { ...running, post, stop: () => running[Symbol.asyncDispose]() }
}

type Running = Awaited<ReturnType<typeof up>>

/** What the server of the tool `meta` found in `_meta`. */
async function metaOf(running: Running, headers: Record<string, string>): Promise<Record<string, string>> {
  await expect
    .poll(async () => (await running.ask('api/tools')).text(), { timeout: 20_000 })
    .toContain('"meta"')
  const answer = (await (await running.post('api/tools/meta/call', {}, headers)).json()) as {
    result: string
  }
  const { progressToken: _, ...meta } = JSON.parse(answer.result)
  return meta
}

function byName(spans: ReceivedSpan[], name: string): ReceivedSpan {
  const found = spans.find(span => span.name === name)
  if (!found) throw new Error(`no span '${name}' among ${spans.map(span => span.name).join(', ')}`)
  return found
}

describe('toolpost up with a collector', () => {
  it('is one trace from the header of a request to _meta of the MCP server, with the metric beside it', async () => {
    await using collector = await otlpReceiver()
    const running = await up(
      { ...CONFIG, model: 'offline', trace: { arguments: true, results: true } },
      { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
    )
    expect(running.out()).toContain(`✔ traces     sent to ${collector.url} (OTLP/HTTP)`)
    const meta = await metaOf(running, HEADERS)
    await running.stop()
    const span = byName(collector.spans(), 'execute_tool meta')
    expect(meta).toMatchObject({ ...HEADERS, traceparent: `00-${TRACE}-${span.spanId}-01` })
    expect(span).toMatchObject({ traceId: TRACE, parentSpanId: '00f067aa0ba902b7', kind: 1 })
    expect(span.attributes).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'meta',
      'gen_ai.tool.type': 'extension',
      'gen_ai.tool.call.arguments': '{}',
      'gen_ai.tool.call.result': expect.stringContaining(TRACE),
      'mcp.method.name': 'tools/call',
      'mcp.protocol.version': '2025-11-25',
      'network.transport': 'pipe',
      'jsonrpc.request.id': expect.stringMatching(/^\d+$/),
    })
    expect(collector.metrics()).toMatchObject([{ name: 'gen_ai.execute_tool.duration', unit: 's' }])
    expect(collector.resource()).toMatchObject({ 'service.name': 'toolpost' })
  })

  it('has the answer of a model, its turns and its calls in the trace of the question', async () => {
    await using collector = await otlpReceiver()
    await using ollama = await fakeOllama({
      replies: [{ calls: [{ name: 'meta' }] }, { text: 'That is what it was.' }],
    })
    const running = await up(
      { ...CONFIG, model: 'ollama:qwen3:0.6b' },
      { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OLLAMA_BASE_URL: ollama.url, OTEL_SERVICE_NAME: 'home' },
    )
    const answer = await running.post('api/chat', { message: 'what is the meta' }, HEADERS)
    const events = await eventReader(answer).all()
    await running.stop()
    expect(events.at(-1)?.data).toMatchObject({ text: 'That is what it was.' })
    const spans = collector.spans()
    const agent = byName(spans, 'invoke_agent')
    const call = byName(spans, 'execute_tool meta')
    const turns = spans.filter(span => span.name === 'chat qwen3:0.6b')
    expect(new Set(spans.map(span => span.traceId))).toEqual(new Set([TRACE]))
    expect(agent).toMatchObject({ parentSpanId: '00f067aa0ba902b7', kind: 1 })
    expect([...turns, call].map(span => span.parentSpanId)).toEqual(Array(3).fill(agent.spanId))
    expect(turns.map(span => span.kind)).toEqual([3, 3])
    const identity = { 'gen_ai.provider.name': 'ollama', 'gen_ai.request.model': 'qwen3:0.6b' }
    expect(turns[0]?.attributes).toMatchObject({
      ...identity,
      'gen_ai.operation.name': 'chat',
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 5,
    })
    expect(agent.attributes).toMatchObject({
      ...identity,
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.usage.input_tokens': 20,
      'gen_ai.usage.output_tokens': 10,
    })
    expect(JSON.stringify(spans)).not.toContain('what is the meta')
    expect(collector.resource()).toMatchObject({ 'service.name': 'home' })
  })
})

describe('without a collector in the environment', () => {
  it('the trace of a request reaches the MCP server all the same; a malformed one does not', async () => {
    await using running = await up({ ...CONFIG, model: 'offline' }, {})
    expect(await metaOf(running, HEADERS)).toEqual(HEADERS)
    expect(await metaOf(running, { ...HEADERS, traceparent: 'nonsense' })).toEqual({ baggage: 'user=ada' })
  })
})

describe('a collector that', () => {
  it('fails is logged, without flooding the log', async () => {
    await using collector = await otlpReceiver('fails')
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, TOOLPOST_LOG: 'warn' }
    const running = await up({ ...CONFIG, model: 'offline' }, env)
    await metaOf(running, HEADERS)
    await expect.poll(() => running.err(), { timeout: 20_000 }).toContain('OpenTelemetry problem')
    for (let count = 2; count < 5; count++) {
      await metaOf(running, HEADERS)
      await expect.poll(() => collector.requests, { timeout: 20_000 }).toBeGreaterThanOrEqual(count)
    }
    await running.stop()
    expect(running.err().match(/OpenTelemetry problem(?!s)/g)).toHaveLength(1)
  })
})

describe('toolpost call', () => {
  it('exports too', async () => {
    await using collector = await otlpReceiver()
    const env = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces` }
    const file = configFile({ model: 'offline' })
    expect(await toolpost(['call', 'echo', 'x=1', '--config', file], { env })).toMatchObject({ code: 0 })
    expect(collector.spans().map(({ name }) => name)).toEqual(['execute_tool echo'])
    expect(collector.metrics()).toEqual([])
  })

  it('says what is wrong with an address, without its password, and goes on', async () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'me:s3cret-password@collector' }
    const file = configFile({ model: 'offline' })
    const { code, out, err } = await toolpost(['call', 'echo', 'x=1', '--config', file], { env })
    expect({ code, out }).toEqual({ code: 0, out: '{"echo":{"x":"1"}}\n' })
    expect(err).toMatch(
      /^Traces are not exported: .* is not a valid URL; expected http:\/\/ or https:\/\/\n$/,
    )
    expect(err).not.toContain('s3cret')
  })
})
