import fc from 'fast-check'
import pino from 'pino'
import { describe, expect, it } from 'vitest'
import { type Logger, silentLogger } from './logger.ts'
import { quietLogger } from './quiet-logger.ts'

const METHODS = ['debug', 'info', 'warn', 'error', 'isLevelEnabled', 'child'] as const
type Method = (typeof METHODS)[number]

/** A logger that relies on `this`, and fails in the methods named. */
class FailingLogger implements Logger {
  level = 'info'
  readonly lines: unknown[][] = []
  readonly fails: ReadonlySet<Method>
  constructor(fails: ReadonlySet<Method>) {
    this.fails = fails
  }
  debug = (...line: unknown[]) => this.#write('debug', line)
  info(...line: unknown[]) {
    this.#write('info', line)
  }
  warn(...line: unknown[]) {
    this.#write('warn', line)
  }
  error(...line: unknown[]) {
    this.#write('error', line)
  }
  isLevelEnabled() {
    this.#fail('isLevelEnabled')
    return true
  }
  child() {
    this.#fail('child')
    return this
  }
  #write(level: Method, line: unknown[]) {
    this.#fail(level)
    this.lines.push([level, ...line])
  }
  #fail(method: Method) {
    if (this.fails.has(method)) throw new Error('ENOSPC: no space left on device')
  }
}

const LEVELS = ['debug', 'info', 'warn', 'error'] as const
const failing = fc.subarray([...METHODS]).map(fails => new FailingLogger(new Set(fails)))
const steps = fc.array(fc.constantFrom(...METHODS), { maxLength: 20 })

/** What is written of the steps, where each is taken on the last child. */
function take(logger: Logger, methods: readonly Method[]): void {
  let current = logger
  methods.forEach((method, at) => {
    if (method === 'child') current = current.child({ at })
    else if (method === 'isLevelEnabled') current.isLevelEnabled('info')
    else current[method]({ at }, 'line')
  })
}

describe('a quiet logger', () => {
  it('never throws, and writes every line that its logger can write', () => {
    fc.assert(
      fc.property(failing, steps, (logger, methods) => {
        take(quietLogger(logger), methods)
        const expected = methods
          .map((method, at) => [method, { at }, 'line'] as const)
          .filter(([method]) => LEVELS.some(level => level === method) && !logger.fails.has(method))
        expect(logger.lines).toEqual(expected)
      }),
    )
  })

  it('has a level enabled as its logger says, and not when that throws', () => {
    expect(quietLogger(new FailingLogger(new Set())).isLevelEnabled('info')).toBe(true)
    expect(quietLogger(new FailingLogger(new Set(['isLevelEnabled']))).isLevelEnabled('info')).toBe(false)
  })

  it('reads and sets the level of its logger', () => {
    const logger = new FailingLogger(new Set())
    const quiet = quietLogger(logger)
    logger.level = 'warn'
    expect(quiet.level).toBe('warn')
    quiet.level = 'debug'
    expect(logger.level).toBe('debug')
  })

  it('is not wrapped twice, nor is the silent logger wrapped at all', () => {
    const quiet = quietLogger(new FailingLogger(new Set()))
    expect(quietLogger(quiet)).toBe(quiet)
    expect(quietLogger(quiet.child({}))).not.toBe(quiet)
    expect(quietLogger(silentLogger)).toBe(silentLogger)
  })

  it('lets no rejection of an asynchronous logger end the process', async () => {
    const rejections: unknown[] = []
    const note = (reason: unknown) => rejections.push(reason)
    process.on('unhandledRejection', note)
    const logger = { ...silentLogger, info: async () => Promise.reject(new Error('EPIPE')) }
    quietLogger(logger).info({})
    await new Promise(setImmediate)
    process.off('unhandledRejection', note)
    expect(rejections).toEqual([])
  })

  it('works with pino, whose methods change with its level, and whose destination may fail', () => {
    const lines: string[] = []
    let full = false
    const write = (line: string) => {
      if (full) throw new Error('ENOSPC')
      lines.push(line)
    }
    const logger = pino({ level: 'warn', base: null, timestamp: false }, { write })
    const child = quietLogger(logger as unknown as Logger).child({ part: 'a' })
    child.info({ n: 1 }, 'not enabled')
    child.level = 'info'
    child.info({ n: 2 }, 'written')
    full = true
    child.error({ n: 3 }, 'lost')
    expect(lines).toEqual(['{"level":30,"part":"a","n":2,"msg":"written"}\n'])
    expect(child.isLevelEnabled('info')).toBe(true)
  })
})
