import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { createHttpServer } from '../serve-gateway.ts'
import { inTurn } from './in-turn.ts'

/** A server that blocks the event loop for `workMs` per list and records the order in which requests start. */
async function listing(workMs: number) {
  const began: string[] = []
  const server = createHttpServer()
  server.on(
    'request',
    inTurn((request, response) => {
      began.push(request.url ?? '')
      const until = performance.now() + (request.url === '/api/tools' ? workMs : 0)
      while (performance.now() < until);
      response.end('{}')
    }),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  servers.push(server)
  const { port } = server.address() as AddressInfo
  const ask = (path: string): Socket => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)
    return socket
  }
  return { began, ask }
}

const servers: ReturnType<typeof createHttpServer>[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

describe('a flood of requests that take a while', () => {
  it.each(['/healthz', '/api/tools/echo/call'])(
    '[F54] lets %s of somebody new go first, however many came before',
    async path => {
      const { began, ask } = await listing(3)
      const flood = Array.from({ length: 200 }, () => ask('/api/tools'))
      const probe = ask(path)
      await once(probe, 'data')
      expect(began.indexOf(path)).toBeLessThan(20)
      await Promise.all(flood.map(socket => socket.readableLength || once(socket, 'data')))
      expect(began).toHaveLength(201)
    },
  )

  it('costs nothing for those who hung up before their turn', async () => {
    const { began, ask } = await listing(20)
    const patient = ask('/api/tools')
    const flood = Array.from({ length: 50 }, () => ask('/api/tools'))
    await once(patient, 'data')
    const soFar = began.length
    for (const socket of flood) socket.destroy()
    const probe = ask('/api/tools')
    await once(probe, 'data')
    await turn()
    expect(began.length - soFar).toBeLessThan(10)
  })
})
