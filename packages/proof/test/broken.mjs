// A driver that is wrong on purpose: BREAK names how. A naive MCP client over stdio, or Toolpost's driver with one fault.
import { spawn } from 'node:child_process'
import * as toolpost from '../drivers/toolpost.mjs'

const how = process.env.BREAK ?? 'naive'
const isNaive = how.startsWith('naive')
const RECONNECTED_MS = 3_000
const features = [
  'stdio',
  'http',
  'servers',
  'timeout',
  'connectTimeout',
  'cancel',
  'progress',
  'validate',
  'repair',
]
export const supports = [...features, 'reconnect', 'listChanged', 'images']

const pause = ms => new Promise(resolve => setTimeout(resolve, ms))
const never = () => new Promise(() => {})
function block(ms) {
  for (const until = Date.now() + ms; Date.now() < until; );
}

/** No limits, no deadlines, no signal, no validation; answers are taken in the order in which they come. */
class NaiveClient {
  waiting = []
  rest = ''

  constructor({ command, args, env }) {
    this.child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'pipe'] })
    const decoder = new TextDecoder('utf-8', { fatal: how === 'naive-utf8' })
    this.child.stdout.on('data', data => this.read(decoder.decode(data, { stream: true })))
  }

  read(text) {
    const lines = (this.rest + text).split('\n')
    this.rest = lines.pop()
    for (const line of lines) this.take(JSON.parse(line))
  }

  take(message) {
    if (message.method === 'notifications/tools/list_changed') void this.request('tools/list', {})
    else if (message.method !== undefined) block(0.1)
    else this.waiting.shift()(message)
  }

  request(method, params) {
    const answer = new Promise(resolve => this.waiting.push(resolve))
    this.send({ id: String(Math.random()), method, params })
    return answer
  }

  send(message) {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }

  async connect() {
    const clientInfo = { name: 'naive', version: '1.0.0' }
    await this.request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo })
    this.send({ method: 'notifications/initialized' })
    this.tools = (await this.request('tools/list', {})).result.tools
  }

  async call(name, args) {
    const { result, error } = await this.request('tools/call', { name, arguments: args })
    const [block] = result?.content ?? []
    return { ok: !error, text: block?.text ?? 'no text' }
  }
}

const clients = []
const kept = []
let queue = Promise.resolve()
const listed = []
let isCalled = false

export async function start(options) {
  if (!isNaive) await toolpost.start(options)
  else
    for (const server of Object.values(options.servers)) {
      const client = new NaiveClient(server)
      clients.push(client)
      await client.connect()
      listed.push(...client.tools)
    }
  const [last] = listed.slice(-1)
  if (how === 'naive-resolves') follow(last.inputSchema, last.inputSchema)
  if (how === 'naive-fetches') await fetch(JSON.stringify(last).match(/http:[^"]*/)[0])
  if (how === 'interval') setInterval(() => {}, 1_000)
}

/** Replaces references by what they point to, for ever if that contains them. */
function follow(schema, root) {
  for (const each of Object.values(schema ?? {}))
    if (typeof each === 'object') follow(each.$ref ? root : each, root)
}

export async function call(tool, args, options) {
  if (isNaive) return callNaively(tool, args, options)
  const { timeoutMs, signal } = options
  const real = (more = options, given = args) => toolpost.call(tool, given, more)
  if (tool === 'repeat' && !['crosses', 'forgets', 'listens', 'keeps', 'queues'].includes(how)) return real()
  switch (how) {
    case 'rounds':
      return real(options, { ...args, amount: Math.round(args.amount * 10) / 10 })
    case 'pollutes':
      Object.assign(Object.prototype, { polluted: 1 })
      return real()
    case 'recurses':
      await pause(1)
      setTimeout(function again() {
        again()
      })
      return real()
    case 'coerces':
      return real(options, { ...args, amount: Number(args.amount), urgent: Boolean(args.urgent) })
    case 'patient':
      return real({ ...options, timeoutMs: 60_000, signal: AbortSignal.timeout(60_000) })
    case 'silent-timeout': {
      const late = pause(timeoutMs ?? 60_000).then(() => ({ ok: false, text: 'timed out' }))
      return Promise.race([late, real({ ...options, timeoutMs: 60_000 })])
    }
    case 'deaf':
      return real({ ...options, signal: AbortSignal.timeout(60_000) })
    case 'abandons':
      return Promise.race([
        real({ ...options, signal: AbortSignal.timeout(60_000) }),
        new Promise(resolve =>
          signal.addEventListener('abort', () => resolve({ ok: false, text: 'stopped' })),
        ),
      ])
    case 'stops-all':
      signal.addEventListener('abort', () => toolpost.stop())
      return real()
    case 'repeats': {
      const first = await real()
      if (first.ok) return first
      await pause(RECONNECTED_MS)
      return real({ ...options, signal: AbortSignal.timeout(RECONNECTED_MS) })
    }
    case 'again':
      await real()
      return real()
    case 'terse': {
      const { ok } = await real()
      return { ok, text: 'failed' }
    }
    case 'short': {
      const { ok, text } = await real()
      return { ok: true, text: ok ? text.slice(0, 100) : 'x'.repeat(100) }
    }
    case 'blocks':
      block(6_000)
      return real()
    case 'hides':
      await real()
      return { ok: false, text: 'the result does not match the output schema' }
    case 'flat': {
      const { ok, text } = await real()
      return { ok, text: typeof text === 'string' && text.startsWith('[') ? '[image]' : text }
    }
    case 'forgets':
      if (isCalled) return { ok: false, text: 'no such session' }
      isCalled = true
      return real()
    case 'cached':
      return tool === 'change' ? real() : { ok: true, text: 'from the cache' }
    case 'crosses': {
      const answer = real()
      const before = kept.pop()
      kept.push(answer)
      return (Math.random() < 0.001 && before) || answer
    }
    case 'queues':
      queue = queue.then(() => real({ timeoutMs: options.timeoutMs, signal }))
      return queue
    case 'listens':
      signal.addEventListener('abort', () => {})
      return real()
    case 'keeps':
      kept.push(Buffer.alloc(200_000, 1))
      return real()
    default:
      return real()
  }
}

async function callNaively(tool, args, { timeoutMs }) {
  const client = clients.find(({ tools }) => tools.some(({ name }) => name === tool)) ?? clients[0]
  if (how === 'naive-static' && !listed.some(({ name }) => name === tool))
    return { ok: false, text: 'no such tool' }
  if (how === 'naive-static' && tool === 'temporary') return { ok: false, text: "missing 'key'" }
  isCalled = true
  return client.call(tool, args, timeoutMs)
}

export async function stop() {
  if (!isNaive) return how === 'lingers' ? never() : toolpost.stop()
  for (const { child } of clients) {
    child.kill(isCalled && how === 'naive-kill' ? 'SIGKILL' : 'SIGTERM')
    child.stdin.destroy()
    child.unref()
    for (const stream of child.stdio) stream.unref?.()
  }
}
