/** Log levels that Toolpost writes, least severe first. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

type Write = (fields: object, message?: string) => void

/** What Toolpost needs from a logger; a pino logger fits. */
export interface Logger {
  level: string
  isLevelEnabled(level: LogLevel): boolean
  debug: Write
  info: Write
  warn: Write
  error: Write
  child(bindings: Record<string, unknown>): Logger
}

const drop: Write = () => {}

/** The default: logs nothing. */
export const silentLogger: Logger = {
  level: 'silent',
  isLevelEnabled: () => false,
  debug: drop,
  info: drop,
  warn: drop,
  error: drop,
  child: () => silentLogger,
}
