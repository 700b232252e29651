const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const

export type LogLevel = (typeof LEVELS)[number]
type Fields = Readonly<Record<string, unknown>>

/** One record per call, in pino's shape, so a pino logger works wherever this one does. */
export type Logger = Readonly<Record<Exclude<LogLevel, 'silent'>, (fields: Fields, message: string) => void>>

const MAX_TEXT_LENGTH = 500
const SECRET_KEYS =
  /password|secret|apikey|authorization|credential|token$|^(?:pass|pin|auth)$|usercode|networkkey/
const URL_PASSWORD = /(:\/\/[^\s/:@]{0,100}:)[^\s@]{1,200}@/g

export function isLogLevel(text: string): text is LogLevel {
  return (LEVELS as readonly string[]).includes(text)
}

/** A logger that writes lines of JSON: long strings shortened, control characters escaped, secrets redacted. */
export function createLogger(level: LogLevel, write: (line: string) => void): Logger {
  const at = (name: LogLevel) => (fields: Fields, msg: string) => {
    if (LEVELS.indexOf(name) < LEVELS.indexOf(level)) return
    write(JSON.stringify({ time: new Date().toISOString(), level: name, ...fields, msg }, clean))
  }
  return { trace: at('trace'), debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

/** The logger of a command. */
export function stderrLogger(level: LogLevel): Logger {
  return createLogger(level, line => void process.stderr.write(`${line}\n`))
}

function clean(key: string, value: unknown): unknown {
  if (SECRET_KEYS.test(key.toLowerCase().replace(/[_-]/g, ''))) return '[secret]'
  if (value instanceof Error) return clean(key, value.message)
  if (typeof value !== 'string') return value
  const shown = value.slice(0, 2 * MAX_TEXT_LENGTH).replace(URL_PASSWORD, '$1[secret]@')
  const more = value.length > MAX_TEXT_LENGTH ? `… (${value.length} characters)` : ''
  return `${shown.slice(0, MAX_TEXT_LENGTH)}${more}`
}
