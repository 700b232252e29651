import type { CallRecord } from 'toolpost/gateway'
import { describe, expect, it } from 'vitest'
import { callsAMinute } from './calls-a-minute.ts'

const MINUTE = 60_000
const failed = { success: false, tool_name: 'x', execution_time_ms: 1, error: 'x', code: 'timeout' } as const

function call(startedAt: number, more: Partial<CallRecord> = {}): CallRecord {
  return {
    serial: '1',
    tool: 'x',
    source: 'local',
    origin: 'http',
    args: {},
    slow: false,
    startedAt,
    ...more,
  }
}

describe('calls per minute', () => {
  it('are counted by when they began, failures among them, the newest minute last', () => {
    const now = 100 * MINUTE + 30_000
    const calls = [
      call(97 * MINUTE),
      call(98 * MINUTE),
      call(98 * MINUTE + 59_999, { result: failed }),
      call(now),
      call(now + 5 * MINUTE),
    ]
    expect(callsAMinute(calls, now, 3)).toEqual([
      { at: 98 * MINUTE, calls: 2, failed: 1 },
      { at: 99 * MINUTE, calls: 0, failed: 0 },
      { at: 100 * MINUTE, calls: 1, failed: 0 },
    ])
  })
})
