import { createRequire } from 'node:module'
import { type PlainLimits, plainCopy } from '../runtime/plain-value.ts'
import { LOG_LEVELS, type Logger, type LogLevel, type WriteLevel, writersOf } from './logger.ts'
import { cleaner, escapeControls, withoutSecrets } from './safe-value.ts'

type Pino = (options: object, destination: { write(line: string): void }) => Logger

/** Callers shorten long values themselves; this bounds a line in any case. */
const LINE_LIMITS: PlainLimits = {
  maxDepth: 10,
  maxEntries: 1_000,
  maxBytes: 200_000,
  maxValues: 10_000,
  cleaner,
}

function safeFields(fields: object): Record<string, unknown> {
  return plainCopy(fields, LINE_LIMITS).value as Record<string, unknown>
}

/** A logger on stderr that removes secrets: JSON lines, or readable lines on a terminal. Loads pino on the first write. */
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
  const writer = (at: WriteLevel) => (fields: object, message?: string) => {
    if (isLevelEnabled(at)) load()[at](safeFields(fields), message && withoutSecrets(message))
  }
  return {
    level,
    isLevelEnabled,
    ...writersOf(writer),
    child: bindings => lazyLogger(level, () => load().child(safeFields(bindings))),
  }
}

/** Takes 60 ms or more the first time. */
export function loadPino(): Pino {
  return createRequire(import.meta.url)('pino') as Pino
}

function makePino(level: string, stream: NodeJS.WriteStream): Logger {
  const pino = loadPino()
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
