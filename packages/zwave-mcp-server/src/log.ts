const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const

export type LogLevel = (typeof LEVELS)[number]
type Fields = Readonly<Record<string, unknown>>
type Write = (fields: Fields, message: string) => void

/** One record per call, in pino's shape, so a pino logger works wherever this one does. */
export type Logger = Readonly<Record<Exclude<LogLevel, 'silent'>, Write>>

export interface LoggerOptions {
  readonly level: LogLevel
  /** Receives one line, without the line break. */
  readonly write: (line: string) => void
  /** Human-readable lines for a terminal; otherwise JSON. */
  readonly pretty?: boolean
}

const MAX_TEXT_LENGTH = 500
const SECRET_KEYS =
  /password|secret|apikey|authorization|credential|token$|^(?:pass|pin|auth)$|usercode|networkkey/
const URL_PASSWORD = /(:\/\/[^\s/:@]{0,100}:)[^\s@]{1,200}@/g

export function isLogLevel(text: string): text is LogLevel {
  return (LEVELS as readonly string[]).includes(text)
}

/** A logger that writes lines: long strings shortened, control characters escaped, secrets redacted. */
export function createLogger({ level, write, pretty = false }: LoggerOptions): Logger {
  const at = (name: LogLevel): Write => {
    if (LEVELS.indexOf(name) < LEVELS.indexOf(level)) return () => {}
    return (fields, message) => write((pretty ? prettyLine : jsonLine)(name, fields, message))
  }
  return { trace: at('trace'), debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

/** A logger that drops everything. */
export const SILENT: Logger = createLogger({ level: 'silent', write: () => {} })

/** The logger of a command: to stderr. */
export function stderrLogger(level: LogLevel): Logger {
  const write = (line: string) => void process.stderr.write(`${line}\n`)
  return createLogger({ level, write, pretty: process.stderr.isTTY })
}

function jsonLine(level: LogLevel, fields: Fields, message: string): string {
  return JSON.stringify({ time: new Date().toISOString(), level, ...fields, msg: message }, clean)
}

function prettyLine(level: LogLevel, fields: Fields, message: string): string {
  const time = new Date().toISOString().slice(11, 23)
  return `${time} ${level.toUpperCase().padEnd(5)} ${message} ${JSON.stringify(fields, clean)}`
}

function clean(key: string, value: unknown): unknown {
  if (SECRET_KEYS.test(key.toLowerCase().replace(/[_-]/g, ''))) return '[secret]'
  if (value instanceof Error) return clean(key, value.message)
  if (typeof value !== 'string') return typeof value === 'bigint' ? String(value) : value
  const shown = value.slice(0, 2 * MAX_TEXT_LENGTH).replace(URL_PASSWORD, '$1[secret]@')
  return value.length > MAX_TEXT_LENGTH
    ? `${shown.slice(0, MAX_TEXT_LENGTH)}… (${value.length} characters)`
    : shown
}
