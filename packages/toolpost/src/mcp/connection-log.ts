import type { Logger } from '../logging/logger.ts'
import { safeText } from '../logging/safe-value.ts'
import { countOf } from './failure-report.ts'
import type { ServerFailure } from './server-failure.ts'

/** Everything that is logged about one server's connection. */
export class ConnectionLog {
  readonly logger: Logger
  #junkLines = 0
  #warnings = 0

  constructor(logger: Logger, server: string) {
    this.logger = logger.child({ server })
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

  /** `report` is the whole of it for a person. */
  failed(failure: ServerFailure, attempts: number, report: string): void {
    this.logger.error(
      { attempts, ...fieldsOf(failure), report },
      `MCP connection failed after ${countOf(attempts)}`,
    )
  }

  lost(failure: ServerFailure): void {
    this.logger.error(fieldsOf(failure), 'MCP connection lost')
  }

  /** The first one is a warning; a server that writes many would fill the log. */
  junk(line: string): void {
    const level = this.#junkLines++ === 0 ? 'warn' : 'debug'
    if (!this.logger.isLevelEnabled(level)) return
    this.logger[level](
      { line: safeText(line) },
      `MCP server wrote to stdout what is no message: ${safeText(line, 200)}`,
    )
  }

  stray(id: unknown, isLate: boolean): void {
    if (isLate) this.logger.info({ id }, 'Late answer of an MCP server dropped: the call had ended')
    else
      this.logger.warn({ id: safeText(String(id)) }, 'Answer of an MCP server dropped: no call waits for it')
  }

  problem(message: string): void {
    this.#warn({ problem: safeText(message) }, 'MCP connection problem')
  }

  /** What a server can cause as often as it likes must not fill the log. */
  #warn(fields: object, message: string): void {
    this.logger[this.#warnings++ < MAX_WARNINGS ? 'warn' : 'debug'](fields, message)
  }
}

const MAX_STDERR = 4_000
const MAX_WARNINGS = 100

function fieldsOf({ cause, stderr, exitCode, exitSignal }: ServerFailure): object {
  return {
    error: safeText(cause),
    ...(exitCode !== null && { exit_code: exitCode }),
    ...(exitSignal !== null && { exit_signal: exitSignal }),
    ...(stderr !== '' && { stderr: safeText(stderr.slice(-MAX_STDERR), MAX_STDERR) }),
  }
}
