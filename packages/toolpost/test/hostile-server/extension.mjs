// What our own tests need of the misbehaving server of `packages/proof` beyond its tools: faults at the start, and tools
// that do wrong what a test asks for.
import { spawn } from 'node:child_process'
import { closeSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { changedTools, HOSTILE_TOOLS, numberedTools } from './tool-list.mjs'

const { ledger, hostile: faults } = JSON.parse(process.argv[2])
const text = value => ({ content: [{ type: 'text', text: value }] })
const number = (value, otherwise) => (typeof value === 'number' ? value : otherwise)
const answer = (call, value) => call.send({ id: call.id, result: text(value) })
// What was written has left this process before the next step, which may kill it.
process.stdout._handle?.setBlocking?.(true)

export const tools = [...(faults.tools ?? HOSTILE_TOOLS), ...numberedTools(faults.toolCount ?? 0)]

const own = {
  echo: call => answer(call, String(call.args.text)),
  write: call => answer(call, 'written'),
  answer: ({ id, args, raw, send }) => {
    if (typeof args.raw === 'string') raw(`${args.raw.replaceAll('$id', String(id))}\n`)
    else send({ id, result: args.result })
  },
  die,
  die_reading: dieOften,
  die_idempotent: dieOften,
  never: () => {},
  junk: call => {
    for (const line of call.args.lines ?? ['Server is listening']) call.raw(`${line}\n`)
    answer(call, 'after the junk')
  },
  endless_line: ({ args, raw }) => {
    const chunk = 'x'.repeat(1_000_000)
    for (let written = 0; written < number(args.bytes, 10_000_000); written += chunk.length) raw(chunk)
  },
  big_result: ({ id, args, raw }) => {
    const result = JSON.stringify(text('x'.repeat(number(args.bytes, 1_000_000))))
    if (args.id === 'first') raw(`{"jsonrpc":"2.0","id":${id},"result":${result}}\n`)
    else raw(`{"result":${result},"jsonrpc":"2.0","id":${id}}\n`)
  },
  children: call => answer(call, JSON.stringify(startChildren(number(call.args.count, 1), call.args))),
  /** The last notification comes together with the result. */
  progress: ({ id, args, progressToken, raw }) => {
    const total = progressToken === undefined ? 0 : number(args.steps, 3)
    const steps = Array.from({ length: total }, (_, at) => ({ progressToken, progress: at + 1, total }))
    const notices = steps.map(params => ({ method: 'notifications/progress', params }))
    const messages = [...notices, { id, result: text('done') }]
    raw(messages.map(message => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''))
  },
  stuck: () => {},
  change_tools: call => {
    tools.splice(0, Number.POSITIVE_INFINITY, ...(faults.toolsAfter ?? changedTools(tools)))
    call.notify({ method: 'notifications/tools/list_changed' })
    answer(call, 'changed')
  },
  /** Tries to read, to write or to connect; answers with what it got, or why not. */
  attempt: call => {
    const { read, write, port } = call.args
    try {
      if (port !== undefined)
        return void connect(port, '127.0.0.1')
          .once('connect', () => answer(call, 'connected'))
          .once('error', error => answer(call, error.code))
      answer(call, read ? readFileSync(read, 'utf8') : String(writeFileSync(write, 'x') ?? 'written'))
    } catch (error) {
      answer(call, error.code)
    }
  },
  environment: call => answer(call, Object.keys(process.env).sort().join(',')),
  close_stdout: () => closeSync(1),
  stop_reading: call => {
    process.stdin.pause()
    setInterval(() => {}, 1_000)
    answer(call, 'deaf')
  },
  flood: call => {
    const { line, times } = call.args
    for (let at = 0; at < number(times, 1); at += 1_000) {
      const lines = Array.from({ length: Math.min(1_000, number(times, 1) - at) }, (_, more) => at + more)
      call.raw(lines.map(n => `${String(line).replaceAll('$n', String(n))}\n`).join(''))
    }
    answer(call, 'after the flood')
  },
  fill: ({ id, args, raw }) => {
    const unit = String(args.unit)
    const items = unit.repeat(Math.floor(number(args.bytes, 1_000_000) / unit.length)).slice(0, -1)
    raw(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":{"items":[${items}]}}}\n`)
  },
}

const answerWithName = call => answer(call, `${faults.label ?? 'hostile'} ${call.tool}`)
export const behaviours = { added: answerWithName, ...own }
for (const { name } of tools) if (faults.label !== undefined || !own[name]) behaviours[name] = answerWithName

export function handle({ method }, { send }) {
  if (method === 'tools/list' && faults.listStorm)
    setImmediate(() => send({ method: 'notifications/tools/list_changed' }))
  return false
}

function entries(what) {
  const lines = existsSync(ledger) ? readFileSync(ledger, 'utf8').split('\n') : []
  return lines
    .filter(Boolean)
    .map(line => JSON.parse(line))
    .filter(entry => entry.what === what)
}
function die({ args }) {
  if (typeof args.stderr === 'string') process.stderr.write(`${args.stderr}\n`)
  if (args.how === 'exit') process.exit(number(args.code, 3))
  process.kill(process.pid, 'SIGKILL')
}
function dieOften(call) {
  const times = entries('call').filter(({ tool }) => tool === call.tool).length
  if (times <= number(call.args.times, 1)) die(call)
  else answer(call, 'alive')
}
function floodStderr(bytes) {
  const line = `${'e'.repeat(9_999)}\n`
  for (let written = 0; written < bytes; written += line.length) process.stderr.write(line)
}
function startChildren(count, { detached, clean } = {}) {
  const idle = 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)'
  const options = { detached: detached === true, env: clean ? {} : process.env }
  const start = () => spawn(process.execPath, ['-e', idle], { stdio: 'inherit', ...options })
  return Array.from({ length: count }, () => start().pid ?? 0)
}

const { healthyStarts = Number.POSITIVE_INFINITY } = faults
if (faults.stderr) process.stderr.write(`${faults.stderr}\n`)
if (entries('start').length >= healthyStarts) {
  const { note } = await import('../../../proof/dist/ledger.js')
  note(ledger, { what: 'start' })
  process.exit(faults.crashCode ?? 1)
}
if (faults.stderrBytesAtClose) process.stdin.on('end', () => floodStderr(faults.stderrBytesAtClose))
