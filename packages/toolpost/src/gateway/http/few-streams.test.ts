import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { createHttpServer } from '../serve-gateway.ts'
import { fewStreams } from './few-streams.ts'

/** A server that leaves event streams open, and counts what reached it. */
async function streaming(max: number) {
  const begun: string[] = []
  const server = createHttpServer()
  const listener = fewStreams((request, response) => {
    begun.push(request.url ?? '')
    response.writeHead(200).write('x')
    if (request.url !== '/api/events') response.end()
  }, max)
  server.on('request', listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const ask = async (path: string): Promise<[Socket, string]> => {
    const socket = connect(port, '127.0.0.1')
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
    const [data] = await once(socket, 'data')
    return [socket, `${data}`.split('\r\n')[0] ?? '']
  }
  return { ask, begun }
}

it('[F71] event streams over the limit are refused before anything is done for them, until one ends', async () => {
  const { ask, begun } = await streaming(2)
  const [first] = await ask('/api/events')
  await ask('/api/events')
  expect((await ask('/api/events'))[1]).toBe('HTTP/1.1 503 Service Unavailable')
  expect((await ask('/healthz'))[1]).toBe('HTTP/1.1 200 OK')
  expect(begun).toEqual(['/api/events', '/api/events', '/healthz'])
  first.destroy()
  // Until the server has noticed that the first one is gone, more are refused.
  let status = ''
  while (status !== 'HTTP/1.1 200 OK') status = (await ask('/api/events'))[1]
  expect(begun).toHaveLength(4)
})
