// Long, slow and many bodies: over HTTP, MCP and the chat.
import { connect as connectSocket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { call } from './gateway.mjs'
import { connect } from './mcp-client.mjs'
import { ready, stdio } from './servers.mjs'

const numbers = length => Array.from({ length }, (_, n) => n)
const names = count => Object.fromEntries(numbers(count).map(n => [`n${n}`, n]))
const listOf = (count, make) => ({ list: numbers(count).map(make) })
const open = {
  name: 'open',
  description: 'Attacked',
  parameters: { type: 'object' },
  implementation: { type: 'mock', mock_response: 'done' },
  timeout_ms: 1_000,
}
const TIMEOUT_MS = 1_000

/** Makes a call over MCP to a tool with a deadline; returns its code and how late it ended. */
async function mcpCall(client, name, args) {
  const began = performance.now()
  const answer = await client.request('tools/call', { name, arguments: args })
  const text = JSON.stringify(answer).slice(0, 500)
  const code = /timed out/.test(text) ? 'timeout' : answer.result && !answer.result.isError ? 'success' : text
  return { code, lateMs: performance.now() - began - TIMEOUT_MS }
}

const MCP_BODIES = {
  '30 objects of 1,900 names': listOf(30, () => names(1_900)),
  '3.5 MB in objects of 24,000 names': listOf(10, () => names(24_000)),
  '3.5 MB of numbers': listOf(500_000, n => n % 1_000),
  '3.5 MB of text': { text: 'x'.repeat(3_500_000) },
}

const mcp = Object.entries(MCP_BODIES).map(([name, args]) => ({
  name: `bodies: 8 over MCP, ${name}`,
  codes: /^(?:success|timeout|.*(?:[Tt]oo many|more than|Invalid parameters).*)$/,
  setUp: () => ({ tools: [open] }),
  async run({ url }) {
    const clients = await Promise.all(numbers(8).map(() => connect(url)))
    return Promise.all(clients.map(client => mcpCall(client, 'open', args)))
  },
}))

const API_BODIES = {
  '4 of 900 kB of names in small objects': [
    4,
    listOf(13_000, n => ({ [`a${n % 50}`]: n, b: 'text', c: [n] })),
  ],
  '8 of 700 kB of lists in lists': [8, listOf(9_000, n => [[n, [n, 'x'.repeat(40)]], n])],
  '8 of 900 kB of long texts': [8, listOf(90, () => 'y'.repeat(9_900))],
}

const api = Object.entries(API_BODIES).map(([name, [count, args]]) => ({
  name: `bodies: ${name}`,
  codes: /^(?:success|timeout|invalid_arguments|HTTP 413)$/,
  setUp: () => ({ tools: [open] }),
  run: ({ url }) => Promise.all(numbers(count).map(() => call(url, 'open', args))),
}))

/** A call whose body never ends; resolves to the code in the answer. */
function unfinished(url) {
  const { hostname, port } = new URL(url)
  const began = performance.now()
  return new Promise(resolve => {
    const socket = connectSocket(Number(port), hostname, () =>
      socket.write(
        `POST /api/tools/open/call HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: application/json\r\n` +
          `X-Timeout-Ms: ${TIMEOUT_MS}\r\nContent-Length: 900000\r\n\r\n{"a":"${'x'.repeat(10_000)}`,
      ),
    )
    const end = text => {
      const code = /"code":"(\w+)"/.exec(text)?.[1] ?? 'nothing'
      socket.destroy()
      resolve({ code, lateMs: performance.now() - began - TIMEOUT_MS })
    }
    socket.once('data', data => end(`${data}`))
    socket.once('error', () => end(''))
    setTimeout(end, 10_000, '').unref()
  })
}

const slow = {
  name: 'bodies: 100 that never end',
  codes: /^timeout$/,
  setUp: () => ({ tools: [open] }),
  run: ({ url }) => Promise.all(numbers(100).map(() => unfinished(url))),
}

const chat = {
  name: 'bodies: 8 questions of 900 kB',
  codes: /^(?:200|413)$/,
  async run({ url }) {
    const body = JSON.stringify({ message: 'x', more: listOf(25_000, n => ({ n, text: 'abc' })) })
    const asked = numbers(8).map(async () => {
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(`${url}api/chat`, { method: 'POST', headers, body })
      await response.text()
      return { code: `${response.status}`, lateMs: 0 }
    })
    return Promise.all(asked)
  },
}

/** All their deadlines pass at the same time. */
const together = {
  name: 'calls: 200 that time out together',
  codes: /^timeout$/,
  setUp: () => stdio('silence'),
  async run({ url }) {
    await ready(url, 'victim')
    return Promise.all(numbers(200).map(() => call(url, 'victim', {}, { timeoutMs: 2_500 })))
  },
}

const results = {
  name: 'calls: 30 results of 20,000 objects at once',
  setUp: () => stdio('structuredContent of 20,000 objects of 10 names'),
  async run({ url }) {
    await ready(url, 'victim')
    const calls = await Promise.all(numbers(30).map(() => call(url, 'victim', {}, { timeoutMs: 10_000 })))
    await pause(500)
    return calls
  },
}

export const bodyAttacks = [...mcp, ...api, slow, chat, together, results]
