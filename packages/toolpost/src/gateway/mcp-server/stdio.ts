import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type Readable, Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server'
import type { Logger } from '../../logging/logger.ts'
import { quietLogger } from '../../logging/quiet-logger.ts'
import { safeText } from '../../logging/safe-value.ts'
import { jsonProblem } from '../../mcp/json-limit.ts'
import { Peer } from '../../mcp/peer.ts'
import { unlessAborted } from '../../util/clock.ts'
import { isRecord } from '../../util/guards.ts'
import { ActiveCalls } from '../active-calls.ts'
import { Disconnected, jsonText } from '../http.ts'
import { DRAIN_MS, MAX_BODY_BYTES } from '../limits.ts'
import { McpMethods, type McpMethodsOptions } from './methods.ts'
import { PARSE_ERROR, Session } from './protocol.ts'

export interface StdioOptions extends Omit<McpMethodsOptions, 'calls'> {
  stdin: Readable
  /** Carries JSON-RPC and nothing else. */
  stdout: Writable
  /** Stops serving once running calls are done. */
  signal?: AbortSignal | undefined
  logger?: Logger | undefined
  drainMs?: number | undefined
}

/** Serves the tools as an MCP server on a pair of streams, until the client is gone or `signal` aborts. */
export async function serveTools(options: StdioOptions): Promise<void> {
  const { stdin, stdout, signal, drainMs = DRAIN_MS } = options
  const logger = quietLogger(options.logger)
  const calls = new ActiveCalls()
  const methods = new McpMethods({ ...options, calls })
  const transport = new LineTransport(stdin, stdout)
  const session = new Session(randomUUID(), (method, params) => {
    // Clients of the newest protocol do not initialize, and hear of changes only if they listen.
    if (session.version !== '') peer.notify(method, params)
  })
  const peer: Peer = new Peer(transport, {
    methods: methods.begin(session, () => undefined),
    onError: error => logger.warn({ error: safeText(error.message) }, 'MCP client problem'),
    onClose: () => {
      methods.end(session)
      return new Disconnected('Connection closed')
    },
  })
  await peer.start()
  const ends = [once(stdin, 'end'), once(stdin, 'close'), once(stdout, 'close'), once(stdout, 'error')]
  const gone = Promise.race(ends)
  await (signal ? unlessAborted(gone, signal) : gone).catch(() => {})
  // A client that wrote its requests and closed the pipe still gets its responses.
  if (session.running.size > 0 && !stdout.destroyed) {
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, drainMs)
      session.onIdle = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    // The last response is sent after that.
    await setImmediate()
  }
  methods.close()
  await peer.close()
  calls.abort()
}

/** JSON-RPC messages, one per line. Over-long and malformed lines are reported and skipped. */
class LineTransport implements Transport {
  onmessage?: Transport['onmessage']
  onclose?: () => void
  onerror?: (error: Error) => void
  readonly #stdin: Readable
  readonly #stdout: Writable
  #chunks: Buffer[] = []
  #bytes = 0
  #isClosed = false

  constructor(stdin: Readable, stdout: Writable) {
    this.#stdin = stdin
    this.#stdout = stdout
    stdout.on('error', error => this.onerror?.(error))
  }

  async start(): Promise<void> {
    this.#stdin.on('data', this.#read)
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) return
    this.#stdout.write(`${jsonText(message)}\n`)
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#stdin.off('data', this.#read).pause()
    this.onclose?.()
  }

  readonly #read = (chunk: Buffer | string): void => {
    let rest = Buffer.from(chunk)
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      this.#keep(rest.subarray(0, end))
      this.#takeLine()
      rest = rest.subarray(end + 1)
    }
    this.#keep(rest)
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length
    if (this.#bytes <= MAX_BODY_BYTES) this.#chunks.push(part)
  }

  /** Takes the line that has been read. */
  #takeLine(): void {
    const isTooLong = this.#bytes > MAX_BODY_BYTES
    const text = Buffer.concat(this.#chunks.splice(0)).toString()
    this.#bytes = 0
    const problem = isTooLong ? `is larger than ${MAX_BODY_BYTES} bytes` : jsonProblem(text)
    if (problem) return this.#refuse(`The message ${problem}`)
    if (text.trim() === '') return
    let message: unknown
    try {
      message = JSON.parse(text)
    } catch (error) {
      return this.#refuse(`The line is not JSON: ${(error as Error).message}`)
    }
    if (isRecord(message)) this.onmessage?.(message as unknown as JSONRPCMessage)
    else this.#refuse('The line is not a JSON-RPC message')
  }

  #refuse(problem: string): void {
    this.onerror?.(new Error(problem))
    const error = { code: PARSE_ERROR, message: `Parse error: ${problem}` }
    this.#stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: null, error })}\n`)
  }
}

/**
 * Reserves stdout for JSON-RPC: from now on, whatever is written to `process.stdout` (a `console.log` in a tool, say)
 * goes to stderr. Only the returned stream still writes to stdout.
 */
export function guardStdout(
  stdout: NodeJS.WriteStream = process.stdout,
  stderr: NodeJS.WriteStream = process.stderr,
): Writable {
  const writeOut = stdout.write.bind(stdout)
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write
  const guarded = new Writable({
    decodeStrings: false,
    write: (chunk: Uint8Array | string, _encoding, done) => void writeOut(chunk, error => done(error)),
  })
  // A client that exits closes the pipe: pass the error on to the owner of the guarded stream.
  stdout.on('error', error => guarded.destroy(error))
  return guarded
}
