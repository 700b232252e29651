import { type Logger, silentLogger } from './logger.ts'

type Level = 'debug' | 'info' | 'warn' | 'error'

const quietLoggers = new WeakSet<Logger>()

/** `logger`, except that what it throws (full disk, broken transport) never reaches the caller: the line is lost. */
export function quietLogger(logger: Logger): Logger {
  if (logger === silentLogger || quietLoggers.has(logger)) return logger
  const quiet: Logger = {
    get level() {
      return attempt(() => logger.level, 'silent')
    },
    set level(level) {
      attempt(() => {
        logger.level = level
      }, undefined)
    },
    isLevelEnabled: level => attempt(() => logger.isLevelEnabled(level), false),
    debug: writer(logger, 'debug'),
    info: writer(logger, 'info'),
    warn: writer(logger, 'warn'),
    error: writer(logger, 'error'),
    child: bindings => attempt(() => quietLogger(logger.child(bindings)), quiet),
  }
  quietLoggers.add(quiet)
  return quiet
}

/** Looks the method up at every write: pino changes its methods with its level. */
function writer(logger: Logger, level: Level): Logger[Level] {
  return (fields, message) => {
    try {
      const written: unknown = logger[level](fields, message)
      if (written instanceof Promise) written.catch(() => {})
    } catch {
      // The line is lost; the call that it tells of goes on.
    }
  }
}

function attempt<T>(action: () => T, otherwise: T): T {
  try {
    return action()
  } catch {
    return otherwise
  }
}
