import { expect, it } from 'vitest'
import { stderrLogger } from './stderr-logger.ts'

function setUp(isTTY: boolean) {
  const lines: string[] = []
  const stream = { isTTY, write: (line: string) => lines.push(line) > 0 }
  return { logger: stderrLogger('info', stream as unknown as NodeJS.WriteStream), lines }
}

it.each([false, true])('[F34] writes no secret, whoever gave it one (terminal: %s)', isTTY => {
  const { logger, lines } = setUp(isTTY)
  const cycle: Record<string, unknown> = { error: new Error('Bearer wombat7wombat7'), n: 1n }
  cycle.self = cycle
  logger.child({ api_key: 'wombat7' }).warn({ password: 'wombat7', cycle }, 'with token=wombat7')
  logger.info({ question: 'my pin: wombat7' })
  logger.debug({}, 'not enabled')
  expect(lines).toHaveLength(2)
  expect(lines.join('')).not.toContain('wombat7')
  expect(lines[0]).toContain('with token=[removed]')
  expect(lines[0]).toContain('[circular]')
})
