import { once } from 'node:events'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { startServers } from '../../test/hostile-server/harness.ts'
import { unharmed } from '../../test/unharmed.ts'
import type { HttpServerEntry } from './server-entry.ts'
import { type Behaviour, httpByHand, json } from './test-servers/http-by-hand.ts'

const MB = 1024 * 1024
const bomb = gzipSync(Buffer.alloc(50 * MB, ' '))

async function callOf(onCall: Behaviour, entry: Partial<HttpServerEntry> = {}) {
  await using server = await httpByHand(onCall)
  await using client = await startServers({ remote: { url: server.url, ...entry } })
  expect(client.status().state).toBe('ready')
  const result = await client.executor.run({ name: 'act' }, { timeoutMs: 15_000 })
  return { result, calls: server.count('tools/call'), client }
}

const sse = { 'content-type': 'text/event-stream' }

/** Writes for ever, as fast as it is read. */
function forEver(response: NodeJS.WritableStream, text: string): void {
  const chunk = text.repeat(Math.ceil(65_536 / text.length))
  const more = () => {
    while (response.writable) if (!response.write(chunk)) return void response.once('drain', more)
  }
  response.on('error', () => {})
  more()
}

describe('answers over HTTP without measure', () => {
  const tooLong = {
    code: 'tool_error',
    error:
      "The server's answer is over the limit of 1048576 bytes (maxLineBytes); the outcome of the call is unknown",
  }

  it.each<[string, Behaviour]>([
    ['an SSE line without end', ({ response }) => forEver(response.writeHead(200, sse), 'data and more ')],
    ['an SSE event without end', ({ response }) => forEver(response.writeHead(200, sse), 'data: xxxxxxx\n')],
    [
      'a body without end',
      ({ response }) => forEver(response.writeHead(200, { 'content-type': 'application/json' }), '[1,'),
    ],
    [
      'a compressed body',
      ({ response }) =>
        void response
          .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
          .end(bomb),
    ],
  ])('[F48] %s is a size error of that call, and memory is bounded', async (_, behave) => {
    const before = process.memoryUsage().rss
    const { result } = await unharmed(() => callOf(behave, { maxLineBytes: MB }))
    expect(result).toMatchObject(tooLong)
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * MB)
  })

  it.each(['json', 'sse', 'sse with carriage returns'])(
    '[F49] a long answer arrives whole, one of too many values does not: %s',
    async kind => {
      const answering =
        (structuredContent: object): Behaviour =>
        ({ message, response }) => {
          const answer = { jsonrpc: '2.0', id: message.id, result: { content: [], structuredContent } }
          if (kind === 'json') json(response, answer)
          else {
            const end = kind === 'sse' ? '\n' : '\r'
            const event = `: an odd "\\${end}data: ${JSON.stringify(answer)}${end}${end}: and on`
            response.writeHead(200, sse).end(event)
          }
        }
      const items = Array.from({ length: 50_000 }, (_, id) => ({ id, name: 'something of some length' }))
      const { result } = await callOf(answering({ items }))
      expect(result).toHaveProperty(['result', 'items', 49_999, 'id'], 49_999)
      const { result: refused } = await callOf(answering({ items: Array(260_000).fill(0) }))
      expect(refused).toMatchObject({
        error: expect.stringContaining("The server's answer has more than 250000 values"),
      })
    },
  )
})

describe('answers over HTTP that do not come as they should', () => {
  it.each<[string, Behaviour]>([
    ['before the answer', ({ response }) => void response.writeHead(200, sse).end(': nothing\n\n')],
    [
      'in the middle of a body',
      ({ response }) => {
        response
          .writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 })
          .write('{"json')
        setImmediate(() => response.destroy())
      },
    ],
  ])('[F01] a write whose stream is cut %s has an unknown outcome, at once', async (_, behave) => {
    const { result, calls } = await callOf(behave)
    expect(result).toMatchObject({
      code: 'unavailable',
      error: expect.stringContaining(
        'the connection was lost during the call; the outcome of the call is unknown',
      ),
    })
    expect(result.execution_time_ms).toBeLessThan(5_000)
    expect(calls).toBe(1)
  })

  it.each(['not json', '{"a":1}', '[]', '{"jsonrpc":"2.0","id":12345,"result":{}}'])(
    '[F09] %s is told in words',
    async body => {
      const { result } = await callOf(
        ({ response }) => void response.writeHead(200, { 'content-type': 'application/json' }).end(body),
      )
      expect(result).toMatchObject({
        code: 'tool_error',
        error: expect.stringMatching(/^Malformed MCP.*; the outcome of the call is unknown$/),
      })
    },
  )

  it('[F09] a result that is nested deeply arrives', async () => {
    const deep = '['.repeat(50_000) + ']'.repeat(50_000)
    const { result } = await callOf(({ message: { id }, response }) => {
      const text = `{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":{"deep":${deep}}}}`
      response.writeHead(200, { 'content-type': 'application/json' }).end(text)
    })
    expect(result.success).toBe(true)
  })

  it('[F04] the stream of a call that was given up is closed', async () => {
    let closed: Promise<unknown> | undefined
    await using server = await httpByHand(({ response }) => {
      closed = once(response.writeHead(200, sse), 'close')
      response.write(': working\n\n')
    })
    await using client = await startServers({ remote: { url: server.url } })
    expect(await client.executor.run({ name: 'act' }, { timeoutMs: 100 })).toMatchObject({ code: 'timeout' })
    await closed
  })

  it.each([
    ['requests', `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n\n`],
    ['strays', `data: ${JSON.stringify({ jsonrpc: '2.0', id: 987, result: {} })}\n\n`],
    ['notifications', `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message' })}\n\n`],
  ])('[F51] a stream of small events without end is felt by nobody else: %s', async (_, event) => {
    await using server = await httpByHand(({ response }) => forEver(response.writeHead(200, sse), event))
    await using client = await startServers({ remote: { url: server.url } })
    const warnings: Error[] = []
    const warn = (warning: Error) => void warnings.push(warning)
    process.on('warning', warn)
    const attack = () => client.executor.run({ name: 'act' }, { timeoutMs: 500 })
    const result = await unharmed(attack, client)
    expect(result).toMatchObject({ success: false })
    process.off('warning', warn)
    expect(warnings).toEqual([])
    expect(client.status().state).toBe('ready')
  })
})
