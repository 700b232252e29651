import { PassThrough, type Readable, type Writable } from 'node:stream'
import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Logger } from './log.ts'
import { createServer } from './server.ts'
import type { ToolContext } from './tools/tool.ts'

export interface ServeOptions {
  readonly context: ToolContext
  readonly logger: Logger
  readonly stdin: Readable
  /** Carries JSON-RPC and nothing else. */
  readonly stdout: Writable
}

const ANSWER_MARGIN_MS = 2_000

/** Serves MCP until the client disconnects: it closes our stdin or stops reading our stdout. */
export async function serve({ context, logger, stdin, stdout }: ServeOptions): Promise<void> {
  const input = new PassThrough()
  const transport = new AnsweringTransport(input, stdout)
  const connection = serveStdio(() => createServer({ context, logger }), {
    transport,
    onerror: error => logger.warn({ error }, 'MCP error'),
  })
  const ended = new Promise(resolve => stdin.once('end', resolve).once('close', resolve))
  stdin.pipe(input, { end: false })
  // A client that writes its requests and closes the pipe still gets its answers; the SDK alone would drop them.
  const finished = ended.then(() => transport.whenAnswered(context.confirmTimeoutMs + ANSWER_MARGIN_MS))
  await Promise.race([transport.whenClosed, finished])
  await connection.close()
}

/** The SDK's stdio transport, which also tracks the requests that have not been answered yet. */
class AnsweringTransport extends StdioServerTransport {
  readonly #open = new Set<unknown>()
  #onIdle = () => {}
  #onClosed = () => {}

  /** Resolves when the connection is closed. */
  readonly whenClosed = new Promise<void>(resolve => {
    this.#onClosed = resolve
  })

  /** Resolves when every request so far has been answered, or after `maxMs`. */
  async whenAnswered(maxMs: number): Promise<void> {
    if (this.#open.size === 0) return
    await new Promise<void>(resolve => {
      setTimeout(resolve, maxMs)
      this.#onIdle = resolve
    })
  }

  override start(): Promise<void> {
    const deliver = this.onmessage
    this.onmessage = message => {
      this.#received(message)
      deliver?.(message)
    }
    return super.start()
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    await super.send(message)
    if (!('method' in message)) this.#settled(message.id)
  }

  override async close(): Promise<void> {
    await super.close()
    this.#onClosed()
  }

  #received(message: JSONRPCMessage): void {
    if (!('method' in message)) return
    // A subscription stays open for as long as the client is connected; a cancelled request gets no answer.
    if ('id' in message && message.method !== 'subscriptions/listen') this.#open.add(message.id)
    else if (message.method === 'notifications/cancelled') this.#settled(message.params?.requestId)
  }

  #settled(id: unknown): void {
    if (this.#open.delete(id) && this.#open.size === 0) this.#onIdle()
  }
}
