import { safeText } from '../logging/safe-value.ts'
import { ToolFailureError } from '../tools/tool-failure-error.ts'
import { describeThrown } from '../util/quietly.ts'

/** How a connection ended, or why it was never established. */
export interface ServerFailure {
  /** A phrase without a full stop: `the server exited with code 1`. */
  cause: string
  /** The tail of its stderr; empty for a server over HTTP. */
  stderr: string
  exitCode: number | null
  exitSignal: string | null
  /** The server needs a login, and is not retried before there is one. */
  needsLogin?: boolean
  /** There is no such program, so an immediate retry is pointless. */
  isPermanent?: boolean
  /** Of an HTTP server that refused the handshake. */
  status?: number | undefined
  /** The server's Retry-After. */
  retryAfterMs?: number | undefined
}

/** A failure with nothing but a cause. */
export function failureWith(cause: string): ServerFailure {
  return { cause, stderr: '', exitCode: null, exitSignal: null }
}

/** A program is missing or may not be executed. */
export class NeverStartedError extends Error {
  override name = 'NeverStartedError'
}

/** The user has to log in to a server; the message says how. */
export class NeedsLoginError extends Error {
  override name = 'NeedsLoginError'
  /** The login is valid, but not for this request. */
  readonly lacksScope: boolean

  constructor(server: string, { why, lacksScope }: { why: string; lacksScope: boolean }) {
    super(`${why}; run \`toolpost auth ${server}\``)
    this.lacksScope = lacksScope
  }
}

/** The NeedsLoginError behind an error, if any. */
export function neededLogin(error: unknown): NeedsLoginError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof NeedsLoginError) return cause
  return undefined
}

/** The server was lost before it answered a call. Whether the call was executed is unknown. */
export class ServerLostError extends Error {
  override name = 'ServerLostError'
  /** The call cannot have reached the server. */
  readonly neverSent: boolean

  constructor(cause: string, { neverSent = false } = {}) {
    super(cause)
    this.neverSent = neverSent
  }
}

/** Appended to the error of a call that may have been executed. */
export const OUTCOME_UNKNOWN = '; the outcome of the call is unknown'

/** The response to a call is unusable: too large, or malformed. Whether the call was executed is unknown. */
export class UnusableAnswerError extends Error {
  override name = 'UnusableAnswerError'
}

/** `is 12 bytes long, over the limit of 10 bytes (maxLineBytes)`. */
export function tooLong(maxBytes: number, bytes?: number): string {
  return `is ${bytes === undefined ? '' : `${bytes} bytes long, `}over the limit of ${maxBytes} bytes (maxLineBytes)`
}

const SHOWN_STDERR_CHARACTERS = 2_000

/** The error of a call to an unavailable server, with details for fixing it. */
export function unavailable(
  server: string,
  { cause, stderr, exitCode, exitSignal, retryAfterMs }: ServerFailure,
  nextAttemptAt: string | undefined,
): ToolFailureError {
  const details = {
    server,
    stderr: lastLines(stderr, SHOWN_STDERR_CHARACTERS),
    exitCode,
    ...(exitSignal !== null && { exitSignal }),
    ...(nextAttemptAt !== undefined && { nextAttemptAt }),
  }
  return new ToolFailureError('unavailable', `The ${server} service is unavailable: ${cause}`, {
    diagnosis: { details },
    retryAfterMs,
  })
}

/** The last lines of `text`, at most `maxCharacters`, starting with a whole line if possible. */
export function lastLines(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text
  const tail = text.slice(-maxCharacters)
  return `… ${tail.slice(tail.indexOf('\n') + 1)}`
}

/** The message of an error and its causes, for people: short, on one line, without secrets. */
export function describeError(error: unknown): string {
  try {
    return safeText(fullMessage(error))
  } catch {
    // Its properties throw when they are read.
    return describeThrown(error)
  }
}

function fullMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // Node's AggregateError for a name with several addresses has no message of its own.
  const { cause = (error as { errors?: unknown[] }).errors?.[0] } = error
  const message = error.message.trim() || error.name
  const inner = cause instanceof Error ? fullMessage(cause) : ''
  // Libraries often append the cause's message to their own.
  return message.includes(inner) ? message : `${message}: ${inner}`
}
