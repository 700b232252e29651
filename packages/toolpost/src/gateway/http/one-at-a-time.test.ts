import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { MAX_PIPELINED_IN_ALL } from '../limits.ts'
import { createHttpServer } from '../serve-gateway.ts'
import { oneAtATime } from './one-at-a-time.ts'

/** Answers when it is told to; notes what was begun. */
async function listening() {
  const begun: string[] = []
  const open: ServerResponse[] = []
  let received = 0
  let isPatient = true
  const answer = (response: ServerResponse) => void response.end(begun.at(-1))
  const server = createHttpServer()
  server.on('request', () => received++)
  server.on(
    'request',
    oneAtATime((request, response) => {
      begun.push(request.url ?? '')
      open.push(response)
      if (!isPatient) answer(response)
    }),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    begun,
    received: () => received,
    connect: () => connect(port, '127.0.0.1').on('error', () => {}),
    answerAll: () => {
      isPatient = false
      for (const response of open) if (!response.writableEnded) answer(response)
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

const requests = (count: number, padding = '') =>
  Array.from({ length: count }, (_, n) => `GET /${n} HTTP/1.1\r\nHost: a${padding}\r\n\r\n`).join('')
const paths = (count: number) => Array.from({ length: count }, (_, n) => `/${n}`)

/** The bodies of the answers, until there are so many. */
async function answers(socket: Socket, count: number): Promise<string[]> {
  let text = ''
  for await (const chunk of socket) {
    text += chunk
    const bodies = [...text.matchAll(/\r\n\r\n(\/\d+)/g)].map(([, body = '']) => body)
    if (bodies.length >= count) return bodies
  }
  return []
}

describe('requests of one connection', () => {
  it('[F70] are begun and answered one after the other, however many come at once', async () => {
    await using server = await listening()
    const socket = server.connect()
    socket.write(requests(500))
    while (server.received() < 500) await new Promise(setImmediate)
    expect(server.begun).toEqual(['/0'])
    server.answerAll()
    expect(await answers(socket, 500)).toEqual(paths(500))
    expect(server.begun).toEqual(paths(500))
  })

  it('[F70] are not even read if too many wait, and all are answered in the end', async () => {
    await using server = await listening()
    const socket = server.connect()
    const count = 600
    socket.write(requests(count, `\r\nX-Padding: ${'x'.repeat(1_000)}`))
    while (server.received() === 0) await new Promise(setImmediate)
    // Another connection is served meanwhile, which takes several turns.
    for (let n = 1; n <= 20; n++) {
      const other = server.connect()
      other.write(requests(1))
      while (server.begun.length === n) await new Promise(setImmediate)
      other.destroy()
    }
    expect(server.received()).toBeLessThan(count / 2)
    server.answerAll()
    expect(await answers(socket, count)).toEqual(paths(count))
  })

  it('[F70] that are too many in all cost the connection, and no other', async () => {
    await using server = await listening()
    const first = server.connect()
    first.write(requests(1))
    while (server.begun.length === 0) await new Promise(setImmediate)
    const flooding = Array.from({ length: MAX_PIPELINED_IN_ALL / 500 }, server.connect)
    for (const socket of flooding) socket.write(requests(1_000))
    await Promise.race(flooding.map(socket => new Promise(resolve => socket.resume().on('close', resolve))))
    for (const socket of flooding) socket.destroy()
    server.answerAll()
    expect(await answers(first, 1)).toEqual(['/0'])
  })
})
