import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { echoTool, eventReader, executorOf, patientTool } from '../../test/gateway.ts'
import { DEFAULT_PORT } from '../project/config.ts'
import type { Tool } from '../tools/tool.ts'
import { createGateway } from './gateway.ts'
import { type ServeOptions, serveGateway } from './serve-gateway.ts'

async function serve(options: Partial<ServeOptions> = {}, ...tools: Tool[]) {
  const served = await serveGateway({ token: false, port: 0, executor: executorOf(...tools), ...options })
  return { ...served, [Symbol.asyncDispose]: () => served.close({ drainMs: 0 }) }
}

async function occupy(port: number): Promise<Server & AsyncDisposable> {
  const server = createServer().listen(port, '127.0.0.1')
  await once(server, 'listening')
  const dispose = () => new Promise<void>(done => server.close(() => done()))
  return Object.assign(server, { [Symbol.asyncDispose]: dispose })
}

const call = (url: string, tool: string, init: RequestInit = {}) =>
  fetch(`${url}api/tools/${tool}/call`, { method: 'POST', body: '{}', ...init })

describe('listening', () => {
  it('takes the next free port if the usual one is taken, and says so', async () => {
    const squatter = await occupy(DEFAULT_PORT).catch(() => undefined)
    await using served = await serve({ port: undefined }, echoTool)
    expect(served.port).toBeGreaterThan(DEFAULT_PORT)
    expect(served.takenPort).toBe(DEFAULT_PORT)
    await squatter?.[Symbol.asyncDispose]()
  })

  it('refuses a port that was asked for and is taken', async () => {
    await using squatter = await occupy(0)
    const { port } = squatter.address() as AddressInfo
    await expect(serve({ port })).rejects.toThrow(`127.0.0.1:${port}: the address is already in use`)
  })

  it.each([
    ['a port out of range', { port: 70_000 }, 'from 0 to 65535'],
    ['a token that is too short', { token: 'fifteen-letters' }, 'at least 16 characters'],
    ['a token that no header takes', { token: 'with a blank and ümlaut' }, 'ASCII'],
    ['another host without a token', { host: '0.0.0.0' }, 'set a token'],
    ['a foreign address', { host: '203.0.113.1', token: 'a-token-of-a-test' }, 'does not have'],
  ])('refuses %s', async (_what, options, message) => {
    await expect(serve(options)).rejects.toThrow(message)
  })
})

describe('a caller that goes away', () => {
  it('[F06] over a real connection cancels its call', async () => {
    const { tool, begun, aborted } = patientTool()
    await using served = await serve({}, tool)
    const gone = new AbortController()
    const answer = call(served.url, 'patient', { signal: gone.signal })
    await begun
    gone.abort()
    await expect(answer).rejects.toThrow()
    await aborted
  })
})

describe('a client that does not read', () => {
  it('loses its connection, and its neighbour hears everything', async () => {
    await using served = await serve({}, echoTool)
    const deaf = connect(served.port, '127.0.0.1')
    const isCut = new Promise(resolve => deaf.once('close', resolve))
    deaf.on('error', () => {})
    deaf.write(`GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:${served.port}\r\n\r\n`)
    await new Promise(resolve => deaf.once('readable', resolve))
    const neighbour = eventReader(await fetch(`${served.url}api/events`))
    const body = JSON.stringify({ text: 'x'.repeat(12_000) })
    const clients = async () =>
      (await (await fetch(`${served.url}metrics`)).text()).match(/event_clients (\d+)/)?.[1]
    // As much as the kernel takes for it, and then what may wait for it here.
    for (let calls = 0; calls < 2_000 && (await clients()) === '2'; calls++) {
      await call(served.url, 'echo', { body })
      await neighbour.until(({ data }) => data.result)
    }
    expect(await clients()).toBe('1')
    deaf.resume()
    await isCut
    await neighbour.cancel()
  })
})

describe('closing', () => {
  it('[F40] waits for calls under way, and takes no new ones', async () => {
    const { tool, begun, finish } = patientTool()
    await using served = await serve({}, tool, echoTool)
    const answer = call(served.url, 'patient')
    const events = eventReader(await fetch(`${served.url}api/events`))
    await begun
    const closed = served.close()
    expect((await call(served.url, 'echo')).status).toBe(503)
    const [health, ready] = [await fetch(`${served.url}healthz`), await fetch(`${served.url}readyz`)]
    expect([health.status, ready.status]).toEqual([200, 503])
    finish('in time')
    expect(await (await answer).json()).toMatchObject({ success: true, result: 'in time' })
    await closed
    expect((await events.all()).at(-1)).toMatchObject({
      type: 'call',
      data: { result: { result: 'in time' } },
    })
  })

  it('[F40] refuses a call whose body was still on its way', async () => {
    const gateway = createGateway({ token: false, executor: executorOf(echoTool) })
    const body = new ReadableStream({
      pull: async controller => {
        await gateway.close()
        controller.enqueue(new TextEncoder().encode('{}'))
        controller.close()
      },
    })
    const init = { method: 'POST', body, duplex: 'half' } as RequestInit
    const response = await gateway.fetch(new Request('http://127.0.0.1/api/tools/echo/call', init))
    expect(response.status).toBe(503)
  })
})
