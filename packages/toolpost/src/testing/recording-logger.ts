import { LOG_LEVELS, type Logger, type LogLevel } from '../logging/logger.ts'

export interface LogRecord {
  level: LogLevel
  message: string
  fields: Record<string, unknown>
}

export interface RecordingLogger extends Logger {
  readonly records: LogRecord[]
  /** The records of a level, in order. */
  at(level: LogLevel): LogRecord[]
  /** Everything that was logged, as the text that would stand in a file. */
  text(): string
}

/** A logger that keeps what it is given, for tests that look at it. */
export function recordingLogger(level: LogLevel = 'debug'): RecordingLogger {
  return makeLogger(level, [], {})
}

function makeLogger(
  level: LogLevel,
  records: LogRecord[],
  bindings: Record<string, unknown>,
): RecordingLogger {
  const isLevelEnabled = (wanted: LogLevel) => LOG_LEVELS.indexOf(wanted) >= LOG_LEVELS.indexOf(level)
  const writer =
    (at: LogLevel) =>
    (fields: object, message = '') => {
      if (isLevelEnabled(at)) records.push({ level: at, message, fields: { ...bindings, ...fields } })
    }
  return {
    level,
    records,
    isLevelEnabled,
    debug: writer('debug'),
    info: writer('info'),
    warn: writer('warn'),
    error: writer('error'),
    child: more => makeLogger(level, records, { ...bindings, ...more }),
    at: wanted => records.filter(record => record.level === wanted),
    text: () => records.map(record => JSON.stringify(record)).join('\n'),
  }
}
