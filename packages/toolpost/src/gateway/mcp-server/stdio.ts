import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { type Readable, Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server'
import { quietLogger } from '../../logging/quiet-logger.ts'
import { idIn, jsonProblem } from '../../mcp/json-limit.ts'
import { unlessAborted } from '../../util/clock.ts'
import { isRecord } from '../../util/guards.ts'
import { ActiveCalls } from '../active-calls.ts'
import { type GatewayOptions, sourceOf } from '../context.ts'
import { jsonText } from '../http.ts'
import { DRAIN_MS, MAX_BODY_BYTES } from '../limits.ts'
import { createMethods, type McpMethodsOptions } from './methods.ts'
import { PARSE_ERROR } from './protocol.ts'

export interface StdioOptions
  extends Pick<GatewayOptions, 'project' | 'executor' | 'mcp' | 'logger'>,
    Pick<McpMethodsOptions, 'ask' | 'whenListed'> {
  stdin: Readable
  /** Carries JSON-RPC and nothing else. */
  stdout: Writable
  /** Stops serving once running calls are done. */
  signal?: AbortSignal | undefined
  drainMs?: number | undefined
}

/** Serves the tools as an MCP server on a pair of streams, until the client is gone or `signal` aborts. */
export async function serveTools(options: StdioOptions): Promise<void> {
  const { stdin, stdout, signal, ask, whenListed, drainMs = DRAIN_MS } = options
  const logger = quietLogger(options.logger)
  const source = sourceOf(options)
  const calls = new ActiveCalls()
  const methods = createMethods({ source, calls, ask, whenListed })
  const { peer } = methods.connect(lineTransport(stdin, stdout), { onProblem: logger.warn.bind(logger) })
  await peer.start()
  const ends = [once(stdin, 'end'), once(stdin, 'close'), once(stdout, 'close'), once(stdout, 'error')]
  const gone = Promise.race(ends)
  await (signal ? unlessAborted(gone, signal) : gone).catch(() => {})
  // The last lines are still read, and a client that wrote its requests and closed the pipe gets its responses.
  await setImmediate()
  await calls.drain(stdout.destroyed ? 0 : drainMs)
  // The last response is sent after that.
  await setImmediate()
  methods.close()
  await peer.close()
}

/** JSON-RPC messages, one per line. Over-long and malformed lines are reported and skipped. */
function lineTransport(stdin: Readable, stdout: Writable): Transport {
  const lines = createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY, terminal: false })
  const send = async (message: JSONRPCMessage | object) => {
    if (!stdout.destroyed) stdout.write(`${jsonText(message)}\n`)
  }
  const transport: Transport = {
    send,
    async start() {
      lines.on('line', read)
      stdout.on('error', error => transport.onerror?.(error))
    },
    async close() {
      lines.close()
      stdin.pause()
      transport.onclose?.()
    },
  }
  const refuse = (problem: string, id: number | string | null = null) => {
    transport.onerror?.(new Error(problem))
    void send({ jsonrpc: '2.0', id, error: { code: PARSE_ERROR, message: `Parse error: ${problem}` } })
  }
  const read = (line: string) => {
    const isTooLong = line.length > MAX_BODY_BYTES
    const problem = isTooLong ? `is larger than ${MAX_BODY_BYTES} bytes` : jsonProblem(line)
    if (problem) return refuse(`The message ${problem}`, idIn(line))
    if (line.trim() === '') return
    try {
      const message: unknown = JSON.parse(line)
      if (!isRecord(message)) return refuse('The line is not a JSON-RPC message')
      transport.onmessage?.(message as unknown as JSONRPCMessage)
    } catch (error) {
      refuse(`The line is not JSON: ${(error as Error).message}`)
    }
  }
  return transport
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
