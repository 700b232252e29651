import { expect, it } from 'vitest'
import { fakeClock } from '../testing/fake-clock.ts'
import { recordingLogger } from '../testing/recording-logger.ts'
import { RateLimitedLog } from './rate-limit.ts'

it('[F51] writes one line of each kind per second, and how many were omitted', async () => {
  const logger = recordingLogger()
  const clock = fakeClock()
  const log = new RateLimitedLog(logger, { clock })
  let composed = 0
  const stray = () => log.write('warn', 'stray answers', () => [{ id: ++composed }, 'answer dropped'])
  for (let time = 0; time < 1_000; time++) stray()
  log.write('debug', 'other', () => [{}, 'another'])
  await clock.advance(1_000)
  stray()
  stray()
  log.close()
  expect(logger.messages()).toEqual([
    'answer dropped',
    'another',
    'stray answers: 999 more',
    'answer dropped',
    'stray answers: 1 more',
  ])
  expect(composed).toBe(2)
})
