// An MCP server over HTTP that answers calls to its tool `victim` with the given attack.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'

const MB = 1024 * 1024
const JSON_TYPE = { 'content-type': 'application/json' }
const SSE = { 'content-type': 'text/event-stream' }

function endless(response, chunk) {
  const next = typeof chunk === 'function' ? chunk : () => chunk
  const write = () => {
    while (!response.destroyed && response.write(next()));
  }
  response.on('drain', write)
  write()
}

const COMPRESS = {
  gzip: () => gzipSync(Buffer.alloc(500 * MB, ' ')),
  deflate: () => deflateSync(Buffer.alloc(500 * MB, ' ')),
  br: () => brotliCompressSync(Buffer.alloc(200 * MB, ' ')),
}
const bombs = {}
/** Hundreds of MB of blanks, compressed once. */
function bomb(kind) {
  bombs[kind] ??= COMPRESS[kind]()
  return bombs[kind]
}

/** Raw bytes in place of an HTTP response. */
const raw = text => response => {
  response.socket.write(text)
}

const event = message => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`
const notice = (method, params) => event({ method: `notifications/${method}`, params })
const blocks = (id, content) => JSON.stringify({ jsonrpc: '2.0', id, result: { content } })

const ATTACKS = {
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
  'a deflate bomb': response => {
    response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'deflate' })
    response.end(bomb('deflate'))
  },
  'a bomb in a bomb': response => {
    response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip, gzip' })
    response.end(gzipSync(bomb('gzip')))
  },
  'an encoding that nobody knows': response => {
    response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'zstd' })
    response.end(Buffer.from('28b52ffd0458', 'hex'))
  },
  'a chunk of one byte each': (response, id) => {
    response.writeHead(200, JSON_TYPE)
    const text = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[],"a":"`
    response.write(text)
    const write = () => {
      for (let n = 0; n < 2_000 && !response.destroyed; n++) response.write('x')
      if (!response.destroyed) setImmediate(write)
    }
    write()
  },
  'a byte now and then': response => {
    response.writeHead(200, JSON_TYPE)
    const more = setInterval(() => response.write(' '), 20)
    response.on('close', () => clearInterval(more))
  },
  'a content-length that is too long': raw(
    'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{}',
  ),
  'a content-length that is too short': raw(
    'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{"jsonrpc":"2.0"}',
  ),
  'two content-lengths': raw(
    'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
  ),
  'HTTP/1.0 without a length': response => {
    response.socket.end('HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{"jsonrpc":"2.0",')
  },
  'no HTTP at all': response => {
    response.socket.end('SSH-2.0-OpenSSH_9.0\r\n')
  },
  '100,000 headers': response => {
    const lines = Array.from({ length: 100_000 }, (_, n) => `x-${n}: y\r\n`).join('')
    response.socket.write(`HTTP/1.1 200 OK\r\n${lines}\r\n`)
  },
  'a thousand informational answers': response => {
    for (let n = 0; n < 1_000; n++) response.socket.write('HTTP/1.1 102 Processing\r\n\r\n')
  },
  'a redirect to itself': response => {
    response.writeHead(307, { location: '/mcp' }).end()
  },
  'a redirect to another host': response => {
    response.writeHead(308, { location: 'http://127.0.0.2:9/mcp' }).end()
  },
  'retry, id and events without data, without end': response => {
    response.writeHead(200, SSE)
    endless(response, 'retry: 0\nid: x\nevent: y\n\nid\nretry: 1e9\n: z\n'.repeat(2_000))
  },
  'an id without end': response => {
    response.writeHead(200, SSE)
    response.write('id: ')
    endless(response, 'x'.repeat(65_536))
  },
  'broken streams that can be resumed': response => {
    response.writeHead(200, SSE)
    response.end(`retry: 0\nid: 1\n${notice('message', { level: 'info', data: 'x' })}`)
  },
  'progress without end': (response, _id, { _meta } = {}) => {
    response.writeHead(200, SSE)
    const { progressToken = 1 } = _meta ?? {}
    let progress = 0
    const more = () => notice('progress', { progressToken, progress: ++progress })
    endless(response, () => Array.from({ length: 200 }, more).join(''))
  },
  'log messages without end': response => {
    response.writeHead(200, SSE)
    endless(response, notice('message', { level: 'error', data: 'x'.repeat(500) }).repeat(200))
  },
  'cancelled and list_changed without end': response => {
    response.writeHead(200, SSE)
    const changed = notice('tools/list_changed')
    endless(response, (notice('cancelled', { requestId: 'nobody' }) + changed).repeat(200))
  },
  'requests of its own without end': response => {
    response.writeHead(200, SSE)
    endless(response, event({ id: 'same', method: 'ping' }).repeat(200))
  },
  'answers to other requests without end': response => {
    response.writeHead(200, SSE)
    endless(response, event({ id: 12_345, result: {} }).repeat(200))
  },
  'a million content blocks': (response, id) => {
    response.writeHead(200, JSON_TYPE)
    response.end(blocks(id, []).replace('[]', `[${'{"type":"x"},'.repeat(999_999)}{"type":"x"}]`))
  },
  'an image of 15 MB': (response, id) => {
    response.writeHead(200, JSON_TYPE)
    response.end(blocks(id, [{ type: 'image', mimeType: 'image/png', data: 'A'.repeat(15 * MB) }]))
  },
  'an image of 15 MB as an event': (response, id) => {
    response.writeHead(200, SSE)
    const content = [{ type: 'image', mimeType: 'image/png', data: 'A'.repeat(15 * MB) }]
    response.end(event({ id, result: { content } }))
  },
  'an error page of 100 MB': response => {
    response.writeHead(500, { 'content-type': 'text/html' })
    endless(response, '<b>'.repeat(20_000))
  },
}

/** Serves one attack from a forked process, so that its cost is not charged to the client. */
export async function serveHostile(attack) {
  const child = fork(fileURLToPath(import.meta.url), [attack])
  const [url] = await once(child, 'message')
  return { url, close: () => child.kill() }
}

export const HTTP_ATTACKS = Object.keys(ATTACKS)

if (process.argv[1] === fileURLToPath(import.meta.url)) await serve(process.argv[2])

async function serve(attack) {
  // In reality, it would run on another machine.
  setPriority(19)
  process.on('disconnect', () => process.exit())
  if (/bomb/.test(attack)) bomb(/brotli/.test(attack) ? 'br' : /deflate/.test(attack) ? 'deflate' : 'gzip')
  const server = createServer(async (request, response) => {
    response.on('error', () => {})
    if (request.method !== 'POST') return response.writeHead(405).end()
    let body = ''
    for await (const chunk of request) body += chunk
    const { id, method, params } = JSON.parse(body)
    const result = resultOf(method)
    if (id === undefined) return response.writeHead(202).end()
    if (method === 'tools/call') return ATTACKS[attack](response, id, params)
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
  process.send(`http://127.0.0.1:${server.address().port}/mcp`)
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
