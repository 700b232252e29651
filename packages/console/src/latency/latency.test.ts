import type { CallRecord } from 'toolpost/gateway'
import { describe, expect, it } from 'vitest'
import { latencyByTool, latencyOverTime, percentile } from './latency.ts'

function call(startedAt: number, durationMs: number | undefined, more: Partial<CallRecord> = {}): CallRecord {
  const base = {
    serial: String(startedAt),
    tool: 'echo',
    source: 'local',
    origin: 'http',
    args: {},
    startedAt,
    slow: false,
    ...more,
  }
  return durationMs === undefined ? base : { ...base, durationMs }
}

describe('latency', () => {
  it('takes percentiles by nearest rank', () => {
    const hundred = Array.from({ length: 100 }, (_, at) => at + 1)
    expect([percentile(hundred, 0.5), percentile(hundred, 0.95), percentile([7], 0.95)]).toEqual([50, 95, 7])
  })

  it('does not count what was waited before the tool began', () => {
    expect(latencyByTool([call(1, 60_005, { waitedMs: 60_000 })])).toMatchObject([{ p50: 5, p95: 5 }])
  })

  it('is summed up for each tool, the busiest first, without calls under way', () => {
    const failure = {
      success: false,
      error: 'x',
      code: 'timeout',
      tool_name: 'b',
      execution_time_ms: 1,
    } as const
    const calls = [
      call(1, 10, { tool: 'a' }),
      call(2, 20),
      call(3, 40, { slow: true, result: failure }),
      call(4, undefined),
    ]
    expect(latencyByTool(calls)).toEqual([
      { tool: 'echo', calls: 2, failed: 1, slow: 1, p50: 20, p95: 40 },
      { tool: 'a', calls: 1, failed: 0, slow: 0, p50: 10, p95: 10 },
    ])
  })

  it('over time has one point for each stretch that had calls, in order', () => {
    const calls = [call(100_000, 5), call(0, 1), call(10, 3), call(20, undefined)]
    const [times, p50, p95] = latencyOverTime(calls, 10)
    expect(times).toEqual([5, 105])
    expect(p50).toEqual([1, 5])
    expect(p95).toEqual([3, 5])
  })

  it('of no calls is empty', () => {
    expect(latencyOverTime([])).toEqual([[], [], []])
    expect(latencyByTool([])).toEqual([])
  })
})
