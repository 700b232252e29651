import { quietly } from '../runtime/quietly.ts'
import { type Logger, silentLogger } from './logger.ts'

type Level = 'debug' | 'info' | 'warn' | 'error'

const quietLoggers = new WeakSet<Logger>()

/** Wraps `logger` so that its errors (full disk, broken transport) never reach the caller: the line is lost. */
export function quietLogger(logger: Logger = silentLogger): Logger {
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
    ...writers(logger),
    child: bindings => attempt(() => quietLogger(logger.child(bindings)), quiet),
  }
  quietLoggers.add(quiet)
  return quiet
}

/** The method is looked up on every write: pino swaps its methods when the level changes. */
function writers(logger: Logger): Pick<Logger, Level> {
  const writer = (level: Level) => (fields: object, message?: string) =>
    quietly(() => logger[level](fields, message))
  return { debug: writer('debug'), info: writer('info'), warn: writer('warn'), error: writer('error') }
}

function attempt<T>(action: () => T, otherwise: T): T {
  try {
    return action()
  } catch {
    return otherwise
  }
}
