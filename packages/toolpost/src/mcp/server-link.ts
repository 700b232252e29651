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

/** A call as a link takes it. */
export interface LinkCall {
  tool: McpToolDefinition
  args: object
  from?: Requester | undefined
  onProgress: ((progress: Progress) => void) | undefined
  /** For the server, in `_meta`. */
  meta?: Readonly<Record<string, unknown>> | undefined
  /** Asks a server of 2025-11-25 to make it a task. */
  task?: { ttl: number } | undefined
  /** What the server asked for in place of a result. */
  answers?: InputAnswers | undefined
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

/** What a server says about itself. */
export interface ServerAbout {
  readonly capabilities: Readonly<Record<string, unknown>>
  readonly instructions: string | undefined
  /** Its name, version, title, icons … */
  readonly info: Readonly<Record<string, unknown>> | undefined
}

export interface LinkRequestOptions {
  /** What the server calls its question, if this is about one. */
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
  /** Whether arguments go along in headers, as the newest protocol wants over HTTP. */
  readonly mirrorsArguments: boolean
  readonly about: ServerAbout
  /** The tools that it had at the handshake, as it describes them. */
  readonly tools: readonly unknown[]
  call(call: LinkCall): Answer
  /** Any other request; the raw result. Rejects like a call, and with the reason of a signal that aborts. */
  request(method: string, params: object, options?: LinkRequestOptions): Promise<unknown>
  /** Has the server tell when a resource changes. Resolves to a function that ends it. */
  follow(uri: string): Promise<() => void>
  /** Resolves as soon as no call is under way. */
  idle(): Promise<void>
  /** What is kept of the server's stderr. */
  stderr(): string
  /** Ends the connection, and the process if there is one; `lost` is not told. Resolves when all is gone. */
  close(): Promise<void>
}

/** What a link tells its connection. */
export interface LinkEvents {
  /** The connection, once it was open, is gone. Told once, before the calls under way fail. */
  lost(failure: ServerFailure): void
  /** A notification; `from` is who it concerns, if that can be told. */
  notice(method: string, params: Readonly<Record<string, unknown>>, from?: Requester): void
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
  /** Answers what the server asks. */
  requests: ServerRequests
  secrets: readonly string[]
  /** At a server over HTTP, unless it has its own credentials. */
  login?: ServerLogin | undefined
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

/**
 * Whose doing it is what a server sends unasked: that of the requests under way, if they are all of one caller. Nobody
 * else is asked their questions or reads their log. Which of the requests it is cannot be told: all of them are held.
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

/** What there is to say of a server because it is connected. */
export function linkStatus(
  link: ServerLink | undefined,
): Pick<ServerStatus, 'pid' | 'protocolVersion' | 'capabilities'> {
  if (!link) return { pid: undefined, protocolVersion: undefined }
  const { pid, protocolVersion, about } = link
  return { pid, protocolVersion, capabilities: Object.keys(about.capabilities).slice(0, MAX_CAPABILITIES) }
}
