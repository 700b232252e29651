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
import { idIn, jsonProblem, KEPT_BYTES, parsedJson } from './json-limit.ts'
import * as limits from './limits.ts'
import type { McpServer } from './mcp-server.ts'
import { adoptGroup, endGroup, signalGroup } from './process-group.ts'
import { sandboxed } from './sandbox.ts'
import type { StdioServerEntry } from './server-entry.ts'
import { ServerFailure, tooLong } from './server-failure.ts'

const PERMANENT = ['ENOENT', 'EACCES', 'ENOTDIR', 'ENOEXEC']
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
  readonly #server: McpServer
  readonly #entry: StdioServerEntry
  readonly #maxBytes: number
  #exited: Promise<unknown> = Promise.resolve()
  #groupEnded: Promise<void> = Promise.resolve()
  #child: ChildProcessWithoutNullStreams | undefined
  #stopping: Promise<void> | undefined
  #reason: string | undefined
  /** The beginning of an incomplete line, or its head and tail if it is over the limit. */
  #parts: Buffer[] = []
  #bytes = 0
  #stuck: NodeJS.Timeout | undefined
  #stderr = Buffer.alloc(0)

  constructor(server: McpServer, entry: StdioServerEntry) {
    this.#server = server
    this.#entry = entry
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

  async start(): Promise<void> {
    const { env, cwd, sandbox } = this.#entry
    try {
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
      const spawned = once(child, 'spawn')
      // An unhandled one would end this process: without file handles now, later because a signal could not be sent.
      child.on('error', () => {})
      if (child.pid !== undefined && child.stdout) this.#listen(child, child.pid)
      await spawned
    } catch (error) {
      this.#end()
      throw this.#startError(error as NodeJS.ErrnoException)
    }
  }

  #startError(error: NodeJS.ErrnoException): ServerFailure {
    if (error instanceof ServerFailure) return error
    const { code = '', message } = error
    const { command, cwd } = this.#entry
    if (cwd !== undefined && !existsSync(cwd))
      return new ServerFailure(`its working directory '${cwd}' does not exist`, { kind: 'permanent' })
    const reason = code === 'ENOENT' ? 'command not found' : message
    const kind = PERMANENT.includes(code) ? 'permanent' : 'failed'
    return new ServerFailure(`'${safeText(command)}' cannot be started: ${reason}`, { kind })
  }

  #listen(child: ChildProcessWithoutNullStreams, pid: number): void {
    const { stdin, stdout, stderr } = child
    adoptGroup(pid)
    // A server that closed its stdin or stdout is useless: it exits on its own, or is stopped.
    const expectExit = (reason: string) => () =>
      void setTimeout(() => void this.#stop(reason), limits.CLOSED_PIPE_GRACE_MS).unref()
    stdout.on('data', (chunk: Buffer) => this.#onOutput(chunk))
    stdout.on('end', expectExit('the server closed its stdout'))
    stdin.on('error', expectExit('the server closed its stdin'))
    stderr.on('data', (chunk: Buffer) => {
      this.#stderr = Buffer.concat([this.#stderr, chunk]).subarray(-limits.STDERR_KEPT_BYTES)
    })
    for (const stream of [stdout, stderr]) stream.on('error', () => {})
    this.#exited = once(child, 'exit').then(() => {
      this.#groupEnded = endGroup(pid)
      // `close` follows when all output was read, or never if a child of the server holds the pipes. The extra turns of the
      // event loop let in what arrived while this process was busy.
      setTimeout(() => setImmediate(() => setImmediate(() => this.#end())), limits.EXIT_GRACE_MS)
    })
    child.on('close', () => this.#end())
  }

  /** Rejects if it is too large, or the server has too much unread input. */
  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin
    const isStuck = stdin !== undefined && stdin.writableLength > limits.MAX_UNREAD_BYTES
    if (isStuck)
      this.#stuck ??= setTimeout(
        () => void this.#stop('the server stopped reading its stdin'),
        limits.UNREAD_GRACE_MS,
      ).unref()
    const problem = this.failure?.message ?? (isStuck && 'the server has stopped reading its stdin')
    if (problem) throw new ServerFailure(problem, { kind: 'unsent' })
    const line = `${JSON.stringify(message)}\n`
    if (line.length > this.#maxBytes)
      throw new Error(`The message to the server ${tooLong(this.#maxBytes, line.length)}`)
    // The messages of a turn are written together.
    if (stdin?.writableCorked === 0) {
      stdin.cork()
      setImmediate(() => stdin.uncork())
    }
    stdin?.write(line, () => {
      clearTimeout(this.#stuck)
      this.#stuck = undefined
    })
    this.#server.messages.add('sent', message, line.length)
  }

  async close(): Promise<void> {
    await this.#stop('the server was stopped')
    this.#end()
  }

  /** Ends the process and its group by closing its stdin, then SIGTERM, then SIGKILL. Resolves when they are gone. */
  #stop(reason: string): Promise<void> {
    this.#reason ??= reason
    this.#stopping ??= this.#endProcess()
    return this.#stopping
  }

  async #endProcess(): Promise<void> {
    const { pid, stdin } = this.#child ?? {}
    if (pid === undefined) return
    const exitsWithin = (ms: number) =>
      Promise.race([this.#exited.then(() => true), pause(ms, false, { ref: false })])
    stdin?.end()
    if (!(await exitsWithin(limits.STDIN_CLOSED_GRACE_MS))) signalGroup(pid, 'SIGTERM')
    if (!(await exitsWithin(limits.SIGTERM_GRACE_MS))) signalGroup(pid, 'SIGKILL')
    await this.#exited
    await this.#groupEnded
  }

  #onOutput(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#keep(chunk.subarray(start, end))
      const bytes = this.#bytes
      const line = Buffer.concat(this.#parts).toString('utf8')
      this.#parts = []
      this.#bytes = 0
      this.#onLine(line, bytes > this.#maxBytes ? tooLong(this.#maxBytes, bytes) : undefined)
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

  #onLine(line: string, problem = jsonProblem(line)): void {
    if (problem) {
      const details = { kind: 'unusable', requestId: Number(idIn(line)) || undefined } as const
      return this.onerror?.(new ServerFailure(`The server's answer ${problem}`, details))
    }
    // Some programs start their output with a byte order mark, which is white space to `trim`.
    const message = parsedJson(line.trim())
    if (message === undefined && line.trim() === '') return
    for (const each of Array.isArray(message) ? message : [message])
      if (isRecord(each) && each.jsonrpc === '2.0') {
        this.#server.messages.add('received', each, line.length)
        this.onmessage?.(each as unknown as JSONRPCMessage)
      } else this.#server.onJunk(line)
  }

  #end(): void {
    if (this.failure) return
    const rest = this.#bytes > this.#maxBytes ? '' : Buffer.concat(this.#parts).toString('utf8')
    if (rest !== '') this.#server.onJunk(rest)
    const { exitCode: code = null, signalCode = null } = this.#child ?? {}
    // For a process that never ran, Node reports the errno as its exit code.
    const exitCode = code !== null && code < 0 ? null : code
    const exit = exitCode === null ? 'the connection was closed' : `the server exited with code ${exitCode}`
    const cause = this.#reason ?? (signalCode === null ? exit : `the server was killed by ${signalCode}`)
    const message = rest === '' ? cause : `${cause} in the middle of a message`
    this.failure = new ServerFailure(message, { stderr: this.stderr, exitCode })
    clearTimeout(this.#stuck)
    const { stdin, stdout, stderr } = this.#child ?? {}
    for (const stream of [stdin, stdout, stderr]) stream?.destroy()
    this.onlost?.(this.failure)
    this.onclose?.()
  }
}

function inheritedEnvironment(): Record<string, string> {
  const known = INHERITED_VARIABLES.filter(name => process.env[name] !== undefined)
  return Object.fromEntries(known.map(name => [name, process.env[name] ?? '']))
}
