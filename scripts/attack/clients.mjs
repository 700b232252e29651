// Clients of the gateway that flood it, hold it or never finish.
import { connect as connectSocket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { connect, initialize } from './mcp-client.mjs'

const numbers = length => Array.from({ length }, (_, n) => n)
const ended = (code, began, limitMs) => ({ code, lateMs: performance.now() - began - limitMs })

function socket(url, text) {
  const { hostname, port } = new URL(url)
  return new Promise(resolve => {
    const open = connectSocket(Number(port), hostname, () => {
      open.write(text.replace('$host', `${hostname}:${port}`))
      resolve(open)
    })
    open.on('error', () => resolve(open))
  })
}

const sessions = {
  name: 'clients: 1,500 initialize beside a session with work',
  codes: /^(?:success|200|503)$/,
  async run({ url }) {
    const working = await connect(url)
    const began = performance.now()
    const work = working.request('tools/call', {
      name: 'math_eval',
      arguments: { expression: 'f(n) = n < 2 ? n : f(n - 1) + f(n - 2); f(60)' },
    })
    const statuses = []
    for (let round = 0; round < 30; round++)
      statuses.push(
        ...(await Promise.all(numbers(50).map(() => initialize(url)))).map(({ status }) =>
          ended(`${status}`, performance.now(), 0),
        ),
      )
    const answer = await work
    return [ended(answer.result?.isError ? 'success' : JSON.stringify(answer), began, 31_000), ...statuses]
  },
}

const equalIds = {
  name: 'clients: 200 requests with one id in one session',
  codes: /^success$/,
  async run({ url }) {
    const client = await connect(url)
    const began = performance.now()
    const answers = await Promise.all(
      numbers(200).map(() => client.request('tools/call', { name: 'echo', arguments: { text: 'x' } }, 7)),
    )
    const isAnswered = answers.every(({ result, error }) => result || error)
    return [ended(isAnswered ? 'success' : 'some were not answered', began, 5_000)]
  },
}

const slow = {
  name: 'clients: 500 bodies that never end, 500 headers that never end',
  async run({ url }) {
    const body =
      'POST /api/tools/calm/call HTTP/1.1\r\nHost: $host\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{'
    const open = await Promise.all([
      ...numbers(500).map(() => socket(url, body)),
      ...numbers(500).map(() => socket(url, 'GET /healthz HTTP/1.1\r\nHost: $host\r\nX-a: ')),
    ])
    for (let n = 0; n < 20; n++) {
      for (const one of open) one.write('x')
      await pause(100)
    }
    for (const one of open) one.destroy()
  },
}

const large = {
  name: 'clients: 200 headers of 1 MB, bodies of 20 MB',
  async run({ url }) {
    const open = await Promise.all(
      numbers(200).map(() => socket(url, `GET / HTTP/1.1\r\nHost: $host\r\nX-a: ${'x'.repeat(1_000_000)}`)),
    )
    await Promise.allSettled(
      numbers(10).map(async () => {
        const response = await fetch(`${url}api/tools/calm/call`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: `{"a":"${'x'.repeat(20_000_000)}"}`,
        })
        await response.text()
      }),
    )
    for (const one of open) one.destroy()
  },
}

const streams = {
  name: 'clients: 10,000 event streams that nobody reads',
  async run({ url }) {
    const open = []
    for (let round = 0; round < 20; round++)
      open.push(
        ...(await Promise.all(
          numbers(500).map(() =>
            socket(url, 'GET /api/events HTTP/1.1\r\nHost: $host\r\nAccept: text/event-stream\r\n\r\n'),
          ),
        )),
      )
    for (const one of open) one.pause()
    await pause(3_000)
    for (const one of open) one.destroy()
    await pause(1_000)
  },
}

const pipelined = {
  name: 'clients: 20,000 requests in one connection',
  async run({ url }) {
    const one = await socket(
      url,
      'GET /api/openapi.json HTTP/1.1\r\nHost: $host\r\n\r\n'.repeat(1).repeat(20_000),
    )
    await pause(3_000)
    one.destroy()
  },
}

const cancelled = {
  name: 'clients: 5,000 calls that are given up',
  async run({ url }) {
    for (let round = 0; round < 50; round++) {
      const controller = new AbortController()
      const calls = numbers(100).map(() =>
        fetch(`${url}api/tools/math_eval/call`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{"expression":"1:1e9"}',
          signal: controller.signal,
        }).catch(() => {}),
      )
      await pause(5)
      controller.abort()
      await Promise.all(calls)
    }
  },
}

export const clientAttacks = [sessions, equalIds, slow, large, streams, pipelined, cancelled]
