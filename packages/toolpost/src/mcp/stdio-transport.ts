import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { isRecord } from '../runtime/guards.ts'
import { MAX_LINE_BYTES } from './limits.ts'
import { LineReader, type LongLine } from './line-reader.ts'
import type { StdioServerEntry } from './server-entry.ts'
import { ServerProcess } from './server-process.ts'

export interface StdioEvents {
  /** Sees every message first; what it takes, the SDK does not get. */
  intercept(message: Record<string, unknown>): boolean
  /** A line that is no message. */
  junk(line: string): void
  tooLong(line: LongLine, maxLineBytes: number): void
  /** The process is gone; told before the SDK is. `cause` is in words. */
  ended(cause: string): void
}

/** More than this is not held back until the end of the turn. */
const MAX_OUTBOX_CHARACTERS = 1024 * 1024

/**
 * A server's process as a transport of the MCP SDK. The SDK's own would do, were servers always well: this one
 * notices a death although a grandchild holds the pipes, ends grandchildren too, survives lines of any length,
 * reads stderr and reports junk.
 */
export class StdioTransport implements Transport {
  onclose: (() => void) | undefined
  onerror: ((error: Error) => void) | undefined
  onmessage: Transport['onmessage']
  readonly process: ServerProcess
  readonly #events: StdioEvents
  readonly #lines: LineReader
  #outbox = ''
  #closed = false

  constructor(entry: StdioServerEntry, events: StdioEvents, secrets: readonly string[] = []) {
    this.#events = events
    const maxLineBytes = entry.maxLineBytes ?? MAX_LINE_BYTES
    this.#lines = new LineReader(
      {
        line: line => this.#readLine(line),
        tooLong: line => this.#events.tooLong(line, maxLineBytes),
        endless: bytes => void this.process.stop(`the server wrote ${bytes} bytes without a line end`),
      },
      { maxLineBytes },
    )
    this.process = new ServerProcess(
      entry,
      { output: chunk => this.#lines.push(chunk), ended: cause => this.#ended(cause) },
      secrets,
    )
  }

  /** The process was started by the constructor: it boots while the SDK is being loaded. */
  start(): Promise<void> {
    return this.process.started
  }

  // Together with `pid` this is how the SDK tells a stdio transport from one over HTTP.
  get stderr(): null {
    return null
  }

  get pid(): number | null {
    return this.process.pid ?? null
  }

  send(message: JSONRPCMessage): Promise<void> {
    this.write(message)
    return SENT
  }

  /** Sends at the end of this turn of the event loop, together with what else is sent in it. */
  write(message: object): void {
    const line = `${JSON.stringify(message)}\n`
    if (this.#outbox === '') setImmediate(() => this.#flush())
    this.#outbox += line
    if (this.#outbox.length > MAX_OUTBOX_CHARACTERS) this.#flush()
  }

  #flush(): void {
    const text = this.#outbox
    this.#outbox = ''
    if (text !== '' && !this.#closed) this.process.write(text)
  }

  async close(): Promise<void> {
    this.#flush()
    await this.process.stop()
    // A process that never ran has no end to report.
    this.#ended('the connection was closed')
  }

  #readLine(line: string): void {
    if (line === '' || line === '\r') return
    const message = parse(line)
    if (Array.isArray(message)) for (const each of message) this.#receive(each, line)
    else this.#receive(message, line)
  }

  #receive(message: unknown, line: string): void {
    if (!isRecord(message) || message.jsonrpc !== '2.0') return this.#events.junk(line)
    try {
      if (!this.#events.intercept(message)) this.onmessage?.(message as unknown as JSONRPCMessage)
    } catch (error) {
      this.onerror?.(error as Error)
    }
  }

  #ended(cause: string): void {
    if (this.#closed) return
    this.#closed = true
    const rest = this.#lines.rest()
    if (rest !== '') this.#events.junk(rest)
    this.#events.ended(rest === '' ? cause : `${cause} in the middle of a message`)
    this.onclose?.()
  }
}

const SENT = Promise.resolve()

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
