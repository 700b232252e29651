/** Log levels that Toolpost writes, least severe first. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

type Write = (fields: object, message?: string) => void
/** The levels with a method of their own. */
export type WriteLevel = 'debug' | 'info' | 'warn' | 'error'

/** What Toolpost needs from a logger; a pino logger fits. */
export interface Logger extends Record<WriteLevel, Write> {
  level: string
  isLevelEnabled(level: LogLevel): boolean
  child(bindings: Record<string, unknown>): Logger
}

export function writersOf(writer: (level: WriteLevel) => Write): Record<WriteLevel, Write> {
  return { debug: writer('debug'), info: writer('info'), warn: writer('warn'), error: writer('error') }
}

/** The default: logs nothing. */
export const silentLogger: Logger = {
  level: 'silent',
  isLevelEnabled: () => false,
  ...writersOf(() => () => {}),
  child: () => silentLogger,
}
