import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { safeText } from '../logging/safe-value.ts'
import { newMark } from './group-watchdog.ts'
import {
  CLOSED_PIPE_GRACE_MS,
  EXIT_GRACE_MS,
  SIGTERM_GRACE_MS,
  STDERR_TOLD_EVERY_MS,
  STDIN_CLOSED_GRACE_MS,
} from './limits.ts'
import { adoptGroup, endGroup, type Group, lookAt, signalGroup } from './process-group.ts'
import type { StdioServerEntry } from './server-entry.ts'
import { NeverStartedError, type ServerFailure } from './server-failure.ts'
import { ServerInput } from './server-input.ts'
import { startProcess } from './start-process.ts'
import { StderrTail } from './stderr-tail.ts'

export interface ProcessEvents {
  /** It wrote to stderr. Called at most once a second. */
  stderr(): void
  /** The chunk is released afterwards: copy what is needed. */
  output(chunk: Buffer): void
  /** The process is gone and its output was read. Called once, also after `stop()`. */
  ended(cause: string): void
  /** Processes it started that could not be killed. */
  leftBehind(pids: readonly number[]): void
}

/**
 * A server's process, in its own group so that whatever it starts ends with it. Its stderr is always drained, because a
 * full pipe would block it.
 */
export class ServerProcess {
  readonly stderr: StderrTail
  /** Resolves when the process runs; rejects if it cannot be started. */
  readonly started: Promise<void>
  readonly #entry: StdioServerEntry
  readonly #events: ProcessEvents
  readonly #child: ChildProcessWithoutNullStreams | undefined
  readonly #input: ServerInput | undefined
  readonly #group: Group | undefined
  readonly #exited: Promise<void>
  #markExited = (): void => {}
  #groupEnded: Promise<void> = Promise.resolve()
  #hasEnded = false
  #stopping: Promise<void> | undefined
  #stderrTimer: NodeJS.Timeout | undefined
  /** Why we stopped it, if that says more than its exit code. */
  #reason: string | undefined

  constructor(entry: StdioServerEntry, events: ProcessEvents, secrets: readonly string[] = []) {
    this.#entry = entry
    this.#events = events
    this.stderr = new StderrTail(secrets)
    this.#exited = new Promise(resolve => {
      this.#markExited = resolve
    })
    try {
      const mark = newMark()
      this.#child = startProcess(entry, mark)
      if (this.#child.pid !== undefined) this.#group = adoptGroup(this.#child.pid, mark)
      this.#input = new ServerInput(
        this.#child.stdin,
        () => void this.stop('the server stopped reading its stdin'),
      )
      this.started = this.#listen(this.#child)
    } catch (error) {
      this.started = Promise.reject(this.#startError(error))
      this.#markExited()
    }
    this.started.catch(() => {})
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** How it ended, once it has. */
  get exit(): Pick<ServerFailure, 'exitCode' | 'exitSignal'> {
    const { exitCode = null, signalCode = null } = this.#child ?? {}
    // For a process that never ran, Node reports the errno as its exit code.
    return { exitCode: exitCode !== null && exitCode < 0 ? null : exitCode, exitSignal: signalCode }
  }

  /** Whether it has stopped reading its stdin. */
  get isStuck(): boolean {
    return this.#input?.isStuck === true
  }

  /** Whether enough was sent to it in this turn. */
  get hasEnough(): boolean {
    return this.#input?.hasEnough === true
  }

  /** Sends a line at the end of this turn; `false` if the server has too much unread input. */
  write(line: string): boolean {
    return this.#input?.write(line) ?? true
  }

  /** Stops reading output until `resume()`. */
  pause(): void {
    this.#child?.stdout.pause()
  }

  resume(): void {
    this.#child?.stdout.resume()
  }

  /** Ends the process and its children by closing its stdin, then SIGTERM, then SIGKILL. Resolves when they are gone. */
  stop(reason?: string): Promise<void> {
    this.#reason ??= reason
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #stop(): Promise<void> {
    const group = this.#group
    if (!group) return
    this.#input?.flush()
    lookAt(group)
    this.#child?.stdin.end()
    if (!(await this.#exitsWithin(STDIN_CLOSED_GRACE_MS))) signalGroup(group, 'SIGTERM')
    if (!(await this.#exitsWithin(SIGTERM_GRACE_MS))) signalGroup(group, 'SIGKILL')
    await this.#exited
    await this.#groupEnded
  }

  async #exitsWithin(ms: number): Promise<boolean> {
    const timer = new AbortController()
    const tooLate = pause(ms, false, { signal: timer.signal }).catch(() => false)
    const inTime = await Promise.race([this.#exited.then(() => true), tooLate])
    timer.abort()
    return inTime
  }

  #listen(child: ChildProcessWithoutNullStreams): Promise<void> {
    child.stdout.on('data', (chunk: Buffer) => {
      this.#events.output(chunk)
      releaseChunk(chunk)
    })
    child.stdout.on('end', () => this.#expectExit('the server closed its stdout'))
    child.stderr.on('data', (chunk: Buffer) => {
      this.stderr.push(chunk)
      releaseChunk(chunk)
      this.#stderrTimer ??= setTimeout(() => this.#tellStderr(), STDERR_TOLD_EVERY_MS).unref()
    })
    child.stdin.on('error', () => this.#expectExit('the server closed its stdin'))
    for (const stream of [child.stdout, child.stderr]) stream.on('error', () => {})
    child.on('exit', () => this.#onExit())
    child.on('close', () => this.#end())
    return new Promise((resolve, reject) => {
      child.on('spawn', resolve)
      child.on('error', error => {
        // A later error means that a signal could not be sent; the process keeps running.
        if (child.pid !== undefined) return
        this.#markExited()
        reject(this.#startError(error))
      })
    })
  }

  #tellStderr(): void {
    this.#stderrTimer = undefined
    if (!this.#hasEnded) this.#events.stderr()
  }

  /** A server that closed its stdin or stdout is useless: it exits on its own, or is stopped. */
  #expectExit(reason: string): void {
    const timer = setTimeout(() => void this.stop(reason), CLOSED_PIPE_GRACE_MS)
    this.#exited.then(() => clearTimeout(timer))
  }

  #onExit(): void {
    this.#groupEnded = this.#endGroup()
    this.#markExited()
    // `close` follows when all output was read, or never if a child of the server holds the pipes. The extra turns of
    // the event loop let in what arrived while this process was busy.
    setTimeout(() => setImmediate(() => setImmediate(() => this.#end())), EXIT_GRACE_MS)
  }

  async #endGroup(): Promise<void> {
    const left = this.#group ? await endGroup(this.#group) : []
    if (left.length > 0) this.#events.leftBehind(left)
  }

  #end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#input?.close()
    for (const stream of [this.#child?.stdin, this.#child?.stdout, this.#child?.stderr]) stream?.destroy()
    this.#events.ended(this.#reason ?? this.#exitCause())
  }

  #exitCause(): string {
    const { exitCode, exitSignal } = this.exit
    return exitSignal === null
      ? `the server exited with code ${exitCode}`
      : `the server was killed by ${exitSignal}`
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

/** Errors that an immediate retry does not change. */
const PERMANENT = ['ENOENT', 'EACCES', 'ENOTDIR', 'ENOEXEC']

/** A port that leads nowhere. */
const nowhere = new MessageChannel()
nowhere.port2.close()
nowhere.port1.close()

/** Smaller chunks are not worth the two microseconds. */
const MIN_BYTES = 16 * 1024

/**
 * Frees the memory of a chunk read from a stream immediately: V8 collects such chunks only when they add up to more than
 * 32 MB. A buffer transferred to a closed port is discarded. The chunk must have its own buffer, as those of sockets and
 * pipes do, and is empty afterwards.
 */
function releaseChunk({ buffer, length }: Buffer): void {
  if (length >= MIN_BYTES && buffer instanceof ArrayBuffer) nowhere.port1.postMessage(null, [buffer])
}
