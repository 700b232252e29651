import { LOG_LEVELS, type Logger, writersOf } from './logger.ts'
import { plainCopy } from './plain-value.ts'
import { cleaner, escapeControls, redactAndCut } from './safe-value.ts'

const LEVELS: readonly string[] = [...LOG_LEVELS, 'silent']
const MAX_MESSAGE_CHARACTERS = 10_000
/** Callers shorten long values themselves; this bounds a line in any case. */
const FIELD_LIMITS = { maxDepth: 10, maxEntries: 1_000, maxBytes: 200_000, maxValues: 10_000, cleaner }

/** A logger on stderr that removes secrets: JSON lines, or readable lines on a terminal. */
export function stderrLogger(level: string, stream: NodeJS.WriteStream = process.stderr): Logger {
  const lineOf = stream.isTTY ? terminalLine : JSON.stringify
  return loggerWith({}, level, line => stream.write(`${lineOf(line)}\n`))
}

function loggerWith(bindings: object, level: string, write: (line: Record<string, unknown>) => void): Logger {
  const logger: Logger = {
    level,
    isLevelEnabled: wanted => LEVELS.indexOf(wanted) >= LEVELS.indexOf(logger.level),
    ...writersOf(at => (fields, message) => {
      if (!logger.isLevelEnabled(at)) return
      const msg = message && redactAndCut(message, MAX_MESSAGE_CHARACTERS)
      write({ level: at, time: new Date().toISOString(), ...bindings, ...safeFields(fields), msg })
    }),
    child: more => loggerWith({ ...bindings, ...safeFields(more) }, logger.level, write),
  }
  return logger
}

const safeFields = (fields: object) => plainCopy(fields, FIELD_LIMITS).value as object

/** `12:03:04 warn Slow tool: search took 1200 ms  tool=search` */
function terminalLine({ level, time, msg, ...fields }: Record<string, unknown>): string {
  const shown = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  return escapeControls(`${String(time).slice(11, 19)} ${level} ${msg ?? ''}  ${shown.join(' ')}`.trim())
}
