import type { Progress, ServerRequest } from '../tools/tool.ts'
import type { ServerEntry } from './server-entry.ts'
import type { ServerFailure } from './server-failure.ts'
import type { McpToolDefinition } from './tool-definition.ts'

/** A call as a link takes it. */
export interface LinkCall {
  tool: McpToolDefinition
  args: object
  onProgress: ((progress: Progress) => void) | undefined
  /** For the server, in `_meta`. */
  meta?: Readonly<Record<string, unknown>> | undefined
  /** Told of the request once it has an id. */
  onRequest?: ((request: ServerRequest) => void) | undefined
}

/** A call under way. */
export interface Answer {
  /** The raw result; rejects with the server's refusal, or a ServerLostError. Never settles once cancelled. */
  readonly result: Promise<unknown>
  /** The caller gave up: the server is told. */
  cancel(reason: string): void
}

/** One connection to a server, from its handshake to its end. */
export interface ServerLink {
  readonly pid: number | undefined
  readonly protocolVersion: string | undefined
  /** Whether it has answered a call. */
  readonly hasAnswered: boolean
  /** The tools that it had at the handshake, as it describes them. */
  readonly tools: readonly unknown[]
  call(call: LinkCall): Answer
  /** The tools that it has now. */
  listTools(timeoutMs: number): Promise<unknown[]>
  /** What is kept of the server's stderr. */
  stderr(): string
  /** Ends the connection, and the process if there is one; `lost` is not told. Resolves when all is gone. */
  close(): Promise<void>
}

/** What a link tells its connection. */
export interface LinkEvents {
  /** The connection, once it was open, is gone. Told once, before the calls under way fail. */
  lost(failure: ServerFailure): void
  toolsChanged(): void
  /** The server wrote to stderr. */
  stderr(): void
  junk(line: string): void
  /** An answer without a pending call. */
  stray(id: unknown, isLate: boolean): void
  /** A problem that concerns no call. */
  problem(message: string): void
}

/** What is needed to open a link. */
export interface LinkContext {
  events: LinkEvents
  secrets: readonly string[]
  /** What earlier attempts learned of this server, such as that it knows only the newest protocol. */
  memory: { modernOnly?: boolean; sse?: boolean }
}

/** A connection that is to be made. */
export interface Opening<Entry = ServerEntry> {
  entry: Entry
  context: LinkContext
  /** Gives it up, at any time. */
  signal: AbortSignal
}
