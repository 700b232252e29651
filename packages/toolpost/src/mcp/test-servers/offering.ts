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
  capabilities?: Record<string, unknown>
  resources?: unknown[]
  templates?: unknown[]
  prompts?: unknown[]
  tools?: unknown[]
  /** Adds an entry of 600 kB. */
  bulky?: boolean
  /** Generates this many entries of a kind. */
  generate?: Record<string, number>
  /** The list that never ends. */
  endless?: string
  /** A file: subscriptions are refused as long as it exists. */
  refusesWhile?: string
  /** Whether `subscriptions/listen` is ever acknowledged. */
  acknowledges?: boolean
}

/** The server over stdio, as an entry of the configuration. */
export function offeringServer(options: OfferingOptions = {}): StdioServerEntry {
  const file = fileURLToPath(new URL('./offering.mjs', import.meta.url))
  return { command: process.execPath, args: [file, JSON.stringify(options)] }
}

/** The same over HTTP, each response as an event stream, or as JSON; with `buffers`, listen streams send nothing. */
export async function offeringHttpServer(
  options: OfferingOptions & { json?: boolean; buffers?: boolean } = {},
): Promise<HttpServerEntry & AsyncDisposable> {
  const streams = new Map<unknown, (message: object) => void>()
  const { handle } = offering({ protocol: 'modern', ...options, sendTo: (id: unknown) => streams.get(id) })
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const message = JSON.parse(body)
    if (message.id === undefined) {
      handle(message, () => {})
      return void response.writeHead(202).end()
    }
    const isListen = message.method === 'subscriptions/listen'
    const asJson = options.json && !isListen
    response.writeHead(200, { 'content-type': asJson ? 'application/json' : 'text/event-stream' })
    const send = (answer: { id?: unknown }) => {
      if (isListen && options.buffers) return
      if (asJson) return void (answer.id === message.id && response.end(JSON.stringify(answer)))
      response.write(`data: ${JSON.stringify(answer)}\n\n`)
      if (answer.id === message.id) response.end()
    }
    if (isListen) {
      streams.set(message.id, send)
      if (!options.buffers) response.flushHeaders()
    }
    handle(message, send)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
