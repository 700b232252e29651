import { expect, it } from 'vitest'
import { fakeClock } from '../testing/fake-clock.ts'
import { recordingLogger } from '../testing/recording-logger.ts'
import { RateLimitedLog } from './rate-limit.ts'

function setUp(level: 'debug' | 'warn' = 'debug') {
  const logger = recordingLogger(level)
  const clock = fakeClock()
  const log = new RateLimitedLog(logger, { clock })
  let composed = 0
  const stray = (id: number) =>
    log.write('warn', 'stray answers', () => {
      composed++
      return [{ id }, 'answer dropped']
    })
  return {
    logger,
    clock,
    log,
    stray,
    messages: () => logger.records.map(record => record.message),
    composed: () => composed,
  }
}

it('[F51] writes the first line in full, then a count a second, however many come', async () => {
  const { logger, clock, stray, composed } = setUp()
  for (let id = 1; id <= 1_000; id++) stray(id)
  expect(logger.records).toEqual([{ level: 'warn', message: 'answer dropped', fields: { id: 1 } }])
  await clock.advance(1_000)
  for (let id = 0; id < 5; id++) stray(id)
  await clock.advance(1_000)
  expect(logger.records.slice(1)).toEqual([
    { level: 'warn', message: 'stray answers: 999 more', fields: { repeated: 999 } },
    { level: 'warn', message: 'stray answers: 5 more', fields: { repeated: 5 } },
  ])
  expect(composed()).toBe(1)
})

it('writes a line in full again after a quiet second, and keeps no timer meanwhile', async () => {
  const { clock, stray, messages } = setUp()
  stray(1)
  await clock.advance(1_000)
  expect(clock.pending).toBe(0)
  stray(2)
  expect(messages()).toEqual(['answer dropped', 'answer dropped'])
})

it('counts each kind by itself', async () => {
  const { clock, log, stray, messages } = setUp()
  stray(1)
  log.write('debug', 'other', () => [{}, 'another'])
  stray(2)
  await clock.advance(1_000)
  expect(messages()).toEqual(['answer dropped', 'another', 'stray answers: 1 more'])
})

it('does nothing for a level that is not enabled', () => {
  const { clock, log } = setUp('warn')
  log.write('debug', 'kind', () => {
    throw new Error('composed')
  })
  expect(clock.pending).toBe(0)
})

it('writes what is still due when it is closed', () => {
  const { clock, log, stray, messages } = setUp()
  stray(1)
  stray(2)
  log.close()
  expect(messages()).toEqual(['answer dropped', 'stray answers: 1 more'])
  expect(clock.pending).toBe(0)
})
