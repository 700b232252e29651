import { createRequire } from 'node:module'
import { LOG_LEVELS, type Logger, type LogLevel } from './logger.ts'
import { escapeControls } from './safe-value.ts'

type Pino = (options: object, destination: { write(line: string): void }) => Logger

/** A logger on stderr: JSON lines, or lines for a person on a terminal. pino is loaded when something is written. */
export function stderrLogger(
  level: LogLevel | 'silent',
  stream: NodeJS.WriteStream = process.stderr,
): Logger {
  let made: Logger | undefined
  const load = (): Logger => {
    made ??= makePino(level, stream)
    return made
  }
  return lazyLogger(level, load)
}

function lazyLogger(level: LogLevel | 'silent', load: () => Logger): Logger {
  const threshold = level === 'silent' ? LOG_LEVELS.length : LOG_LEVELS.indexOf(level)
  const isLevelEnabled = (wanted: LogLevel) => LOG_LEVELS.indexOf(wanted) >= threshold
  const writer = (at: 'debug' | 'info' | 'warn' | 'error') => (fields: object, message?: string) => {
    if (isLevelEnabled(at)) load()[at](fields, message)
  }
  return {
    level,
    isLevelEnabled,
    debug: writer('debug'),
    info: writer('info'),
    warn: writer('warn'),
    error: writer('error'),
    child: bindings => lazyLogger(level, () => load().child(bindings)),
  }
}

function makePino(level: string, stream: NodeJS.WriteStream): Logger {
  const pino = createRequire(import.meta.url)('pino') as Pino
  const write = stream.isTTY
    ? (line: string) => stream.write(forPerson(line))
    : (line: string) => stream.write(line)
  const timestamp = () => `,"time":"${new Date().toISOString()}"`
  const formatters = { level: (label: string) => ({ level: label }) }
  return pino({ level, base: undefined, timestamp, formatters }, { write })
}

const COLOURS: Record<string, number> = { debug: 90, info: 36, warn: 33, error: 31 }

/** `12:03:04 warn Slow tool: search took 1200 ms  tool=search` */
function forPerson(line: string): string {
  const { level, time, msg, ...fields } = JSON.parse(line) as Record<string, unknown>
  const clock = String(time).slice(11, 19)
  const shown = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  const text = escapeControls(`${msg ?? ''}  ${shown.join(' ')}`.trim())
  return `\x1b[90m${clock}\x1b[0m \x1b[${COLOURS[String(level)] ?? 0}m${level}\x1b[0m ${text}\n`
}
