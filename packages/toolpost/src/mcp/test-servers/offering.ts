import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { HttpServerEntry, StdioServerEntry } from '../server-entry.ts'
// @ts-expect-error: plain JavaScript, because it also runs on its own
import { offering } from './offering.mjs'

export interface OfferingOptions {
  name?: string
  /** `modern`: only the newest protocol. */
  protocol?: 'legacy' | 'modern'
  instructions?: string
  resources?: unknown[]
  templates?: unknown[]
  prompts?: unknown[]
  tools?: unknown[]
  /** Generates this many entries of a kind. */
  generate?: Record<string, number>
  /** The list that never ends. */
  endless?: string
  /** A file: subscriptions are refused as long as it exists. */
  refusesWhile?: string
}

/** The server over stdio, as an entry of the configuration. */
export function offeringServer(options: OfferingOptions = {}): StdioServerEntry {
  const file = fileURLToPath(new URL('./offering.mjs', import.meta.url))
  return { command: process.execPath, args: [file, JSON.stringify(options)] }
}

/** The same over HTTP, with the newest protocol, each response as an event stream. */
export async function offeringHttpServer(): Promise<HttpServerEntry & AsyncDisposable> {
  const streams = new Map<unknown, (message: object) => void>()
  const { handle } = offering({ protocol: 'modern', sendTo: (id: unknown) => streams.get(id) })
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const message = request.method === 'POST' ? JSON.parse(body) : {}
    if (message.id === undefined) {
      handle(message, () => {})
      return void response.writeHead(request.method === 'POST' ? 202 : 405).end()
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    const send = (answer: { id?: unknown }) => {
      response.write(`data: ${JSON.stringify(answer)}\n\n`)
      if (answer.id === message.id) response.end()
    }
    streams.set(message.id, send)
    handle(message, send)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
