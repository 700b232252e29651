/*
 * An MCP server over stdio that misbehaves on request. JSON-RPC by hand, so that it can be wrong.
 */
import { spawn } from 'node:child_process'
import { appendFileSync, closeSync, existsSync, readFileSync, writeSync } from 'node:fs'
import { changedTools, HOSTILE_TOOLS, numberedTools } from './tool-list.mjs'

const faults = JSON.parse(process.env.TOOLPOST_HOSTILE_FAULTS ?? '{}')
/** The journal survives crashes. */
function noteIn(journal, event) {
  if (journal) appendFileSync(journal, `${event}\n`)
}
function countIn(journal, event) {
  if (!journal || !existsSync(journal)) return 0
  return readFileSync(journal, 'utf8')
    .split('\n')
    .filter(line => line === event).length
}
const late = new Map()
const stuck = new Set()
let tools = [...(faults.tools ?? HOSTILE_TOOLS), ...numberedTools(faults.toolCount ?? 0)]
// Synchronous: the output has left this process before the next step, which may kill it.
function write(text, fd = 1) {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(fd, bytes, at)
    } catch (error) {
      if (error.code === 'EPIPE') process.exit(0)
      if (error.code !== 'EAGAIN') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    }
  }
}
/** JSON-RPC messages in one write, so that a client gets them together. */
function send(...messages) {
  write(messages.map(message => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''))
}
const text = value => ({ content: [{ type: 'text', text: value }] })
const number = (value, otherwise) => (typeof value === 'number' ? value : otherwise)
const behaviours = {
  echo: call => call.answer(text(String(call.args.text))),
  write: call => call.answer(text('written')),
  answer: ({ id, args, answer }) => {
    if (typeof args.raw === 'string') write(`${args.raw.replaceAll('$id', String(id))}\n`)
    else answer(args.result)
  },
  refuse: ({ id, args }) => send({ id, error: args.error }),
  die: call => die(call),
  die_reading: call => dieOften(call),
  die_idempotent: call => dieOften(call),
  half_line: ({ id }) => {
    write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"ty`)
    process.exit(number(faults.crashCode, 0))
  },
  never: () => {},
  late: call => void late.set(call.id, call),
  wrong_id: ({ id }) => send({ id: Number(id) + 500_000, result: text('not yours') }),
  twice: call => {
    call.answer(text('first'))
    call.answer(text('second'))
  },
  junk: call => {
    for (const line of call.args.lines ?? ['Server is listening']) write(`${line}\n`)
    call.answer(text('after the junk'))
  },
  flood_stderr: call => {
    flood(number(call.args.bytes, 1_000_000))
    call.answer(text('after the flood'))
  },
  endless_line: ({ args }) => {
    const chunk = 'x'.repeat(1_000_000)
    for (let written = 0; written < number(args.bytes, 10_000_000); written += chunk.length) write(chunk)
  },
  big_result: ({ id, args }) => {
    const result = JSON.stringify(text('x'.repeat(number(args.bytes, 1_000_000))))
    if (args.id === 'first') write(`{"jsonrpc":"2.0","id":${id},"result":${result}}\n`)
    else if (args.id === 'hidden') write(`{"jsonrpc":"2.0","result":${result},"x":1,"id":${id},"y":{}}\n`)
    else write(`{"result":${result},"jsonrpc":"2.0","id":${id}}\n`)
  },
  children: call => call.answer(text(JSON.stringify(startChildren(number(call.args.count, 1), call.args)))),
  progress: call => reportProgress(call),
  stuck: call => void stuck.add(call),
  poke: call => {
    for (const { progressToken } of stuck)
      send({ method: 'notifications/progress', params: { progressToken, progress: 1 } })
    call.answer(text('poked'))
  },
  change_tools: call => {
    tools = changedTools(tools)
    send({ method: 'notifications/tools/list_changed' })
    call.answer(text('changed'))
  },
  environment: call => call.answer(text(Object.keys(process.env).sort().join(','))),
  close_stdout: () => closeSync(1),
  stop_reading: call => {
    process.stdin.pause()
    setInterval(() => {}, 1_000)
    call.answer(text('deaf'))
  },
  flood: call => {
    const { line, times } = call.args
    for (let at = 0; at < number(times, 1); at += 1_000) {
      const lines = Array.from({ length: Math.min(1_000, number(times, 1) - at) }, (_, more) => at + more)
      write(lines.map(n => `${String(line).replaceAll('$n', String(n))}\n`).join(''))
    }
    call.answer(text('after the flood'))
  },
  fill: ({ id, args }) => {
    if (typeof args.keys === 'number') {
      const keys = Array.from({ length: args.keys }, (_, at) => `"k${at}":1`).join()
      return write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":{${keys}}}}\n`)
    }
    const unit = String(args.unit)
    const items = unit.repeat(Math.floor(number(args.bytes, 1_000_000) / unit.length)).slice(0, -1)
    write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":{"items":[${items}]}}}\n`)
  },
}
function die({ args }) {
  if (typeof args.stderr === 'string') write(`${args.stderr}\n`, 2)
  if (args.how === 'exit') process.exit(number(args.code, 3))
  process.kill(process.pid, 'SIGKILL')
}
function dieOften(call) {
  if (countIn(faults.journal, `call ${call.name}`) <= number(call.args.times, 1)) die(call)
  else call.answer(text('alive'))
}
function flood(bytes) {
  const line = `${'e'.repeat(9_999)}\n`
  for (let written = 0; written < bytes; written += line.length) write(line, 2)
}
function startChildren(count, { detached, clean } = {}) {
  const idle = 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)'
  const options = { detached: detached === true, env: clean ? {} : process.env }
  const start = () => spawn(process.execPath, ['-e', idle], { stdio: 'inherit', ...options })
  return Array.from({ length: count }, () => start().pid ?? 0)
}
/** The last notification comes together with the result. */
function reportProgress({ id, args, progressToken }) {
  const total = progressToken === undefined ? 0 : number(args.steps, 3)
  const steps = Array.from({ length: total }, (_, at) => ({ progressToken, progress: at + 1, total }))
  const notices = steps.map(params => ({ method: 'notifications/progress', params }))
  send(...notices, { id, result: text('done') })
}
const methods = {
  initialize: ({ id, params }) => {
    if (faults.neverShakesHands) return
    const protocolVersion = faults.protocolVersion ?? params?.protocolVersion
    const capabilities = { tools: { listChanged: true } }
    const serverInfo = { name: 'hostile', version: '1' }
    send({ id, result: { protocolVersion, capabilities, serverInfo } })
  },
  'tools/list': ({ id }) => {
    noteIn(faults.journal, 'list')
    send({ id, result: { tools } })
    if (faults.listStorm) send({ method: 'notifications/tools/list_changed' })
  },
  'tools/call': message => call(message),
  'notifications/cancelled': ({ params }) => {
    noteIn(faults.journal, 'cancelled')
    late.get(params?.requestId)?.answer(text('too late'))
  },
  ping: ({ id }) => send({ id, result: {} }),
}
function call({ id = 0, params }) {
  const name = String(params?.name)
  noteIn(faults.journal, `call ${name}`)
  const answer = result => send({ id, result })
  const behave = behaviours[name]
  if (faults.label !== undefined || !behave) answer(text(`${faults.label ?? 'hostile'} ${name}`))
  else
    behave({ id, name, args: params?.arguments ?? {}, progressToken: params?._meta?.progressToken, answer })
}
function receive(line) {
  const message = JSON.parse(line)
  const handle = methods[String(message.method)]
  if (handle) handle(message)
  else if (message.id !== undefined)
    send({ id: message.id, error: { code: -32601, message: 'Method not found' } })
}
function listen() {
  let rest = ''
  process.stdin.setEncoding('utf8')
  process.stdin.on('data', chunk => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) receive(line)
  })
  process.stdin.on('end', () => {
    if (faults.stderrBytesAtClose) flood(faults.stderrBytesAtClose)
    if (!faults.ignoresSigterm) process.exit(0)
  })
}
function crashesNow() {
  const starts = countIn(faults.journal, 'start')
  const { crashes = 0, healthyStarts = Number.POSITIVE_INFINITY } = faults
  return starts > healthyStarts || (crashes > 0 && starts <= crashes)
}
noteIn(faults.journal, 'start')
noteIn(faults.journal, `pid ${process.pid}`)
if (faults.stderr) write(`${faults.stderr}\n`, 2)
if (crashesNow()) process.exit(faults.crashCode ?? 1)
for (const line of faults.junk ?? []) write(`${line}\n`)
if (faults.children) startChildren(faults.children)
if (faults.ignoresSigterm) {
  process.on('SIGTERM', () => {})
  setInterval(() => {}, 1_000)
}
listen()
