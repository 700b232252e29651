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
  const { server, cause, stderr, exitCode, exitSignal, nextAttemptAt } = given
  const details = {
    server,
    stderr: lastLines(stderr, STDERR_SHOWN_CHARACTERS),
    exitCode,
    ...(exitSignal !== null && { exitSignal }),
    ...(nextAttemptAt !== undefined && { nextAttemptAt }),
  }
  return new ToolFailureError('unavailable', `The ${server} service is unavailable: ${cause}`, {
    diagnosis: { details },
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
