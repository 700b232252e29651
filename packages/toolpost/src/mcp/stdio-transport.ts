import { setTimeout as pause } from 'node:timers/promises'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { isRecord } from '../runtime/guards.ts'
import { TooLargeError } from '../runtime/sliced-json.ts'
import { SLICE_MS } from '../runtime/slices.ts'
import { nextTurn } from '../runtime/turns.ts'
import {
  BYTES_PER_VALUE,
  LONG_LINE_ENDS_BYTES,
  MAX_LINE_BYTES,
  SDK_MESSAGE_MS,
  SLICED_OVER_CHARACTERS,
  UNASKED_BURST,
  UNASKED_PAUSE_MS,
} from './limits.ts'
import { type LineEnds, LineReader, type LongLine } from './line-reader.ts'
import { parseLongMessage } from './long-message.ts'
import type { StdioServerEntry } from './server-entry.ts'
import type { LinkEvents } from './server-link.ts'
import { ServerProcess } from './server-process.ts'

export interface StdioEvents extends Pick<LinkEvents, 'stderr' | 'junk' | 'stray' | 'problem'> {
  /** Sees every message first; returns `true` to keep it from the SDK. */
  intercept(message: Record<string, unknown>): boolean
  /** A message over the limits, of which only the two ends are known; `problem` describes what is wrong. */
  tooLarge(line: LineEnds, problem: string): void
  /** The process is gone; called before the SDK is notified. */
  ended(cause: string): void
}

/** Some programs start their output with it. */
const BOM = '\ufeff'

/**
 * A server's process as a transport for the MCP SDK. The SDK's own would do if servers always behaved: this one notices an
 * exit even if a grandchild holds the pipes, ends grandchildren too, survives lines of any length, drains stderr and
 * reports junk.
 */
export class StdioTransport implements Transport {
  onclose: (() => void) | undefined
  onerror: ((error: Error) => void) | undefined
  onmessage: Transport['onmessage']
  readonly process: ServerProcess
  readonly #events: StdioEvents
  readonly #lines: LineReader
  readonly #maxValues: number
  /** The ids of the SDK's pending requests. */
  readonly #requests = new Set<string>()
  /** Lines waiting for their turn: a long one is being parsed, or this turn has used up its time. */
  #backlog: string[] | undefined
  /** When this turn of the event loop has used up its time. */
  #turnEndsAt: number | undefined
  /** How many more messages were received than sent. */
  #unasked = 0
  /** How the process ended while a line was still being parsed. */
  #endCause: string | undefined
  #closed = false

  constructor(entry: StdioServerEntry, events: StdioEvents, secrets: readonly string[] = []) {
    this.#events = events
    const maxLineBytes = entry.maxLineBytes ?? MAX_LINE_BYTES
    this.#maxValues = maxLineBytes / BYTES_PER_VALUE
    this.#lines = new LineReader(
      {
        line: line => this.#readLine(line),
        tooLong: line => this.#events.tooLarge(line, tooLong(line, maxLineBytes)),
        endless: bytes => void this.process.stop(`the server wrote ${bytes} bytes without a line break`),
      },
      { maxLineBytes },
    )
    this.process = new ServerProcess(
      entry,
      {
        stderr: () => events.stderr(),
        output: chunk => this.#lines.push(chunk),
        ended: cause => this.#onEnd(cause),
        leftBehind: pids =>
          events.problem(`processes started by the server could not be killed: ${pids.join(', ')}`),
      },
      secrets,
    )
  }

  /** The constructor has started the process, so that it boots while the SDK is being loaded. */
  start(): Promise<void> {
    return this.process.started
  }

  // Together with `pid`, this is how the SDK tells a stdio transport from an HTTP one.
  get stderr(): null {
    return null
  }

  get pid(): number | null {
    return this.process.pid ?? null
  }

  send(message: JSONRPCMessage): Promise<void> {
    if ('method' in message && 'id' in message) this.#requests.add(keyOf(message.id))
    return this.write(message) ? SENT : Promise.reject(new Error('the server has stopped reading its stdin'))
  }

  /** Sends a message at the end of this turn; `false` if the server has too much unread input. */
  write(message: object): boolean {
    if (this.#unasked > 0) this.#unasked--
    return this.process.write(`${JSON.stringify(message)}\n`)
  }

  /** Fails the SDK's request with this id, or all without one. */
  refuse(message: string, id?: number): void {
    const ids = id === undefined ? [...this.#requests] : [keyOf(id)]
    for (const each of ids.filter(key => this.#requests.delete(key)))
      this.onmessage?.({ jsonrpc: '2.0', id: Number(each), error: { code: REFUSED, message } })
  }

  async close(): Promise<void> {
    await this.process.stop()
    // A process that never ran has no end to report.
    this.#onEnd('the connection was closed')
  }

  #readLine(given: string): void {
    const line = given.startsWith(BOM) ? given.slice(1) : given
    if (this.#backlog) this.#backlog.push(line)
    else if (line.length > SLICED_OVER_CHARACTERS) void this.#hold(() => this.#readLong(line))
    else {
      this.#turnEndsAt = this.#startTurn()
      this.#take(parse(line), line)
      if (performance.now() >= this.#turnEndsAt) void this.#hold(() => this.#nextTurn())
    }
  }

  /** Reads nothing until `work` is done: this keeps the order, and no more than one chunk waits. */
  async #hold(work: () => Promise<unknown>): Promise<void> {
    this.#backlog = []
    this.process.pause()
    await work()
    const waiting = this.#backlog
    this.#backlog = undefined
    for (const line of waiting) this.#readLine(line)
    if (this.#backlog) return
    this.process.resume()
    if (this.#endCause !== undefined) this.#end(this.#endCause)
  }

  async #readLong(line: string): Promise<void> {
    try {
      this.#take(await parseLongMessage(line, { maxValues: this.#maxValues }), line)
    } catch (error) {
      if (error instanceof TooLargeError) this.#events.tooLarge(endsOf(line), error.message)
      else this.#events.junk(line)
    }
  }

  #startTurn(): number {
    if (this.#turnEndsAt !== undefined) return this.#turnEndsAt
    setImmediate(() => {
      this.#turnEndsAt = undefined
    })
    return performance.now() + SLICE_MS
  }

  /** A server that keeps sending unsolicited messages gets only a share of this process's time. */
  async #nextTurn(): Promise<void> {
    if (this.#unasked > UNASKED_BURST) await pause(UNASKED_PAUSE_MS)
    await nextTurn(this)
  }

  #take(message: unknown, line: string): void {
    this.#unasked++
    if (Array.isArray(message)) for (const each of message) this.#receive(each, line)
    else if (message !== undefined || line.trim() !== '') this.#receive(message, line)
  }

  #receive(message: unknown, line: string): void {
    if (!isRecord(message) || message.jsonrpc !== '2.0') return this.#events.junk(line)
    try {
      if (this.#events.intercept(message)) return
      if ('method' in message || this.#requests.delete(keyOf(message.id))) this.#toSdk(message)
      else this.#events.stray(message.id, false)
    } catch (error) {
      this.onerror?.(error as Error)
    }
  }

  #toSdk(message: object): void {
    if (this.#turnEndsAt !== undefined) this.#turnEndsAt -= SDK_MESSAGE_MS
    this.onmessage?.(message as JSONRPCMessage)
  }

  /** A line still being parsed was written before the end. */
  #onEnd(cause: string): void {
    if (this.#backlog) this.#endCause ??= cause
    else this.#end(cause)
  }

  #end(cause: string): void {
    if (this.#closed) return
    this.#closed = true
    const rest = this.#lines.rest()
    if (rest !== '') this.#events.junk(rest)
    this.#events.ended(rest === '' ? cause : `${cause} in the middle of a message`)
    this.onclose?.()
  }
}

/** Our own JSON-RPC error code. */
const REFUSED = -32_000
const SENT = Promise.resolve()

function keyOf(id: unknown): string {
  return typeof id === 'number' || typeof id === 'string' ? String(id) : ''
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

function tooLong({ bytes, ended }: LongLine, maxLineBytes: number): string {
  return `is ${ended ? `${bytes} bytes long, ` : ''}over the limit of ${maxLineBytes} bytes (maxLineBytes)`
}

function endsOf(line: string): LineEnds {
  return { head: line.slice(0, LONG_LINE_ENDS_BYTES), tail: line.slice(-LONG_LINE_ENDS_BYTES), ended: true }
}
