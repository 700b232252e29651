import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
// Node's own `spawn` cannot start `npx` and other scripts on Windows.
import spawn from 'cross-spawn'
import { safeText } from '../logging/safe-value.ts'
import { isRecord } from '../runtime/guards.ts'
import { hasProcessGroups, INHERITED_VARIABLES } from '../runtime/platform.ts'
import { jsonProblem } from './json-limit.ts'
import {
  CLOSED_PIPE_GRACE_MS,
  EXIT_GRACE_MS,
  MAX_MESSAGE_BYTES,
  MAX_UNREAD_BYTES,
  SIGTERM_GRACE_MS,
  STDIN_CLOSED_GRACE_MS,
  UNASKED_BURST,
  UNASKED_PAUSE_MS,
  UNREAD_GRACE_MS,
} from './limits.ts'
import { idOfLongLine, KEPT_BYTES, LineReader } from './line-reader.ts'
import { adoptGroup, endGroup, signalGroup } from './process-group.ts'
import type { StdioServerEntry } from './server-entry.ts'
import { NeverStartedError, type ServerFailure, ServerLostError, tooLong } from './server-failure.ts'
import { StderrTail } from './stderr-tail.ts'

export interface StdioEvents {
  /** The server wrote to stderr. */
  stderr(): void
  /** A line on stdout that is not JSON-RPC. */
  junk(line: string): void
  /** A message over the limits; without an id if that cannot be told. */
  tooLarge(id: number | undefined, problem: string): void
  /** Every message, for the record. */
  message(direction: 'sent' | 'received', message: object, bytes: number): void
}

/** Some programs start their output with it. */
const BOM = '\ufeff'
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
  readonly stderr: StderrTail
  readonly #entry: StdioServerEntry
  readonly #events: StdioEvents
  readonly #maxBytes: number
  readonly #lines: LineReader
  readonly #exited: Promise<void>
  #markExited = (): void => {}
  #child: ChildProcessWithoutNullStreams | undefined
  #groupEnded: Promise<void> = Promise.resolve()
  #stopping: Promise<void> | undefined
  /** Lines to be written at the end of this turn of the event loop. */
  #outbox = ''
  #unread: NodeJS.Timeout | undefined
  /** How many more messages were received than sent. */
  #unasked = 0
  #reason: string | undefined
  /** How the process ended, once it has and its output was read. */
  cause: string | undefined

  constructor(entry: StdioServerEntry, events: StdioEvents, secrets: readonly string[] = []) {
    this.#entry = entry
    this.#events = events
    this.#maxBytes = entry.maxLineBytes ?? MAX_MESSAGE_BYTES
    this.stderr = new StderrTail(secrets)
    this.#lines = new LineReader(this.#maxBytes, {
      line: line => this.#onLine(line),
      tooLong: line => {
        const id = idOfLongLine(line)
        if (id !== undefined || line.ended)
          events.tooLarge(id, tooLong(this.#maxBytes, line.ended ? line.bytes : undefined))
      },
      endless: bytes => void this.stop(`the server wrote ${bytes} bytes without a line break`),
    })
    this.#exited = new Promise(resolve => {
      this.#markExited = resolve
    })
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** How the process ended, once it has. */
  get failure(): ServerFailure {
    const { exitCode = null, signalCode = null } = this.#child ?? {}
    return {
      cause: this.cause ?? 'it is not connected',
      stderr: this.stderr.text(),
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
        reject(this.#startError(error))
      }
      try {
        const { command, args = [], env, cwd } = this.#entry
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
    const stuck = 'the server has stopped reading its stdin'
    const problem = this.cause ?? (this.#unread && stuck)
    if (problem !== undefined) return Promise.reject(new ServerLostError(problem, { neverSent: true }))
    const line = `${JSON.stringify(message)}\n`
    if (line.length > this.#maxBytes)
      return Promise.reject(new Error(`The message to the server ${tooLong(this.#maxBytes, line.length)}`))
    const waiting = this.#child?.stdin.writableLength ?? 0
    if (waiting > 0 && waiting + this.#outbox.length + line.length > MAX_UNREAD_BYTES) {
      const giveUp = () => void this.stop('the server stopped reading its stdin')
      this.#unread = setTimeout(giveUp, UNREAD_GRACE_MS).unref()
      return Promise.reject(new ServerLostError(stuck, { neverSent: true }))
    }
    if (this.#unasked > 0) this.#unasked--
    if (this.#outbox === '') setImmediate(() => this.#flush())
    this.#outbox += line
    if (this.#outbox.length > MAX_UNREAD_BYTES / 16) this.#flush()
    this.#events.message('sent', message, line.length)
    return SENT
  }

  #flush(): void {
    const text = this.#outbox
    this.#outbox = ''
    if (text === '' || this.cause !== undefined) return
    this.#child?.stdin.write(text, () => {
      clearTimeout(this.#unread)
      this.#unread = undefined
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
    stdout.on('data', (chunk: Buffer) => {
      this.#lines.push(chunk)
      if (this.#unasked > UNASKED_BURST) this.#rest()
    })
    stdout.on('end', () => this.#expectExit('the server closed its stdout'))
    stderr.on('data', (chunk: Buffer) => {
      this.stderr.push(chunk)
      this.#events.stderr()
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

  /** A server that keeps sending unsolicited messages gets only a share of this process's time. */
  #rest(): void {
    this.#child?.stdout.pause()
    setTimeout(() => this.#child?.stdout.resume(), UNASKED_PAUSE_MS)
  }

  /** A server that closed its stdin or stdout is useless: it exits on its own, or is stopped. */
  #expectExit(reason: string): void {
    const timer = setTimeout(() => void this.stop(reason), CLOSED_PIPE_GRACE_MS)
    this.#exited.then(() => clearTimeout(timer))
  }

  #onLine(given: string): void {
    const line = given.startsWith(BOM) ? given.slice(1) : given
    const problem = jsonProblem(line)
    if (problem) {
      const ends = { head: line.slice(0, KEPT_BYTES), tail: line.slice(-KEPT_BYTES) }
      return this.#events.tooLarge(idOfLongLine(ends), problem)
    }
    const message = parse(line)
    if (Array.isArray(message)) for (const each of message) this.#receive(each, line)
    else if (message !== undefined || line.trim() !== '') this.#receive(message, line)
  }

  #receive(message: unknown, line: string): void {
    if (!isRecord(message) || message.jsonrpc !== '2.0') return this.#events.junk(line)
    this.#unasked++
    this.#events.message('received', message, line.length)
    this.onmessage?.(message as unknown as JSONRPCMessage)
  }

  #end(): void {
    if (this.cause !== undefined) return
    const rest = this.#lines.rest()
    if (rest !== '') this.#events.junk(rest)
    const cause = this.#reason ?? this.#exitCause()
    this.cause = rest === '' ? cause : `${cause} in the middle of a message`
    clearTimeout(this.#unread)
    const { stdin, stdout, stderr } = this.#child ?? {}
    for (const stream of [stdin, stdout, stderr]) stream?.destroy()
    this.onclose?.()
  }

  #exitCause(): string {
    const { exitCode, exitSignal } = this.failure
    if (exitSignal !== null) return `the server was killed by ${exitSignal}`
    return exitCode === null ? 'the connection was closed' : `the server exited with code ${exitCode}`
  }

  #startError(cause: unknown): Error {
    const { command, cwd } = this.#entry
    if (cwd !== undefined && !existsSync(cwd))
      return new NeverStartedError(`its working directory '${cwd}' does not exist`)
    const { code, message } = cause as NodeJS.ErrnoException
    const problem = `'${safeText(command)}' cannot be started: ${code === 'ENOENT' ? 'command not found' : message}`
    return PERMANENT.includes(code ?? '') ? new NeverStartedError(problem) : new Error(problem)
  }
}

/** Messages are objects or arrays; anything else is not worth an exception. */
function parse(line: string): unknown {
  const first = line.trimStart()[0]
  if (first !== '{' && first !== '[') return undefined
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function inheritedEnvironment(): Record<string, string> {
  const given = INHERITED_VARIABLES.map(name => [name, process.env[name]] as const)
  // A value that starts with `()` is a shell function.
  return Object.fromEntries(
    given.filter(
      (pair): pair is readonly [string, string] => pair[1] !== undefined && !pair[1].startsWith('()'),
    ),
  )
}
