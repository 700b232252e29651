import { describe, expect, it } from 'vitest'
import { createLogger, type LogLevel } from './log.ts'

function lines(level: LogLevel, pretty = false) {
  const written: string[] = []
  return { written, logger: createLogger({ level, write: line => written.push(line), pretty }) }
}

describe('the logger', () => {
  it('writes one JSON line per record', () => {
    const { written, logger } = lines('info')
    logger.info({ device: 'a\nb' }, 'hello')
    expect(written).toHaveLength(1)
    expect(written[0]).not.toContain('\n')
    expect(JSON.parse(written[0] ?? '')).toMatchObject({ level: 'info', device: 'a\nb', msg: 'hello' })
  })

  it('leaves out what is below its level', () => {
    const { written, logger } = lines('warn')
    logger.info({}, 'no')
    logger.warn({}, 'yes')
    expect(written).toHaveLength(1)
  })

  it.each([
    'password',
    'MQTT_PASSWORD',
    'api_key',
    'Authorization',
    'accessToken',
    'pin',
    'userCode',
    'networkKey',
  ])('hides %s at any depth', key => {
    const { written, logger } = lines('info')
    logger.info({ options: { [key]: 'hunter2' } }, 'x')
    expect(written[0]).not.toContain('hunter2')
  })

  it('hides the password in a URL, even in an error', () => {
    const { written, logger } = lines('info')
    logger.info({ broker: 'mqtt://me:hunter2@host', error: new Error('no mqtt://me:hunter2@host') }, 'x')
    expect(written[0]).not.toContain('hunter2')
    expect(written[0]).toContain('mqtt://me:[secret]@host')
  })

  it('shortens long strings and says how long they were', () => {
    const { written, logger } = lines('info')
    logger.info({ payload: 'x'.repeat(10_000) }, 'x')
    expect(written[0]?.length).toBeLessThan(700)
    expect(written[0]).toContain('10000 characters')
  })

  it('accepts errors and bigints', () => {
    const { written, logger } = lines('info')
    logger.info({ error: new Error('boom'), n: 1n }, 'x')
    expect(JSON.parse(written[0] ?? '')).toMatchObject({ error: 'boom', n: '1' })
  })

  it('writes for people on a terminal, still on one line and without secrets', () => {
    const { written, logger } = lines('info', true)
    logger.info({ device: 'Lamp', password: 'hunter2' }, 'say\u001b[31m')
    expect(written[0]).toMatch(/INFO {2}say\\u001b\[31m device="Lamp" password="\[secret\]"$/)
  })
})
