import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ADDRESS, echoTool, testGateway } from '../../test/gateway.ts'
import { ToolExecutor } from '../executor/executor.ts'
import { fakeClock } from '../testing/index.ts'
import { defineTool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { serveGateway } from './serve-gateway.ts'

const echoing = () => {
  const tools = new ToolManager()
  tools.addCustomTool(echoTool)
  return tools
}

/** A body that is sent when told to, and the request with it. */
function slowRequest(path: string, text: string, headers: Record<string, string> = {}) {
  let send = () => {}
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      send = () => {
        controller.enqueue(new TextEncoder().encode(text))
        controller.close()
      }
    },
  })
  const init = { method: 'POST', body, headers, duplex: 'half' } as RequestInit
  return { request: new Request(ADDRESS + path, init), send }
}

describe('a call whose body takes long to arrive', () => {
  it('[F72] is answered with a timeout at its deadline, while the body is still being read', async () => {
    const executor = new ToolExecutor(echoing())
    const served = await serveGateway({ token: false, executor, port: 0 })
    onTestFinished(() => served.close({ drainMs: 0 }))
    const socket = connect(served.port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    const head = `POST /api/tools/echo/call HTTP/1.1\r\nHost: 127.0.0.1:${served.port}\r\nContent-Type: application/json`
    socket.write(`${head}\r\nX-Timeout-Ms: 50\r\nContent-Length: 100000\r\n\r\n{"a":`)
    const [data] = await once(socket, 'data')
    const { code, execution_time_ms: tookMs } = JSON.parse(`${data}`.split('\r\n\r\n')[1] ?? '')
    expect(code).toBe('timeout')
    expect(tookMs).toBeGreaterThanOrEqual(50)
    expect(executor.metrics.snapshot()).toMatchObject({ inFlight: 0 })
  })

  it.each([
    ['over HTTP', '/api/tools/echo/call', '{"a":1}', {}],
    [
      'over MCP',
      '/mcp',
      JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'echo', arguments: {} },
      }),
      { accept: 'application/json, text/event-stream' },
    ],
  ])('[F72] has the time that is left, and says how long it took: %s', async (_, path, text, headers) => {
    const clock = fakeClock()
    const executor = new ToolExecutor(echoing(), { clock, timeoutMs: 1_000 })
    await using gateway = testGateway([], { executor })
    const times: (number | undefined)[] = []
    executor.observe(({ result }) => result && times.push(result.execution_time_ms))
    for (const waitMs of [300, 1_000]) {
      const { request, send } = slowRequest(path, text, { 'content-type': 'application/json', ...headers })
      const response = gateway.fetch(request)
      await clock.advance(waitMs)
      send()
      const answer = await (await response).text()
      expect(answer.includes('timed out')).toBe(waitMs === 1_000)
    }
    expect(times).toEqual([300, 1_000])
  })
})

describe('expensive bodies that arrive together', () => {
  it('[F72] are refused while one is being parsed, and accepted afterwards', async () => {
    const counting = defineTool({
      name: 'count',
      description: 'Counts',
      schema: { type: 'object' },
      handler: ({ list }) => (list as unknown[]).length,
    })
    await using gateway = testGateway([counting])
    const list = Array.from({ length: 310_000 }, () => 100)
    const params = { name: 'count', arguments: { list } }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const post = async () =>
      (await gateway.fetch(new Request(`${ADDRESS}/mcp`, { method: 'POST', body, headers }))).status
    expect((await Promise.all([post(), post(), post()])).sort()).toEqual([200, 503, 503])
    expect(await post()).toBe(200)
  })
})
