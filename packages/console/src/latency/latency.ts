import type { CallRecord } from 'toolpost/gateway'

/** The value that `share` (0 to 1) of the sorted values do not exceed: nearest rank. */
export function percentile(sorted: readonly number[], share: number): number {
  const rank = Math.max(1, Math.ceil(share * sorted.length))
  return sorted[rank - 1] ?? Number.NaN
}

/** Latency of finished calls, busiest tool first. */
export function latencyByTool(calls: readonly CallRecord[]): ToolLatency[] {
  const groups = new Map<string, CallRecord[]>()
  for (const call of calls) if (call.durationMs !== undefined) push(groups, call.tool, call)
  return [...groups]
    .map(([tool, group]) => summary(tool, group))
    .sort((a, b) => b.calls - a.calls || a.tool.localeCompare(b.tool))
}

export type ToolLatency = ReturnType<typeof summary>

function summary(tool: string, calls: CallRecord[]) {
  const durations = sortedDurations(calls)
  return {
    tool,
    calls: calls.length,
    failed: calls.filter(call => call.result?.success === false).length,
    slow: calls.filter(call => call.slow).length,
    p50: percentile(durations, 0.5),
    p95: percentile(durations, 0.95),
  }
}

/** Plot columns: times in seconds, and p50 and p95 in milliseconds for each interval that had calls. */
export type LatencyColumns = [times: number[], p50: number[], p95: number[]]

export function latencyOverTime(calls: readonly CallRecord[], stretches = 40): LatencyColumns {
  const ended = calls.filter(call => call.durationMs !== undefined)
  const times = ended.map(call => call.startedAt)
  const first = Math.min(...times)
  const widthMs = Math.max(1_000, (Math.max(...times) - first) / stretches)
  const groups = new Map<number, CallRecord[]>()
  for (const call of ended) push(groups, Math.floor((call.startedAt - first) / widthMs), call)
  const columns: LatencyColumns = [[], [], []]
  for (const [stretch, group] of [...groups].sort(([a], [b]) => a - b)) {
    const durations = sortedDurations(group)
    columns[0].push((first + (stretch + 0.5) * widthMs) / 1_000)
    columns[1].push(percentile(durations, 0.5))
    columns[2].push(percentile(durations, 0.95))
  }
  return columns
}

/** Without the wait before the tool started. */
function sortedDurations(calls: CallRecord[]): number[] {
  return calls.map(({ durationMs = 0, waitedMs = 0 }) => durationMs - waitedMs).sort((a, b) => a - b)
}

function push<Key, Value>(groups: Map<Key, Value[]>, key: Key, value: Value): void {
  const group = groups.get(key)
  if (group) group.push(value)
  else groups.set(key, [value])
}
