// What the tools of the misbehaving server do. Every effect, fault and late answer is in the ledger before it happens.
import { spawn, spawnSync } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import type { Entry } from '../ledger.ts'
import { ANSWERS } from './tools.ts'

/** Where the answer to a message goes. */
export interface Reply {
  /** A JSON-RPC message: the answer, unless it says otherwise. */
  send(message: Record<string, unknown>): void
  /** Bytes as they are, in place of a message. */
  raw(bytes: string | Buffer): void
  /** Reaches the client outside any call. */
  notify(message: Record<string, unknown>): void
}

/** A `tools/call` and the ways to answer it. */
export interface Call extends Reply {
  id: number | string
  tool: string
  key: string
  args: Record<string, unknown>
  progressToken: unknown
  note(what: Entry['what'], detail?: string | number): void
}

type Behaviour = (call: Call) => void | Promise<void>

const MB = 1024 * 1024
const STDERR_BYTES = 5 * MB
const HUGE_BYTES = 50 * MB
const LOG_MESSAGES = 10_000

const textResult = (text: string) => ({ content: [{ type: 'text', text }] })
const say = (call: Call, text: string) => call.send({ id: call.id, result: textResult(text) })
const line = (message: object) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`

/** Answers that are data: `tools.json` says by kind what is sent, one after the other. */
function answerFromData(call: Call): void {
  const steps = JSON.stringify(ANSWERS[String(call.args.kind)]).replaceAll('$key', call.key)
  for (const { raw, exit, ...message } of JSON.parse(steps))
    if (exit) process.exit(0)
    else if (raw) call.raw(raw)
    else call.send({ id: call.id, ...message })
}

const misbehaviours: Record<string, Behaviour> = {
  utf8: call => {
    const [before = '', after = ''] = line({ id: call.id, result: textResult(`${call.key} @`) }).split('@')
    call.raw(Buffer.concat([Buffer.from(before), Buffer.from([0xff, 0xfe, 0xc3]), Buffer.from(after)]))
  },
  raw: call => call.raw(String(call.args.raw).replaceAll('"$id"', JSON.stringify(call.id))),
  huge: call => call.raw(line({ id: call.id, result: textResult('x'.repeat(HUGE_BYTES)) })),
  stderr: call => {
    const write = `process.stderr.write(('e'.repeat(999) + '\\n').repeat(${STDERR_BYTES / 1_000}))`
    // Waits until somebody has read it all.
    spawnSync(process.execPath, ['-e', write], { stdio: ['ignore', 'ignore', 2] })
    say(call, call.key)
  },
  messages: call => {
    for (let n = 0; n < LOG_MESSAGES; n++)
      call.send({ method: 'notifications/message', params: { level: 'info', data: `message ${n}` } })
    say(call, call.key)
  },
}

export const behaviours: Record<string, Behaviour> = {
  repeat: call => say(call, String(call.args.text ?? call.key)),
  write: call => {
    call.note('effect')
    say(call, `written ${call.key}`)
  },
  hang: call => call.note('fault', 'hang'),
  slow: async call => {
    call.note('fault', 'slow')
    await pause(Number(call.args.ms))
    call.note('effect')
    say(call, `slow ${call.key}`)
    call.note('answer')
  },
  steady: async call => {
    const steps = Number(call.args.steps)
    for (let step = 1; step <= steps; step++) {
      await pause(Number(call.args.everyMs))
      const params = { progressToken: call.progressToken, progress: step, total: steps }
      if (call.progressToken !== undefined) call.send({ method: 'notifications/progress', params })
    }
    say(call, `steady ${call.key}`)
  },
  die: async call => {
    const { when, how, stderr } = call.args
    if (when !== 'before') call.note('effect')
    if (when === 'after') {
      say(call, `written ${call.key}`)
      await pause(100)
    }
    if (typeof stderr === 'string') process.stderr.write(`${stderr}\n`)
    call.note('fault', 'death')
    if (how === 'exit') process.exit(3)
    process.kill(process.pid, 'SIGKILL')
  },
  misbehave: call => {
    const kind = String(call.args.kind)
    call.note('fault', kind)
    return (misbehaviours[kind] ?? answerFromData)(call)
  },
  result: call => {
    if (call.args.kind === 'large') say(call, `begin ${'abcdefghij'.repeat(MB / 10)} end`)
    else answerFromData(call)
  },
  /** Starts a child that ignores SIGTERM and keeps the server's pipes open. */
  child: call => {
    const idle = 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)'
    call.note('child', spawn(process.execPath, ['-e', idle], { stdio: 'inherit' }).pid)
    say(call, call.key)
  },
  lying: call => {
    call.note('effect')
    answerFromData({ ...call, args: { kind: 'lying' } })
  },
}

export const otherwise: Behaviour = call => {
  call.note('effect')
  say(call, `${call.tool} ${call.key}`)
}
