import { LOG_LEVELS, type Logger, type LogLevel, writersOf } from '../logging/logger.ts'

export interface LogRecord {
  level: LogLevel
  message: string
  fields: Record<string, unknown>
}

export interface RecordingLogger extends Logger {
  readonly records: LogRecord[]
  at(level: LogLevel): LogRecord[]
  messages(level?: LogLevel): string[]
  /** Resolves with the record whose message contains `text`: the first, or the `number`th. */
  logged(text: string, number?: number): Promise<LogRecord>
  text(): string
}

/** A logger that keeps its records, for tests that check them or wait for them. */
export function recordingLogger(level: LogLevel = 'debug'): RecordingLogger {
  const records: LogRecord[] = []
  const waiting = new Set<() => void>()
  const isLevelEnabled = (wanted: LogLevel) => LOG_LEVELS.indexOf(wanted) >= LOG_LEVELS.indexOf(level)
  const at = (wanted: LogLevel) => records.filter(record => record.level === wanted)
  const logged = (text: string, number = 1) =>
    new Promise<LogRecord>(resolve => {
      const look = () => {
        const found = records.filter(record => record.message.includes(text))[number - 1]
        if (found && waiting.delete(look)) resolve(found)
      }
      waiting.add(look)
      look()
    })
  const make = (bindings: Record<string, unknown>): RecordingLogger => {
    const writer =
      (level: LogLevel) =>
      (fields: object, message = '') => {
        if (isLevelEnabled(level)) records.push({ level, message, fields: { ...bindings, ...fields } })
        for (const look of waiting) look()
      }
    return {
      level,
      records,
      isLevelEnabled,
      ...writersOf(writer),
      child: more => make({ ...bindings, ...more }),
      at,
      messages: wanted => (wanted ? at(wanted) : records).map(({ message }) => message),
      logged,
      text: () => records.map(record => JSON.stringify(record)).join('\n'),
    }
  }
  return make({})
}
