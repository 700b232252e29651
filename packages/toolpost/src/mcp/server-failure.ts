import { shownAddress } from '../logging/config-secrets.ts'
import { safeText } from '../logging/safe-value.ts'
import { describeThrown } from '../util/quietly.ts'
import { isHttp, type ServerEntry } from './server-entry.ts'

/** Why a server is not connected, or did not answer a request. The message is a phrase: `the server exited with code 1`. */
export class ServerFailure extends Error {
  override name = 'ServerFailure'
  /**
   * `permanent`: there is no such program. `lost`: lost before it answered, and the call may have been executed; `unsent`:
   * the call cannot have reached it. `unusable`: its answer is too large or malformed. `needs_login`, `lacks_scope`: the
   * user has to log in first. `failed`: anything else.
   */
  readonly kind: 'failed' | 'permanent' | 'lost' | 'unsent' | 'unusable' | 'needs_login' | 'lacks_scope' =
    'failed'
  readonly stderr: string = ''
  readonly exitCode: number | null = null
  readonly status: number | undefined
  readonly retryAfterMs: number | undefined
  /** The request whose answer is unusable, if that can be told. */
  readonly requestId: number | undefined

  constructor(
    message: string,
    details: Partial<Omit<ServerFailure, keyof Error | 'as' | 'isLoss' | 'logFields'>> = {},
  ) {
    super(message)
    Object.assign(this, details)
  }

  as(kind: ServerFailure['kind'], message = this.message): ServerFailure {
    return new ServerFailure(message, { ...this, kind })
  }

  get isLoss(): boolean {
    return this.kind === 'lost' || this.kind === 'unsent'
  }

  get logFields(): object {
    const { message, stderr, exitCode } = this
    return {
      error: safeText(message),
      ...(exitCode !== null && { exit_code: exitCode }),
      ...(stderr !== '' && { stderr: safeText(lastLines(stderr), SHOWN_CHARACTERS + 2) }),
    }
  }
}

/** The failure in an error or its causes: libraries wrap what they are thrown. */
export function failureIn(error: unknown): ServerFailure | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof ServerFailure) return cause
  return undefined
}

export const OUTCOME_UNKNOWN = '; the outcome of the call is unknown'

/** `is 12 bytes long, over the limit of 10 bytes (maxLineBytes)`. */
export function tooLong(maxBytes: number, bytes?: number): string {
  return `is ${bytes === undefined ? '' : `${bytes} bytes long, `}over the limit of ${maxBytes} bytes (maxLineBytes)`
}

const SHOWN_CHARACTERS = 2_000

export function lastLines(text: string): string {
  if (text.length <= SHOWN_CHARACTERS) return text
  const tail = text.slice(-SHOWN_CHARACTERS)
  return `… ${tail.slice(tail.indexOf('\n') + 1)}`
}

/** The message of an error and its causes, for people: short, on one line, without secrets. */
export function describeError(error: unknown): string {
  return safeText(fullMessage(error))
}

function fullMessage(error: unknown): string {
  if (!(error instanceof Error)) return describeThrown(error)
  // Node's AggregateError for a name with several addresses has no message of its own.
  const { cause = (error as { errors?: unknown[] }).errors?.[0] } = error
  const message = error.message.trim() || error.name
  const inner = cause instanceof Error ? fullMessage(cause) : ''
  // Libraries often append the cause's message to their own.
  return message.includes(inner) ? message : `${message}: ${inner}`
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
