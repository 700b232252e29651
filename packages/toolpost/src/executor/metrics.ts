import type { FailureCode } from '../call/failure-codes.ts'
import type { ToolResult } from '../call/tool-result.ts'
import type { CallContext } from './context.ts'

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

export type Figures = ReturnType<Metrics['snapshot']>

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
    const figures = this.#tools.get(name) ?? newFigures()
    if (figures.calls++ === 0) this.#tools.set(name, figures)
    const durationMs = result.execution_time_ms - waitedMs
    figures.durationSumMs += durationMs
    let at = 0
    while (durationMs > (BOUNDS_MS[at] ?? Number.POSITIVE_INFINITY)) at++
    figures.durations[at] = (figures.durations[at] ?? 0) + 1
    if (repairs) figures.repairs += repairs.length
    if (!result.success) figures.failures[result.code] = (figures.failures[result.code] ?? 0) + 1
  }

  snapshot() {
    const tools: Record<string, ToolFigures> = structuredClone(Object.fromEntries(this.#tools))
    const figures = { calls: 0, inFlight: this.#inFlight, repairs: 0, failures: {} as Failures, tools }
    for (const { calls, repairs, failures } of Object.values(tools)) {
      figures.calls += calls
      figures.repairs += repairs
      for (const [code, times] of Object.entries(failures) as [FailureCode, number][])
        figures.failures[code] = (figures.failures[code] ?? 0) + times
    }
    return figures
  }

  /** Of all tools, or those whose name `isSeen`. */
  prometheus(isSeen: (tool: string) => boolean = () => true): string {
    const lines: string[] = []
    const family = (name: string, type: string, help: string, samples: Samples) => {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`)
      for (const [tool, figures] of this.#tools) {
        if (!isSeen(tool)) continue
        const label = tool.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
        for (const [suffix, labels, value] of samples(figures))
          lines.push(`${name}${suffix}{tool="${label}"${labels}} ${value}`)
      }
    }
    family('toolpost_calls_total', 'counter', 'Tool calls answered', ({ calls }) => [['', '', calls]])
    family('toolpost_failures_total', 'counter', 'Tool calls that failed, by code', ({ failures }) =>
      Object.entries(failures).map(([code, times]) => ['', `,code="${code}"`, times]),
    )
    family('toolpost_repairs_total', 'counter', 'Arguments repaired', ({ repairs }) => [['', '', repairs]])
    family('toolpost_call_duration_seconds', 'histogram', 'Duration of tool calls', histogram)
    lines.push('# HELP toolpost_calls_in_flight Tool calls in progress')
    lines.push('# TYPE toolpost_calls_in_flight gauge', `toolpost_calls_in_flight ${this.#inFlight}\n`)
    return lines.join('\n')
  }
}

function newFigures(): ToolFigures {
  return { calls: 0, failures: {}, repairs: 0, durations: [...BOUNDS_MS, 0].fill(0), durationSumMs: 0 }
}

type Sample = [suffix: string, labels: string, value: number]
type Samples = (figures: ToolFigures) => Sample[]

function histogram({ calls, durations, durationSumMs }: ToolFigures): Sample[] {
  let below = 0
  const buckets = [...BOUNDS_MS, Number.POSITIVE_INFINITY].map((bound, index): Sample => {
    below += durations[index] ?? 0
    return ['_bucket', `,le="${bound === Number.POSITIVE_INFINITY ? '+Inf' : bound / 1_000}"`, below]
  })
  return [...buckets, ['_sum', '', durationSumMs / 1_000], ['_count', '', calls]]
}
