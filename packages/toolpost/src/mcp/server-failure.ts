import { safeText } from '../logging/safe-value.ts'
import { describeThrown } from '../runtime/quietly.ts'
import { ToolFailureError } from '../tools/tool-failure-error.ts'
import { STDERR_SHOWN_CHARACTERS } from './limits.ts'
import { lastLines } from './stderr-tail.ts'

/** How a connection ended or why it never came about. */
export interface ServerFailure {
  /** In words, without a full stop: `the server exited with code 1`. */
  cause: string
  /** What is kept of its stderr; empty for a server over HTTP. */
  stderr: string
  exitCode: number | null
  exitSignal: string | null
  /** Only a login helps; no attempt is made before there is one. */
  needsLogin?: boolean
  /** There is no such program: trying again a moment later changes nothing. */
  isPermanent?: boolean
  /** When the server wants to be tried again. */
  retryAfterMs?: number | undefined
}

/** A failure of which no more is known than its cause. */
export function failureWith(cause: string): ServerFailure {
  return { cause, stderr: '', exitCode: null, exitSignal: null }
}

/** A connection that could not be made. */
export class ConnectError extends Error {
  override name = 'ConnectError'
  readonly failure: ServerFailure

  constructor(failure: ServerFailure, options?: { cause?: unknown }) {
    super(failure.cause, options)
    this.failure = failure
  }
}

/** A program that is not there, or that nobody may run. */
export class NeverStartedError extends Error {
  override name = 'NeverStartedError'
}

/** Whether that is what is behind an error. */
export function neverStarted(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof NeverStartedError) return true
  return false
}

/** Marks an error for the SDK: it is about a login, and says nothing of the protocol that a server speaks. */
export function aboutLogin(error: unknown): unknown {
  return error instanceof Error ? Object.assign(error, { [Symbol.for('mcp.authSeamEscape')]: true }) : error
}

/** A server that wants a person to log in; the message says how. */
export class NeedsLoginError extends Error {
  override name = 'NeedsLoginError'
  /** The login is good, but not for what was asked. */
  readonly lacksScope: boolean

  constructor(server: string, { why, lacksScope }: { why: string; lacksScope: boolean }) {
    super(`${why}; run \`toolpost auth ${server}\``)
    this.lacksScope = lacksScope
  }
}

/** The request for a login behind an error, if that is what it is. */
export function neededLogin(error: unknown): NeedsLoginError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof NeedsLoginError) return cause
  return undefined
}

/** A call whose server went away before it answered. Whether it was carried out is not known. */
export class ServerLostError extends Error {
  override name = 'ServerLostError'
  /** The call cannot have reached the server. */
  readonly neverSent: boolean

  constructor(cause: string, { neverSent = false } = {}) {
    super(cause)
    this.neverSent = neverSent
  }
}

/** What is said of a call that may have been carried out. */
export const OUTCOME_UNKNOWN = '; the outcome of the call is unknown'

/** A call whose answer is of no use: too large, or not one at all. Whether it was carried out is not known either. */
export class UnusableAnswerError extends Error {
  override name = 'UnusableAnswerError'
}

export interface Unavailability extends ServerFailure {
  server: string
  /** ISO time of the next attempt to reach it, if there is one. */
  nextAttemptAt: string | undefined
}

/** The error of a call to a server that is not there, with what helps to get it back. */
export function unavailable(given: Unavailability): ToolFailureError {
  const { server, cause, stderr, exitCode, exitSignal, nextAttemptAt, retryAfterMs } = given
  const details = {
    server,
    stderr: lastLines(stderr, STDERR_SHOWN_CHARACTERS),
    exitCode,
    ...(exitSignal !== null && { exitSignal }),
    ...(nextAttemptAt !== undefined && { nextAttemptAt }),
  }
  return new ToolFailureError('unavailable', `The ${server} service is unavailable: ${cause}`, {
    diagnosis: { details },
    retryAfterMs,
  })
}

/** The message of an error and of what caused it, for people: short, on one line, without secrets. */
export function describeError(error: unknown): string {
  try {
    return safeText(fullMessage(error))
  } catch {
    // It throws when it is looked at.
    return describeThrown(error)
  }
}

function fullMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const inner = error.cause instanceof Error ? fullMessage(error.cause) : innerOf(error)
  const message = error.message.trim() || error.name
  return inner && !message.includes(inner) ? `${message}: ${inner}` : message
}

/** Node's failed connections to a name with several addresses say nothing but their parts. */
function innerOf(error: Error): string | undefined {
  const { errors } = error as { errors?: unknown }
  return Array.isArray(errors) && errors[0] instanceof Error ? errors[0].message : undefined
}
