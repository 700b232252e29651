import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Message {
  id?: number | string
  method: string
  params?: { name?: string; protocolVersion?: string; arguments?: Record<string, unknown>; _meta?: object }
}

interface Exchange {
  message: Message
  request: IncomingMessage
  response: ServerResponse
}

export type Behaviour = (exchange: Exchange) => void

const tools = ['act', 'look'].map(name => ({
  name,
  inputSchema: { type: 'object' },
  annotations: { readOnlyHint: name === 'look' },
}))

export function json(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** A server by hand, sound but for what it does in a call (or instead of another method). */
export async function httpByHand(onCall: Behaviour, others: Record<string, Behaviour> = {}, port = 0) {
  const seen: { method: string; url: string; headers: IncomingMessage['headers'] }[] = []
  const methods: Record<string, Behaviour> = {
    initialize: ({ message, response }) =>
      json(response, {
        jsonrpc: '2.0',
        id: message.id,
        result: {
          protocolVersion: message.params?.protocolVersion,
          capabilities: { tools: { listChanged: true } },
          serverInfo: { name: 'by hand', version: '1' },
        },
      }),
    'tools/list': ({ message, response }) =>
      json(response, { jsonrpc: '2.0', id: message.id, result: { tools } }),
    'tools/call': onCall,
    'server/discover': ({ response }) => void response.writeHead(400).end('Bad Request'),
    ...others,
  }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const message: Message = request.method === 'POST' ? JSON.parse(body) : { method: request.method ?? '' }
    seen.push({ method: message.method, url: request.url ?? '', headers: request.headers })
    const behave = methods[message.method]
    if (behave) behave({ message, request, response })
    else response.writeHead(request.method === 'POST' ? 202 : 405).end()
  })
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    seen,
    count: (method: string) => seen.filter(each => each.method === method).length,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
