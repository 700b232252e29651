import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
// Node's own `spawn` cannot start `npx` and other scripts on Windows.
import spawn from 'cross-spawn'
import { safeLines, safeText } from '../logging/safe-value.ts'
import { isRecord } from '../util/guards.ts'
import { hasProcessGroups, INHERITED_VARIABLES } from '../util/platform.ts'
import { idIn, jsonProblem, KEPT_BYTES } from './json-limit.ts'
import * as limits from './limits.ts'
import { adoptGroup, endGroup, signalGroup } from './process-group.ts'
import { sandboxed } from './sandbox.ts'
import type { StdioServerEntry } from './server-entry.ts'
import { ServerFailure, tooLong } from './server-failure.ts'

interface StdioEvents {
  onJunk(line: string): void
  onMessage(direction: 'sent' | 'received', message: object, bytes: number): void
}

const PERMANENT = ['ENOENT', 'EACCES', 'ENOTDIR', 'ENOEXEC']
const SENT = Promise.resolve()
const NEWLINE = 10

/**
 * A server's process as a transport. Notices an exit even if a grandchild holds the pipes, ends grandchildren too, survives
 * lines of any length, and always drains stderr, because a full pipe would block the server.
 */
export class StdioTransport implements Transport {
  onclose: (() => void) | undefined
  onerror: ((error: Error) => void) | undefined
  onmessage: Transport['onmessage']
  onlost: ((failure: ServerFailure) => void) | undefined
  /** How the process ended, once it has and its output was read. */
  failure: ServerFailure | undefined
  readonly #entry: StdioServerEntry
  readonly #events: StdioEvents
  readonly #maxBytes: number
  #exited: Promise<unknown> = Promise.resolve()
  #child: ChildProcessWithoutNullStreams | undefined
  #groupEnded: Promise<void> = Promise.resolve()
  #stopping: Promise<void> | undefined
  #reason: string | undefined
  /** The beginning of an incomplete line, or its head and tail if it is over the limit. */
  #parts: Buffer[] = []
  #bytes = 0
  #outbox = ''
  #stuck: NodeJS.Timeout | undefined
  #stderr = Buffer.alloc(0)

  constructor(entry: StdioServerEntry, events: StdioEvents) {
    this.#entry = entry
    this.#events = events
    this.#maxBytes = entry.maxLineBytes ?? limits.MAX_MESSAGE_BYTES
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** The tail of the server's stderr, without secrets; starts with a whole line if any was cut. */
  get stderr(): string {
    const text = this.#stderr.toString('utf8')
    const isCut = this.#stderr.length === limits.STDERR_KEPT_BYTES
    return safeLines(isCut ? text.slice(text.search(/\s/) + 1) : text).trim()
  }

  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (error: unknown) => {
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
    const isStuck = (this.#child?.stdin.writableLength ?? 0) + this.#outbox.length > limits.MAX_UNREAD_BYTES
    const problem = this.failure?.message ?? (isStuck && 'the server has stopped reading its stdin')
    if (isStuck)
      this.#stuck ??= setTimeout(
        () => void this.stop('the server stopped reading its stdin'),
        limits.UNREAD_GRACE_MS,
      ).unref()
    if (problem) return Promise.reject(new ServerFailure(problem, { kind: 'unsent' }))
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
    this.#events.onMessage('sent', message, line.length)
    return SENT
  }

  #flush(): void {
    const text = this.#outbox
    this.#outbox = ''
    if (text === '' || this.failure) return
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
    const exitsWithin = (ms: number) =>
      Promise.race([this.#exited.then(() => true), pause(ms, false, { ref: false })])
    this.#flush()
    stdin?.end()
    if (!(await exitsWithin(limits.STDIN_CLOSED_GRACE_MS))) signalGroup(pid, 'SIGTERM')
    if (!(await exitsWithin(limits.SIGTERM_GRACE_MS))) signalGroup(pid, 'SIGKILL')
    await this.#exited
    await this.#groupEnded
  }

  #listen(child: ChildProcessWithoutNullStreams): void {
    const { stdin, stdout, stderr } = child
    stdout.on('data', (chunk: Buffer) => this.#onOutput(chunk))
    stdout.on('end', () => this.#expectExit('the server closed its stdout'))
    stderr.on('data', (chunk: Buffer) => {
      this.#stderr = Buffer.concat([this.#stderr, chunk]).subarray(-limits.STDERR_KEPT_BYTES)
    })
    stdin.on('error', () => this.#expectExit('the server closed its stdin'))
    for (const stream of [stdout, stderr]) stream.on('error', () => {})
    this.#exited = once(child, 'exit').then(() => {
      this.#groupEnded = endGroup(child.pid as number)
      // `close` follows when all output was read, or never if a child of the server holds the pipes. The extra turns of the
      // event loop let in what arrived while this process was busy.
      setTimeout(() => setImmediate(() => setImmediate(() => this.#end())), limits.EXIT_GRACE_MS)
    })
    child.on('close', () => this.#end())
  }

  /** A server that closed its stdin or stdout is useless: it exits on its own, or is stopped. */
  #expectExit(reason: string): void {
    const timer = setTimeout(() => void this.stop(reason), limits.CLOSED_PIPE_GRACE_MS)
    this.#exited.then(() => clearTimeout(timer))
  }

  #onOutput(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      // Most lines are in one piece.
      if (this.#bytes === 0 && end - start <= this.#maxBytes) this.#onLine(chunk.toString('utf8', start, end))
      else {
        this.#keep(chunk.subarray(start, end))
        this.#completeLine()
      }
      start = end + 1
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start))
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length
    this.#parts.push(part)
    if (this.#bytes <= this.#maxBytes) return
    const all = Buffer.concat(this.#parts)
    // Copies, so that no large chunk is kept alive.
    this.#parts = [Buffer.from(all.subarray(0, KEPT_BYTES)), Buffer.from(all.subarray(-KEPT_BYTES))]
  }

  #completeLine(): void {
    const [bytes, parts] = [this.#bytes, this.#parts]
    this.#parts = []
    this.#bytes = 0
    const line = Buffer.concat(parts).toString('utf8')
    if (bytes <= this.#maxBytes) this.#onLine(line)
    else this.#onUnusable(line, tooLong(this.#maxBytes, bytes))
  }

  #onLine(line: string): void {
    const problem = jsonProblem(line)
    if (problem) return this.#onUnusable(line, problem)
    const message = parse(line)
    if (Array.isArray(message)) for (const each of message) this.#receive(each, line)
    else if (message !== undefined || line.trim() !== '') this.#receive(message, line)
  }

  #onUnusable(line: string, problem: string): void {
    const requestId = Number(idIn(line)) || undefined
    const details = { kind: 'unusable', requestId } as const
    this.onerror?.(new ServerFailure(`The server's answer ${problem}`, details))
  }

  #receive(message: unknown, line: string): void {
    if (!isRecord(message) || message.jsonrpc !== '2.0') return this.#events.onJunk(line)
    this.#events.onMessage('received', message, line.length)
    this.onmessage?.(message as unknown as JSONRPCMessage)
  }

  #end(): void {
    if (this.failure) return
    const rest = this.#bytes > this.#maxBytes ? '' : Buffer.concat(this.#parts).toString('utf8')
    if (rest !== '') this.#events.onJunk(rest)
    const { exitCode: code = null, signalCode: exitSignal = null } = this.#child ?? {}
    // For a process that never ran, Node reports the errno as its exit code.
    const exitCode = code !== null && code < 0 ? null : code
    const exit = exitCode === null ? 'the connection was closed' : `the server exited with code ${exitCode}`
    const cause = this.#reason ?? (exitSignal === null ? exit : `the server was killed by ${exitSignal}`)
    const where = rest === '' ? '' : ' in the middle of a message'
    this.failure = new ServerFailure(`${cause}${where}`, { stderr: this.stderr, exitCode, exitSignal })
    clearTimeout(this.#stuck)
    const { stdin, stdout, stderr } = this.#child ?? {}
    for (const stream of [stdin, stdout, stderr]) stream?.destroy()
    this.onlost?.(this.failure)
    this.onclose?.()
  }

  #startError(error: NodeJS.ErrnoException): Error {
    const { code = '', message } = error
    const { command, cwd } = this.#entry
    if (error instanceof ServerFailure) return error
    const isMissing = cwd !== undefined && !existsSync(cwd)
    const reason = code === 'ENOENT' ? 'command not found' : message
    return new ServerFailure(
      isMissing
        ? `its working directory '${cwd}' does not exist`
        : `'${safeText(command)}' cannot be started: ${reason}`,
      { kind: isMissing || PERMANENT.includes(code) ? 'permanent' : 'failed' },
    )
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
  // A value that starts with `()` is a shell function.
  const isPlain = (name: string) => process.env[name]?.startsWith('()') === false
  return Object.fromEntries(INHERITED_VARIABLES.filter(isPlain).map(name => [name, process.env[name] ?? '']))
}
