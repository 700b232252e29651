import type { Requester } from '../tools/caller.ts'
import type { Progress, ServerRequest } from '../tools/tool.ts'
import type { InputAnswers } from './input-rounds.ts'
import type { ServerLogin } from './oauth/server-login.ts'
import type { ServerEntry } from './server-entry.ts'
import type { ServerFailure } from './server-failure.ts'
import type { ServerRequests } from './server-requests.ts'
import type { ServerStatus } from './server-status.ts'
import type { McpToolDefinition } from './tool-definition.ts'

export type { Requester }

export interface LinkCall {
  tool: McpToolDefinition
  args: object
  from?: Requester | undefined
  onProgress: ((progress: Progress) => void) | undefined
  /** Sent to the server in `_meta`. */
  meta?: Readonly<Record<string, unknown>> | undefined
  /** Asks a server of 2025-11-25 to make it a task. */
  task?: { ttl: number } | undefined
  /** Answers to what the server asked in place of a result. */
  answers?: InputAnswers | undefined
  /** Called with the request once it has an id. */
  onRequest?: ((request: ServerRequest) => void) | undefined
}

/** A pending call. */
export interface PendingCall {
  /** The raw result; rejects with the server's refusal, or a ServerLostError. Never settles once cancelled. */
  readonly result: Promise<unknown>
  /** The caller gave up: notifies the server. */
  cancel(reason: string): void
}

/** What a server says about itself. */
export interface ServerAbout {
  readonly capabilities: Readonly<Record<string, unknown>>
  readonly instructions: string | undefined
  /** Its name, version, title, icons … */
  readonly info: Readonly<Record<string, unknown>> | undefined
}

export interface LinkRequestOptions {
  /** The server's key for its question, if this is about one. */
  key?: string | undefined
  from?: Requester | undefined
  signal?: AbortSignal | undefined
}

/** One connection to a server, from its handshake to its end. */
export interface ServerLink {
  readonly pid: number | undefined
  readonly protocolVersion: string | undefined
  /** Whether it has answered a call. */
  readonly hasAnswered: boolean
  /** Whether arguments are also sent in headers, as the newest protocol requires over HTTP. */
  readonly mirrorsArguments: boolean
  readonly about: ServerAbout
  /** The tools it listed at the handshake, unvalidated. */
  readonly tools: readonly unknown[]
  call(call: LinkCall): PendingCall
  /** Sends any other request; resolves to the raw result. Rejects like a call, or with the signal's reason. */
  request(method: string, params: object, options?: LinkRequestOptions): Promise<unknown>
  /** Subscribes to changes of a resource. Resolves to a function that unsubscribes. */
  follow(uri: string): Promise<() => void>
  /** Resolves as soon as no call is pending. */
  idle(): Promise<void>
  /** The tail of the server's stderr. */
  stderr(): string
  /** Closes the connection and ends the process, if any, without calling `lost`. Resolves when all is gone. */
  close(): Promise<void>
}

/** What a link reports to its connection. */
export interface LinkEvents {
  /** An open connection is gone. Called once, before the pending calls fail. */
  lost(failure: ServerFailure): void
  /** A notification; `from` is the caller it concerns, if that can be determined. */
  notice(method: string, params: Readonly<Record<string, unknown>>, from?: Requester): void
  /** The server wrote to stderr. */
  stderr(): void
  junk(line: string): void
  /** A response without a pending call. */
  stray(id: unknown, isLate: boolean): void
  /** A problem outside any call. */
  problem(message: string): void
}

/** What is needed to open a link. */
export interface LinkContext {
  events: LinkEvents
  /** Answers the server's own requests. */
  requests: ServerRequests
  secrets: readonly string[]
  /** For a server over HTTP without credentials in its configuration. */
  login?: ServerLogin | undefined
  /** What earlier attempts learned about this server, such as that it speaks only the newest protocol. */
  memory: { modernOnly?: boolean; sse?: boolean }
}

/** A connection to be opened. */
export interface Opening<Entry = ServerEntry> {
  entry: Entry
  context: LinkContext
  /** Aborts it, at any time. */
  signal: AbortSignal
}

/**
 * The caller that unsolicited messages of a server are for: that of the pending requests, if they all have the same one.
 * Nobody else gets their questions or logs. Which request a question belongs to is unknown, so all of them are held.
 */
export function soleRequester(underWay: Iterable<Requester | undefined>): Requester | undefined {
  const all = [...underWay].filter(each => each !== undefined)
  const [first, ...others] = all
  if (others.length === 0 || !first) return first
  if (others.some(({ peer }) => peer !== first.peer)) return undefined
  const { ask, sample } = first
  return {
    peer: first.peer,
    onLog: first.onLog,
    ...(ask && { ask: question => holdAll(others, () => ask(question)) }),
    ...(sample && { sample: (params, options) => holdAll(others, () => sample(params, options)) }),
  }
}

function holdAll<T>(requesters: readonly Requester[], wait: () => Promise<T>): Promise<T> {
  const held = (inner: () => Promise<T>, each: Requester) =>
    each.hold ? () => each.hold?.(inner) ?? inner() : inner
  return requesters.reduce(held, wait)()
}

const MAX_CAPABILITIES = 20

/** The part of a server's status that comes from its connection. */
export function linkStatus(
  link: ServerLink | undefined,
): Pick<ServerStatus, 'pid' | 'protocolVersion' | 'capabilities'> {
  if (!link) return { pid: undefined, protocolVersion: undefined }
  const { pid, protocolVersion, about } = link
  return { pid, protocolVersion, capabilities: Object.keys(about.capabilities).slice(0, MAX_CAPABILITIES) }
}
