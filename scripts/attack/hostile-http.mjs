// An MCP server over HTTP that answers calls of its tool `victim` as the attack says.
import { createServer } from 'node:http'
import { brotliCompressSync, gzipSync } from 'node:zlib'

const MB = 1024 * 1024
const JSON_TYPE = { 'content-type': 'application/json' }
const SSE = { 'content-type': 'text/event-stream' }

function endless(response, chunk) {
  const write = () => {
    while (!response.destroyed && response.write(chunk));
  }
  response.on('drain', write)
  write()
}

let bombs
/** 500 MB of blanks around nothing, made once. */
function bomb(kind) {
  bombs ??= {}
  const text = Buffer.alloc(500 * MB, ' ')
  bombs[kind] ??= kind === 'gzip' ? gzipSync(text) : brotliCompressSync(text.subarray(0, 200 * MB))
  return bombs[kind]
}

export const HTTP_ATTACKS = {
  'an SSE line without end': response => {
    response.writeHead(200, SSE)
    response.write('data: ')
    endless(response, 'x'.repeat(65_536))
  },
  'SSE comments without end': response => {
    response.writeHead(200, SSE)
    endless(response, ': comment\n\n'.repeat(5_000))
  },
  'SSE events without end': response => {
    response.writeHead(200, SSE)
    endless(
      response,
      'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n'.repeat(500),
    )
  },
  'a body without end': response => {
    response.writeHead(200, JSON_TYPE)
    endless(response, 'x'.repeat(65_536))
  },
  'a gzip bomb': response => {
    response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' })
    response.end(bomb('gzip'))
  },
  'a brotli bomb': response => {
    response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'br' })
    response.end(bomb('br'))
  },
  'a gzip bomb as an event stream': response => {
    response.writeHead(200, { ...SSE, 'content-encoding': 'gzip' })
    response.end(bomb('gzip'))
  },
  'a body of 15 MB of {},': (response, id) => {
    response.writeHead(200, JSON_TYPE)
    response.end(
      `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[${'{},'.repeat(5_000_000)}{}]}}`,
    )
  },
  'headers that never end': response => {
    response.socket.write('HTTP/1.1 200 OK\r\n')
    const more = setInterval(() => response.socket.write(`x-${Math.random()}: ${'y'.repeat(1_000)}\r\n`), 1)
    response.socket.on('close', () => clearInterval(more)).on('error', () => clearInterval(more))
  },
  'an error page of 100 MB': response => {
    response.writeHead(500, { 'content-type': 'text/html' })
    endless(response, '<b>'.repeat(20_000))
  },
}

export async function serveHostile(attack) {
  if (/bomb/.test(attack)) bomb(/brotli/.test(attack) ? 'br' : 'gzip')
  const server = createServer(async (request, response) => {
    response.on('error', () => {})
    if (request.method !== 'POST') return response.writeHead(405).end()
    let body = ''
    for await (const chunk of request) body += chunk
    const { id, method } = JSON.parse(body)
    const result = resultOf(method)
    if (id === undefined) return response.writeHead(202).end()
    if (method === 'tools/call') return HTTP_ATTACKS[attack](response, id)
    response.writeHead(200, JSON_TYPE)
    response.end(
      JSON.stringify(
        result
          ? { jsonrpc: '2.0', id, result }
          : { jsonrpc: '2.0', id, error: { code: -32601, message: 'unknown method' } },
      ),
    )
  })
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${server.address().port}/mcp`, close }
}

function resultOf(method) {
  if (method === 'initialize')
    return {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'hostile', version: '1' },
    }
  if (method === 'tools/list')
    return { tools: [{ name: 'victim', description: 'Attacked', inputSchema: { type: 'object' } }] }
}
