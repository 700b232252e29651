import type { FailureCode } from '../call/failure-codes.ts'
import type { ToolResult } from '../call/tool-result.ts'
import type { CallContext } from './context.ts'

/** Upper bounds of the duration histogram, in milliseconds. */
const BOUNDS_MS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000]

/** Calls of nonexistent tools are counted under this name, so that made-up names take no memory. */
const UNKNOWN = '(unknown)'

type Failures = Partial<Record<FailureCode, number>>

export interface ToolFigures {
  calls: number
  failures: Failures
  repairs: number
  /** Calls per bucket of the histogram, each counted once, then those over the last bound. */
  durations: number[]
  durationSumMs: number
}

export interface Figures {
  calls: number
  inFlight: number
  repairs: number
  failures: Failures
  tools: Record<string, ToolFigures>
}

/** The executor's counters. Not a metrics library's, because an observation must cost nanoseconds. */
export class Metrics {
  readonly #tools = new Map<string, ToolFigures>()
  #inFlight = 0

  begin(): void {
    this.#inFlight++
  }

  /** Time that interceptors waited is not the tool's, and does not count as its duration. */
  end({ tool, repairs, waitedMs }: CallContext, result: ToolResult): void {
    this.#inFlight--
    const name = tool?.name ?? UNKNOWN
    const counted = this.#tools.get(name) ?? newFigures()
    if (counted.calls === 0) this.#tools.set(name, counted)
    const durationMs = result.execution_time_ms - waitedMs
    counted.calls++
    counted.durationSumMs += durationMs
    let at = 0
    while (at < BOUNDS_MS.length && durationMs > (BOUNDS_MS[at] ?? 0)) at++
    counted.durations[at] = (counted.durations[at] ?? 0) + 1
    if (repairs) counted.repairs += repairs.length
    if (!result.success) counted.failures[result.code] = (counted.failures[result.code] ?? 0) + 1
  }

  /** The counters as plain data. */
  snapshot(): Figures {
    const tools = structuredClone(Object.fromEntries(this.#tools))
    const figures: Figures = { calls: 0, inFlight: this.#inFlight, repairs: 0, failures: {}, tools }
    for (const { calls, repairs, failures } of Object.values(tools)) {
      figures.calls += calls
      figures.repairs += repairs
      for (const [code, times] of Object.entries(failures) as [FailureCode, number][])
        figures.failures[code] = (figures.failures[code] ?? 0) + times
    }
    return figures
  }

  /** The counters in Prometheus' text format. */
  prometheus(): string {
    const lines: string[] = []
    const family = (name: string, type: string, help: string, samples: (figures: ToolFigures) => Samples) => {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`)
      for (const [tool, figures] of this.#tools)
        for (const [labels, value, suffix = ''] of samples(figures))
          lines.push(`${name}${suffix}{tool="${escapeLabel(tool)}"${labels}} ${value}`)
    }
    family('toolpost_calls_total', 'counter', 'Tool calls answered', ({ calls }) => [['', calls]])
    family('toolpost_failures_total', 'counter', 'Tool calls that failed, by code', ({ failures }) =>
      Object.entries(failures).map(([code, times]) => [`,code="${code}"`, times]),
    )
    family('toolpost_repairs_total', 'counter', 'Arguments repaired', ({ repairs }) => [['', repairs]])
    family('toolpost_call_duration_seconds', 'histogram', 'Duration of tool calls', histogram)
    lines.push('# HELP toolpost_calls_in_flight Tool calls in progress')
    lines.push('# TYPE toolpost_calls_in_flight gauge', `toolpost_calls_in_flight ${this.#inFlight}\n`)
    return lines.join('\n')
  }
}

function newFigures(): ToolFigures {
  const durations = new Array<number>(BOUNDS_MS.length + 1).fill(0)
  return { calls: 0, failures: {}, repairs: 0, durations, durationSumMs: 0 }
}

type Samples = [labels: string, value: number, suffix?: string][]

function histogram({ calls, durations, durationSumMs }: ToolFigures): Samples {
  let below = 0
  const buckets = BOUNDS_MS.map((bound, index): Samples[number] => {
    below += durations[index] ?? 0
    return [`,le="${bound / 1_000}"`, below, '_bucket']
  })
  const total: Samples = [
    [',le="+Inf"', calls, '_bucket'],
    ['', durationSumMs / 1_000, '_sum'],
  ]
  return [...buckets, ...total, ['', calls, '_count']]
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
