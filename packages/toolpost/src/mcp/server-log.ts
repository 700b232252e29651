import type { Logger } from '../logging/logger.ts'
import { RateLimitedLog } from '../logging/rate-limit.ts'
import { safeText, safeValue } from '../logging/safe-value.ts'
import type { Clock } from '../runtime/clock.ts'
import { countOf } from './failure-report.ts'
import type { ServerFailure } from './server-failure.ts'

/** Everything logged about one server. */
export class ServerLog {
  readonly logger: Logger
  /** For events a server can cause as often as it likes. */
  readonly #limited: RateLimitedLog
  #junkLines = 0

  constructor(logger: Logger, server: string, clock: Clock) {
    this.logger = logger.child({ server })
    this.#limited = new RateLimitedLog(this.logger, { clock })
  }

  get junkLines(): number {
    return this.#junkLines
  }

  attempt(attempt: number, delayMs: number): void {
    this.logger.info({ attempt, delay_ms: delayMs }, `MCP connection attempt ${attempt} after ${delayMs} ms`)
  }

  succeeded(attempt: number, tools: number): void {
    this.logger.info({ attempt, tools }, `MCP connection succeeded on attempt ${attempt}`)
  }

  attemptFailed(failure: ServerFailure, attempt: number, nextDelayMs: number): void {
    const fields = { attempt, ...fieldsOf(failure), next_delay_ms: nextDelayMs }
    this.logger.warn(fields, `MCP connection attempt ${attempt} failed, next one in ${nextDelayMs} ms`)
  }

  /** `report` is the full message for the user. */
  failed(failure: ServerFailure, attempts: number, report: string): void {
    this.logger.error(
      { attempts, ...fieldsOf(failure), report },
      `MCP connection failed after ${countOf(attempts)}`,
    )
  }

  needsLogin(failure: ServerFailure): void {
    this.logger.warn(fieldsOf(failure), 'MCP server needs a login')
  }

  lost(failure: ServerFailure): void {
    this.logger.error(fieldsOf(failure), 'MCP connection lost')
  }

  /** Only the first is a warning: a server that writes to the wrong stream keeps doing it. */
  junk(line: string): void {
    this.#limited.write(this.#junkLines++ === 0 ? 'warn' : 'debug', 'Non-JSON-RPC lines on stdout', () => [
      { line: safeText(line) },
      `MCP server wrote a non-JSON-RPC line to stdout: ${safeText(line, 200)}`,
    ])
  }

  stray(id: unknown, isLate: boolean): void {
    if (isLate)
      this.#limited.write('info', 'Late responses from an MCP server', () => [
        { id },
        'Dropped a late response from an MCP server: the call had already ended',
      ])
    else
      this.#limited.write('warn', 'Responses without a pending call', () => [
        { id: safeText(JSON.stringify(id) ?? 'none') },
        'Dropped a response from an MCP server: no pending call with this id',
      ])
  }

  /** What the server logs through the protocol, at its own level. */
  message(level: string, data: unknown): void {
    const ours = LEVELS.get(level) ?? 'info'
    this.#limited.write(ours, `Log messages from an MCP server (${ours})`, () => [
      { data: safeValue(data) },
      `MCP server: ${safeText(typeof data === 'string' ? data : (JSON.stringify(safeValue(data)) ?? ''), 500)}`,
    ])
  }

  problem(message: string): void {
    this.#limited.write('warn', 'MCP connection problems', () => [
      { problem: safeText(message) },
      'MCP connection problem',
    ])
  }

  /** Flushes the pending counts. */
  close(): void {
    this.#limited.close()
  }
}

const MAX_STDERR = 4_000

/** Maps the levels of MCP, which are those of syslog, to ours. */
const LEVELS = new Map<string, 'debug' | 'info' | 'warn' | 'error'>([
  ['debug', 'debug'],
  ['info', 'info'],
  ['notice', 'info'],
  ['warning', 'warn'],
  ['error', 'error'],
  ['critical', 'error'],
  ['alert', 'error'],
  ['emergency', 'error'],
])

function fieldsOf({ cause, stderr, exitCode, exitSignal }: ServerFailure): object {
  return {
    error: safeText(cause),
    ...(exitCode !== null && { exit_code: exitCode }),
    ...(exitSignal !== null && { exit_signal: exitSignal }),
    ...(stderr !== '' && { stderr: safeText(stderr.slice(-MAX_STDERR), MAX_STDERR) }),
  }
}
