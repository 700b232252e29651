import type { CallRecord } from 'toolpost/gateway'
import { describe, expect, it } from 'vitest'
import { filterCalls, MAX_CALLS, obstacleToRepeat, withCalls } from './call-list.ts'

function call(serial: number, more: Partial<CallRecord> = {}): CallRecord {
  return {
    serial: String(serial).padStart(4, '0'),
    tool: 'echo',
    source: 'local',
    origin: 'http',
    args: {},
    startedAt: serial,
    slow: false,
    ...more,
  }
}

const done = { success: true, result: 1, tool_name: 'echo', execution_time_ms: 1 } as const
const failed = {
  success: false,
  error: 'x',
  code: 'timeout',
  tool_name: 'echo',
  execution_time_ms: 1,
} as const

describe('the list of calls', () => {
  it('takes the end of a call for its beginning, in the order of the calls', () => {
    const list = withCalls([call(1), call(3)], [call(2), call(1, { result: done })])
    expect(list.map(one => [Number(one.serial), one.result?.success])).toEqual([
      [1, true],
      [2, undefined],
      [3, undefined],
    ])
  })

  it('never sets a finished call back to running', () => {
    expect(withCalls([call(1, { result: done })], [call(1)])[0]?.result).toBe(done)
  })

  it('is bounded', () => {
    const list = withCalls(
      [],
      Array.from({ length: MAX_CALLS + 5 }, (_, at) => call(at)),
    )
    expect([list.length, Number(list[0]?.serial)]).toEqual([MAX_CALLS, 5])
  })

  it('is filtered by tool, source and outcome', () => {
    const list = [
      call(1, { result: done }),
      call(2, { result: failed, slow: true, tool: 'lights', source: 'zwave' }),
      call(3),
    ]
    const serials = (filter: object) => filterCalls(list, filter).map(one => Number(one.serial))
    expect(serials({})).toEqual([1, 2, 3])
    expect(serials({ tool: 'lights' })).toEqual([2])
    expect(serials({ source: 'local', outcome: 'running' })).toEqual([3])
    expect(serials({ outcome: 'failed' })).toEqual([2])
    expect(serials({ outcome: 'slow' })).toEqual([2])
  })
})

describe('repeating a call', () => {
  it('is possible with the arguments as they were', () => {
    expect(obstacleToRepeat({ a: [1, null, 'x'] })).toBeUndefined()
  })

  it('is not with arguments that are not whole', () => {
    expect(obstacleToRepeat({ '…': 'shortened, 90000 bytes' })).toMatch(/too large/)
    expect(obstacleToRepeat({ login: { password: '[removed]' } })).toMatch(/Secrets/)
  })
})
