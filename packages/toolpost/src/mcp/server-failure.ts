import { shownAddress } from '../logging/config-secrets.ts'
import { safeText } from '../logging/safe-value.ts'
import { ToolFailureError } from '../tools/tool-failure-error.ts'
import { describeThrown } from '../util/quietly.ts'
import { isHttp, type ServerEntry } from './server-entry.ts'

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
  retryAfterMs?: number | undefined
}

export function failureWith(cause: string, more?: Partial<ServerFailure>): ServerFailure {
  return { cause, stderr: '', exitCode: null, exitSignal: null, ...more }
}

export class NeverStartedError extends Error {
  override name = 'NeverStartedError'
}

/** The user has to log in to a server; the message says how. */
export class NeedsLoginError extends Error {
  override name = 'NeedsLoginError'
  /** The login is valid, but not for this request. */
  readonly lacksScope: boolean

  constructor(server: string, why: string, lacksScope: boolean) {
    super(`${why}; run \`toolpost auth ${server}\``)
    this.lacksScope = lacksScope
  }
}

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

const LOGGED_CHARACTERS = 4_000
const SHOWN_CHARACTERS = 2_000

/** The error of a call to an unavailable server, with details for fixing it. */
export function unavailable(
  server: string,
  { cause, stderr, exitCode, exitSignal, retryAfterMs }: ServerFailure,
  nextAttemptAt: string | undefined,
): ToolFailureError {
  const details = {
    server,
    stderr: lastLines(stderr),
    exitCode,
    ...(exitSignal !== null && { exitSignal }),
    ...(nextAttemptAt !== undefined && { nextAttemptAt }),
  }
  return new ToolFailureError('unavailable', `The ${server} service is unavailable: ${cause}`, {
    diagnosis: { details },
    retryAfterMs,
  })
}

export function fieldsOf({ cause, stderr, exitCode, exitSignal }: ServerFailure): object {
  return {
    error: safeText(cause),
    ...(exitCode !== null && { exit_code: exitCode }),
    ...(exitSignal !== null && { exit_signal: exitSignal }),
    ...(stderr !== '' && { stderr: safeText(stderr.slice(-LOGGED_CHARACTERS), LOGGED_CHARACTERS) }),
  }
}

/** The last lines of a text, starting with a whole line if possible. */
function lastLines(text: string): string {
  if (text.length <= SHOWN_CHARACTERS) return text
  const tail = text.slice(-SHOWN_CHARACTERS)
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

export interface FailedServer {
  name: string
  entry: ServerEntry
  attempts: number
  failure: ServerFailure
  consequence: string
}

/** The message for the user when a server is unavailable: what failed, why, what to do, and what still works. */
export function describeFailure({ name, entry, attempts, failure, consequence }: FailedServer): string {
  const { cause, needsLogin } = failure
  const stderr = lastLines(failure.stderr).replaceAll('\n', '\n      ') || '(nothing)'
  const kind = isHttp(entry) ? 'http' : 'stdio'
  const told = needsLogin
    ? [`🔑 Server '${name}' needs a login`, `   ${cause}`]
    : [
        `❌ Failed to initialize MCP tools after ${countOf(attempts)}`,
        `   Reason: Connection to ${kind} server '${name}' failed: ${cause}`,
        ...(isHttp(entry) ? [] : [`   MCP Server stderr: ${stderr}`]),
        `   Check: ${hintFor(name, entry)}`,
      ]
  return [...told, `⚠️ ${consequence}`].join('\n')
}

export function countOf(attempts: number): string {
  return `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`
}

/** What to check first: the server's own `hint`, or else its command or URL. */
export function hintFor(server: string, entry: ServerEntry): string {
  if (entry.hint !== undefined) return entry.hint
  if (isHttp(entry))
    return `the server at ${shownUrl(entry.url)} is running, and 'url' and 'headers' of '${server}' are correct`
  return `'${safeText(entry.command)}' is installed, and 'args', 'env' and 'cwd' of '${server}' are correct`
}

export function shownUrl(url: string): string {
  if (!URL.canParse(url)) return shownAddress(url)
  const { origin, pathname } = new URL(url)
  return safeText(`${origin}${pathname}`)
}
