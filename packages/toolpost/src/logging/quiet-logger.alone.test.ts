import pino from 'pino'
import { describe, expect, it } from 'vitest'
import { type Logger, silentLogger } from './logger.ts'
import { quietLogger } from './quiet-logger.ts'

describe('a quiet logger', () => {
  it('works with pino, whose methods change with its level, and whose destination may fail', () => {
    const lines: string[] = []
    let full = false
    const write = (line: string) => {
      if (full) throw new Error('ENOSPC')
      lines.push(line)
    }
    const logger = pino({ level: 'warn', base: null, timestamp: false }, { write })
    const quiet = quietLogger(logger as unknown as Logger)
    quiet.info({ n: 1 }, 'not enabled')
    logger.level = 'info'
    quiet.child({ part: 'a' }).info({ n: 2 }, 'written')
    full = true
    quiet.error({ n: 3 }, 'lost')
    expect(lines).toEqual(['{"level":30,"part":"a","n":2,"msg":"written"}\n'])
    expect(quiet.isLevelEnabled('info')).toBe(true)
  })

  it('never throws, whatever its logger does', async () => {
    const rejections: unknown[] = []
    const note = (reason: unknown) => rejections.push(reason)
    process.on('unhandledRejection', note)
    const fail = () => {
      throw new Error('EPIPE')
    }
    const logger = { ...silentLogger, isLevelEnabled: fail, child: fail, warn: fail }
    const quiet = quietLogger({ ...logger, info: async () => fail() })
    quiet.warn({})
    quiet.child({}).info({})
    expect(quiet.isLevelEnabled('info')).toBe(false)
    await new Promise(setImmediate)
    process.off('unhandledRejection', note)
    expect(rejections).toEqual([])
  })
})
