import { PassThrough, type Readable, type Writable } from 'node:stream'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { AnsweringTransport } from './answering-transport.ts'
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
