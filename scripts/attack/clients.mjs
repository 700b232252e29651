// Clients of the gateway that flood it, block it or never finish.
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
  name: 'clients: 1,500 times initialize next to a working session',
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
    return [ended(isAnswered ? 'success' : 'some got no answer', began, 5_000)]
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
  name: 'clients: 5,000 abandoned calls',
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

/** Opens `count` connections, writes `text` to each, and returns the first line of each answer. */
async function answersTo(url, count, text) {
  const open = await Promise.all(numbers(count).map(() => socket(url, text)))
  const answers = open.map(
    one =>
      new Promise(resolve => one.once('data', data => resolve(`${data}`)).once('close', () => resolve(''))),
  )
  const silence = pause(text === '' ? 1_500 : 15_000, '')
  const heads = await Promise.all(answers.map(answer => Promise.race([answer, silence])))
  for (const one of open) one.destroy()
  return heads.map(head => ({ code: head.split('\r\n')[0] || 'nothing', lateMs: 0 }))
}

const JSON_POST = 'POST /api/tools/calm/call HTTP/1.1\r\nHost: $host\r\nContent-Type: application/json\r\n'
const RPC_POST = 'POST /mcp HTTP/1.1\r\nHost: $host\r\nContent-Type: application/json\r\n'
const withLength = body => `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

const odd = [
  ['500 connections that say nothing', /^nothing$/, ''],
  [
    '200 header floods',
    /^(?:nothing|HTTP\/1.1 431 .*)$/,
    `GET / HTTP/1.1\r\nHost: $host\r\n${'a: b\r\n'.repeat(20_000)}\r\n`,
  ],
  [
    '200 upgrades to a websocket',
    /^HTTP\/1.1 [245]\d\d /,
    'GET /mcp HTTP/1.1\r\nHost: $host\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\n\r\n\x81\xff junk',
  ],
  ['200 times CONNECT', /^(?:nothing|HTTP\/1.1 4\d\d .*)$/, 'CONNECT a:1 HTTP/1.1\r\nHost: $host\r\n\r\n'],
  ['200 times TRACE', /^HTTP\/1.1 4\d\d /, 'TRACE / HTTP/1.1\r\nHost: $host\r\n\r\n'],
  ['200 times OPTIONS *', /^HTTP\/1.1 [24]\d\d /, 'OPTIONS * HTTP/1.1\r\nHost: $host\r\n\r\n'],
  ['200 times HEAD', /^HTTP\/1.1 200 /, 'HEAD /api/tools HTTP/1.1\r\nHost: $host\r\n\r\n'],
  [
    '200 times Expect: 100-continue',
    /^HTTP\/1.1 100 /,
    `${JSON_POST}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`,
  ],
  ['200 times Expect: nonsense', /^HTTP\/1.1 417 /, `${JSON_POST}Expect: x\r\nContent-Length: 2\r\n\r\n{}`],
  [
    '200 times both a length and chunks',
    /^HTTP\/1.1 400 /,
    `${JSON_POST}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  ['200 lines that are not HTTP', /^HTTP\/1.1 400 /, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  [
    '50 chunked bodies of 20 MB',
    /^(?:nothing|HTTP\/1.1 413 .*)$/,
    `${JSON_POST}Transfer-Encoding: chunked\r\n\r\n${`10000\r\n${'x'.repeat(65_536)}\r\n`.repeat(320)}0\r\n\r\n`,
  ],
  [
    '20 bodies of 100 MB',
    /^(?:nothing|HTTP\/1.1 413 .*)$/,
    `${JSON_POST}Content-Length: 100000000\r\n\r\n${'x'.repeat(4_000_000)}`,
  ],
  [
    '50 batches of 100,000',
    /^HTTP\/1.1 4\d\d /,
    RPC_POST + withLength(`[${'{"jsonrpc":"2.0","id":1,"method":"ping"},'.repeat(99_999)}{}]`),
  ],
  [
    '200 ids that are objects',
    /^HTTP\/1.1 4\d\d /,
    RPC_POST + withLength('{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}'),
  ],
].map(([name, codes, text]) => ({
  name: `clients: ${name}`,
  codes,
  run: ({ url }) => answersTo(url, Number.parseInt(name, 10), text),
}))

const initializing = {
  name: 'clients: 1,000 times initialize in parallel',
  codes: /^(?:200|503)$/,
  async run({ url }) {
    const answers = await Promise.all(numbers(1_000).map(() => initialize(url)))
    return answers.map(({ status }) => ended(`${status}`, performance.now(), 0))
  },
}

const deletedSessions = {
  name: 'clients: 200 sessions deleted during a call',
  codes: /^(?:200|404|503|answered)$/,
  async run({ url }) {
    const clients = await Promise.all(numbers(200).map(() => connect(url)))
    const expression = 'f(n) = n < 2 ? n : f(n - 1) + f(n - 2); f(60)'
    const calls = clients.map(client =>
      client.request('tools/call', { name: 'math_eval', arguments: { expression } }).then(
        () => 'answered',
        () => 'answered',
      ),
    )
    const statuses = await Promise.all(clients.map(client => client.end()))
    const codes = await Promise.all(calls.map(each => Promise.race([each, pause(15_000, 'hangs')])))
    return [...statuses, ...codes].map(code => ({ code: `${code}`, lateMs: 0 }))
  },
}

const stalledSessions = {
  name: 'clients: 500 session streams that nobody reads',
  async run({ url }) {
    const clients = await Promise.all(numbers(500).map(() => connect(url)))
    const open = await Promise.all(clients.map(client => client.stream()))
    await pause(2_000)
    await Promise.all(open.map(response => response.body.cancel()))
  },
}

const lists = {
  name: 'clients: 300 parallel lists of everything',
  codes: /^200$/,
  setUp: () => ({ tools: numbers(2_000).map(n => listedTool(n)) }),
  async run({ url }) {
    const paths = ['api/tools', 'api/openapi.json', 'metrics']
    const asked = numbers(300).map(async n => {
      const response = await fetch(url + paths[n % 3])
      await response.text()
      return { code: `${response.status}`, lateMs: 0 }
    })
    return Promise.all(asked)
  },
}

const listedTool = n => ({
  name: `tool_${n}`,
  description: 'One of many. '.repeat(20),
  parameters: { type: 'object', properties: { a: { type: 'string', description: 'x'.repeat(200) } } },
  implementation: { type: 'mock', mock_response: 'x' },
})

export const clientAttacks = [
  ...odd,
  initializing,
  deletedSessions,
  stalledSessions,
  lists,
  sessions,
  equalIds,
  slow,
  large,
  streams,
  pipelined,
  cancelled,
]
