import { quietly } from '../util/quietly.ts'
import { type Logger, silentLogger, writersOf } from './logger.ts'

/** Wraps `logger` so that its errors (full disk, broken transport) never reach the caller: the line is lost. */
export function quietLogger(logger: Logger = silentLogger): Logger {
  if (logger === silentLogger) return logger
  return {
    level: logger.level,
    isLevelEnabled: level => attempt(() => logger.isLevelEnabled(level), false),
    // The method is looked up on every write: pino swaps its methods when the level changes.
    ...writersOf(level => (fields, message) => quietly(() => logger[level](fields, message))),
    child: bindings => attempt(() => quietLogger(logger.child(bindings)), silentLogger),
  }
}

function attempt<T>(action: () => T, otherwise: T): T {
  try {
    return action()
  } catch {
    return otherwise
  }
}
