import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
// Node's own `spawn` cannot start `npx` and other scripts on Windows.
import spawn from 'cross-spawn'
import { safeLines, safeText } from '../logging/safe-value.ts'
import { isRecord } from '../util/guards.ts'
import { hasProcessGroups, INHERITED_VARIABLES } from '../util/platform.ts'
import { jsonProblem } from './json-limit.ts'
import {
  CLOSED_PIPE_GRACE_MS,
  ENDLESS_LINE_BYTES,
  EXIT_GRACE_MS,
  MAX_MESSAGE_BYTES,
  MAX_UNREAD_BYTES,
  SIGTERM_GRACE_MS,
  STDERR_KEPT_BYTES,
  STDIN_CLOSED_GRACE_MS,
  UNREAD_GRACE_MS,
} from './limits.ts'
import { adoptGroup, endGroup, signalGroup } from './process-group.ts'
import { NoSandboxError, sandboxed } from './sandbox.ts'
import type { StdioServerEntry } from './server-entry.ts'
import { NeverStartedError, type ServerFailure, ServerLostError, tooLong } from './server-failure.ts'

export interface StdioEvents {
  /** A line on stdout that is not JSON-RPC. */
  junk(line: string): void
  /** A message over the limits; without an id if that cannot be told. */
  tooLarge(id: number | undefined, problem: string): void
  /** Every message, for the record. */
  message(direction: 'sent' | 'received', message: object, bytes: number): void
}

/** Errors that an immediate retry does not change. */
const PERMANENT = ['ENOENT', 'EACCES', 'ENOTDIR', 'ENOEXEC']
const SENT = Promise.resolve()

/**
 * A server's process as a transport. Notices an exit even if a grandchild holds the pipes, ends grandchildren too, survives
 * lines of any length, and always drains stderr, because a full pipe would block the server.
 */
export class StdioTransport implements Transport {
  onclose: (() => void) | undefined
  onerror: ((error: Error) => void) | undefined
  onmessage: Transport['onmessage']
  /** How the process ended, once it has and its output was read. */
  cause: string | undefined
  readonly #entry: StdioServerEntry
  readonly #events: StdioEvents
  readonly #maxBytes: number
  readonly #lines: LineReader
  #markExited = (): void => {}
  readonly #exited = new Promise<void>(resolve => {
    this.#markExited = resolve
  })
  #child: ChildProcessWithoutNullStreams | undefined
  #groupEnded: Promise<void> = Promise.resolve()
  #stopping: Promise<void> | undefined
  #reason: string | undefined
  /** Lines to be written at the end of this turn of the event loop. */
  #outbox = ''
  #stuck: NodeJS.Timeout | undefined
  #stderr = Buffer.alloc(0)

  constructor(entry: StdioServerEntry, events: StdioEvents) {
    this.#entry = entry
    this.#events = events
    this.#maxBytes = entry.maxLineBytes ?? MAX_MESSAGE_BYTES
    this.#lines = new LineReader(this.#maxBytes, {
      line: line => this.#onLine(line),
      tooLong: (head, tail, bytes) => events.tooLarge(idIn(head, tail), tooLong(this.#maxBytes, bytes)),
      endless: bytes => void this.stop(`the server wrote ${bytes} bytes without a line break`),
    })
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** The tail of the server's stderr, without secrets; starts with a whole line if any was cut. */
  get stderr(): string {
    const text = this.#stderr.toString('utf8')
    const isCut = this.#stderr.length === STDERR_KEPT_BYTES
    return safeLines(isCut ? text.slice(text.search(/\s/) + 1) : text).trim()
  }

  /** How the process ended, once it has. */
  get failure(): ServerFailure {
    const { exitCode = null, signalCode = null } = this.#child ?? {}
    return {
      cause: this.cause ?? 'it is not connected',
      stderr: this.stderr,
      // For a process that never ran, Node reports the errno as its exit code.
      exitCode: exitCode !== null && exitCode < 0 ? null : exitCode,
      exitSignal: signalCode,
    }
  }

  /** Starts the process; rejects if it cannot be started. */
  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (error: unknown) => {
        this.#markExited()
        this.#end()
        reject(this.#startError(error as NodeJS.ErrnoException))
      }
      try {
        const { env, cwd, sandbox } = this.#entry
        const { command, args = [] } = sandbox ? sandboxed(this.#entry, sandbox) : this.#entry
        const child = spawn(command, [...args], {
          cwd,
          env: { ...inheritedEnvironment(), ...env },
          stdio: ['pipe', 'pipe', 'pipe'],
          // Its own group, so that it can be ended together with everything it started.
          detached: hasProcessGroups,
          windowsHide: true,
        }) as ChildProcessWithoutNullStreams
        this.#child = child
        // First of all: without file handles the child has no streams, and its error would end this process. A later
        // error means that a signal could not be sent.
        child.on('error', error => child.pid === undefined && fail(error))
        child.on('spawn', resolve)
        if (child.pid === undefined || !child.stdout) return
        adoptGroup(child.pid)
        this.#listen(child)
      } catch (error) {
        fail(error)
      }
    })
  }

  /** Sends a message at the end of this turn; rejects if it is too large, or the server has too much unread input. */
  send(message: JSONRPCMessage): Promise<void> {
    const isStuck = (this.#child?.stdin.writableLength ?? 0) + this.#outbox.length > MAX_UNREAD_BYTES
    const problem = this.cause ?? (isStuck ? 'the server has stopped reading its stdin' : undefined)
    if (isStuck)
      this.#stuck ??= setTimeout(
        () => void this.stop('the server stopped reading its stdin'),
        UNREAD_GRACE_MS,
      ).unref()
    if (problem !== undefined) return Promise.reject(new ServerLostError(problem, { neverSent: true }))
    let line: string
    try {
      line = `${JSON.stringify(message)}\n`
    } catch (error) {
      return Promise.reject(error)
    }
    if (line.length > this.#maxBytes)
      return Promise.reject(new Error(`The message to the server ${tooLong(this.#maxBytes, line.length)}`))
    if (this.#outbox === '') setImmediate(() => this.#flush())
    this.#outbox += line
    this.#events.message('sent', message, line.length)
    return SENT
  }

  #flush(): void {
    const text = this.#outbox
    this.#outbox = ''
    if (text === '' || this.cause !== undefined) return
    this.#child?.stdin.write(text, () => {
      clearTimeout(this.#stuck)
      this.#stuck = undefined
    })
  }

  async close(): Promise<void> {
    await this.stop()
    this.#end()
  }

  /** Ends the process and its group by closing its stdin, then SIGTERM, then SIGKILL. Resolves when they are gone. */
  stop(reason?: string): Promise<void> {
    this.#reason ??= reason
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #stop(): Promise<void> {
    const { pid, stdin } = this.#child ?? {}
    if (pid === undefined) return
    this.#flush()
    stdin?.end()
    if (!(await this.#exitsWithin(STDIN_CLOSED_GRACE_MS))) signalGroup(pid, 'SIGTERM')
    if (!(await this.#exitsWithin(SIGTERM_GRACE_MS))) signalGroup(pid, 'SIGKILL')
    await this.#exited
    await this.#groupEnded
  }

  async #exitsWithin(ms: number): Promise<boolean> {
    const timer = new AbortController()
    const late = pause(ms, false, { signal: timer.signal }).catch(() => false)
    const inTime = await Promise.race([this.#exited.then(() => true), late])
    timer.abort()
    return inTime
  }

  #listen(child: ChildProcessWithoutNullStreams): void {
    const { stdin, stdout, stderr } = child
    stdout.on('data', (chunk: Buffer) => this.#lines.push(chunk))
    stdout.on('end', () => this.#expectExit('the server closed its stdout'))
    stderr.on('data', (chunk: Buffer) => {
      this.#stderr = Buffer.concat([this.#stderr, chunk]).subarray(-STDERR_KEPT_BYTES)
    })
    stdin.on('error', () => this.#expectExit('the server closed its stdin'))
    for (const stream of [stdout, stderr]) stream.on('error', () => {})
    child.on('exit', () => {
      this.#groupEnded = endGroup(child.pid as number)
      this.#markExited()
      // `close` follows when all output was read, or never if a child of the server holds the pipes. The extra turns of the
      // event loop let in what arrived while this process was busy.
      setTimeout(() => setImmediate(() => setImmediate(() => this.#end())), EXIT_GRACE_MS)
    })
    child.on('close', () => this.#end())
  }

  /** A server that closed its stdin or stdout is useless: it exits on its own, or is stopped. */
  #expectExit(reason: string): void {
    const timer = setTimeout(() => void this.stop(reason), CLOSED_PIPE_GRACE_MS)
    this.#exited.then(() => clearTimeout(timer))
  }

  #onLine(line: string): void {
    const problem = jsonProblem(line)
    if (problem)
      return this.#events.tooLarge(idIn(line.slice(0, KEPT_BYTES), line.slice(-KEPT_BYTES)), problem)
    const message = parse(line)
    if (Array.isArray(message)) for (const each of message) this.#receive(each, line)
    else if (message !== undefined || line.trim() !== '') this.#receive(message, line)
  }

  #receive(message: unknown, line: string): void {
    if (!isRecord(message) || message.jsonrpc !== '2.0') return this.#events.junk(line)
    this.#events.message('received', message, line.length)
    this.onmessage?.(message as unknown as JSONRPCMessage)
  }

  #end(): void {
    if (this.cause !== undefined) return
    const rest = this.#lines.rest()
    if (rest !== '') this.#events.junk(rest)
    const cause = this.#reason ?? this.#exitCause()
    this.cause = rest === '' ? cause : `${cause} in the middle of a message`
    clearTimeout(this.#stuck)
    const { stdin, stdout, stderr } = this.#child ?? {}
    for (const stream of [stdin, stdout, stderr]) stream?.destroy()
    this.onclose?.()
  }

  #exitCause(): string {
    const { exitCode, exitSignal } = this.failure
    if (exitSignal !== null) return `the server was killed by ${exitSignal}`
    return exitCode === null ? 'the connection was closed' : `the server exited with code ${exitCode}`
  }

  #startError(error: NodeJS.ErrnoException): Error {
    const { code = '', message } = error
    const { command, cwd } = this.#entry
    if (error instanceof NoSandboxError) return new NeverStartedError(message)
    if (cwd !== undefined && !existsSync(cwd))
      return new NeverStartedError(`its working directory '${cwd}' does not exist`)
    const problem = `'${safeText(command)}' cannot be started: ${code === 'ENOENT' ? 'command not found' : message}`
    return PERMANENT.includes(code) ? new NeverStartedError(problem) : new Error(problem)
  }
}

/** Messages are objects or arrays; anything else is not worth an exception. */
function parse(line: string): unknown {
  // Some programs start their output with a byte order mark, which is white space to `trim`.
  const text = line.trim()
  if (!text.startsWith('{') && !text.startsWith('[')) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function inheritedEnvironment(): Record<string, string> {
  const given = INHERITED_VARIABLES.map(name => [name, process.env[name]] as const)
  // A value that starts with `()` is a shell function.
  const isPlain = (pair: readonly [string, string | undefined]): pair is readonly [string, string] =>
    pair[1] !== undefined && !pair[1].startsWith('()')
  return Object.fromEntries(given.filter(isPlain))
}

interface LineEvents {
  line(line: string): void
  /** Both ends of a line over the limit, to tell which request it belongs to. */
  tooLong(head: string, tail: string, bytes: number): void
  endless(bytes: number): void
}

const NEWLINE = 10
const KEPT_BYTES = 1_024

/** Splits a stream of bytes into lines. Never holds more than one line of the maximum length. */
class LineReader {
  readonly #maxBytes: number
  readonly #events: LineEvents
  /** The beginning of an incomplete line, or its head and tail if it is over the limit. */
  #parts: Buffer[] = []
  #bytes = 0

  constructor(maxBytes: number, events: LineEvents) {
    this.#maxBytes = maxBytes
    this.#events = events
  }

  push(chunk: Buffer): void {
    const first = chunk.indexOf(NEWLINE)
    const last = chunk.lastIndexOf(NEWLINE)
    if (first < 0) return this.#keep(chunk)
    this.#keep(chunk.subarray(0, first))
    this.#complete()
    // Decoding once and splitting makes many small messages fast. A chunk is far shorter than the usual limit.
    if (last > first)
      for (const line of chunk.toString('utf8', first + 1, last).split('\n'))
        if (line.length <= this.#maxBytes) this.#events.line(line)
        else this.#events.tooLong(line.slice(0, KEPT_BYTES), line.slice(-KEPT_BYTES), line.length)
    this.#keep(chunk.subarray(last + 1))
  }

  /** What the stream ended with, if it did not end with a newline. */
  rest(): string {
    return this.#bytes > this.#maxBytes ? '' : Buffer.concat(this.#parts).toString('utf8')
  }

  #keep(part: Buffer): void {
    if (part.length === 0) return
    this.#bytes += part.length
    this.#parts.push(part)
    if (this.#bytes > ENDLESS_LINE_BYTES) return this.#events.endless(this.#bytes)
    if (this.#bytes <= this.#maxBytes) return
    const all = Buffer.concat(this.#parts)
    // Copies, so that no large chunk is kept alive.
    this.#parts = [Buffer.from(all.subarray(0, KEPT_BYTES)), Buffer.from(all.subarray(-KEPT_BYTES))]
  }

  #complete(): void {
    const [bytes, line, [head, tail]] = [this.#bytes, this.rest(), this.#parts]
    this.#parts = []
    this.#bytes = 0
    if (bytes <= this.#maxBytes) this.#events.line(line)
    else this.#events.tooLong(String(head), String(tail ?? head), bytes)
  }
}

// Where servers put the id: after `jsonrpc` (Python, Go, Rust, Java) or at the very end (TypeScript). Nowhere else, because
// the result itself may contain anything that looks like one.
const ID_FIRST = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*"?(-?\d{1,15})"?\s*,/
const ID_LAST = /[}\]"\d]\s*,\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*"?(-?\d{1,15})"?\s*\}\s*$/

/** The id of a message that is too large, if it can be found in its ends. */
function idIn(head: string, tail: string): number | undefined {
  const id = ID_FIRST.exec(head)?.[1] ?? ID_LAST.exec(tail)?.[1]
  return id === undefined ? undefined : Number(id)
}
