import type { FailureCode } from '../call/failure-codes.ts'
import type { ToolResult } from '../call/tool-result.ts'

/** Upper bounds of the duration histogram, in milliseconds. */
const DURATION_BUCKETS_MS = [
  1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000,
] as const

/** Calls of nonexistent tools are counted under this name, so that made-up names take no memory. */
const UNKNOWN = '(unknown)'

export interface ToolFigures {
  calls: number
  failures: Partial<Record<FailureCode, number>>
  repairs: number
  /** Calls that a model wrote as text. */
  salvaged: number
  /** Calls per bucket of DURATION_BUCKETS_MS, each counted once, then those over the last bound. */
  durations: number[]
  durationSumMs: number
}

export interface Figures {
  calls: number
  inFlight: number
  repairs: number
  failures: Partial<Record<FailureCode, number>>
  tools: Record<string, ToolFigures>
}

interface EndedCall {
  readonly tool: { readonly name: string } | undefined
  readonly repairs: readonly string[] | undefined
  readonly waitedMs: number
}

/** The executor's counters. Not a metrics library's, because an observation must cost nanoseconds. */
export class Metrics {
  readonly #tools = new Map<string, ToolFigures>()
  #inFlight = 0

  /** The counters of one tool. */
  of(name: string): ToolFigures {
    let figures = this.#tools.get(name)
    if (!figures) {
      figures = {
        calls: 0,
        failures: {},
        repairs: 0,
        salvaged: 0,
        durations: DURATION_BUCKETS_MS.map(() => 0),
        durationSumMs: 0,
      }
      figures.durations.push(0)
      this.#tools.set(name, figures)
    }
    return figures
  }

  begin(): void {
    this.#inFlight++
  }

  /** Time that interceptors waited is not the tool's, and does not count as its duration. */
  end({ tool, repairs, waitedMs }: EndedCall, result: ToolResult): void {
    this.#inFlight--
    const counted = this.of(tool?.name ?? UNKNOWN)
    const durationMs = result.execution_time_ms - waitedMs
    counted.calls++
    counted.durationSumMs += durationMs
    let bucket = 0
    while (bucket < DURATION_BUCKETS_MS.length && durationMs > (DURATION_BUCKETS_MS[bucket] as number))
      bucket++
    counted.durations[bucket] = (counted.durations[bucket] ?? 0) + 1
    if (repairs) counted.repairs += repairs.length
    if (!result.success) counted.failures[result.code] = (counted.failures[result.code] ?? 0) + 1
  }

  /** The counters as plain data. */
  snapshot(): Figures {
    const tools = Object.fromEntries(
      [...this.#tools].map(([name, figures]) => [name, structuredClone(figures)]),
    )
    const all = Object.values(tools)
    const failures: Figures['failures'] = {}
    for (const figures of all) {
      for (const [code, count] of Object.entries(figures.failures) as [FailureCode, number][]) {
        failures[code] = (failures[code] ?? 0) + count
      }
    }
    return {
      calls: sum(all.map(figures => figures.calls)),
      inFlight: this.#inFlight,
      repairs: sum(all.map(figures => figures.repairs)),
      failures,
      tools,
    }
  }

  /** The counters in Prometheus' text format. */
  prometheus(): string {
    const { tools, inFlight } = this.snapshot()
    return [
      ...family('toolpost_calls_total', 'counter', 'Tool calls answered', tools, callLines),
      ...family('toolpost_failures_total', 'counter', 'Tool calls that failed, by code', tools, failureLines),
      ...family('toolpost_repairs_total', 'counter', 'Arguments repaired', tools, repairLines),
      ...family(
        'toolpost_salvaged_total',
        'counter',
        "Calls salvaged from a model's text",
        tools,
        salvageLines,
      ),
      ...family(
        'toolpost_call_duration_seconds',
        'histogram',
        'Duration of tool calls',
        tools,
        durationLines,
      ),
      '# HELP toolpost_calls_in_flight Tool calls in progress',
      '# TYPE toolpost_calls_in_flight gauge',
      `toolpost_calls_in_flight ${inFlight}`,
      '',
    ].join('\n')
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

type Lines = (label: string, figures: ToolFigures) => string[]

function family(name: string, type: string, help: string, tools: Figures['tools'], lines: Lines): string[] {
  const samples = Object.entries(tools).flatMap(([tool, figures]) =>
    lines(`tool="${escapeLabel(tool)}"`, figures),
  )
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...samples.map(sample => `${name}${sample}`)]
}

const callLines: Lines = (label, { calls }) => [`{${label}} ${calls}`]

const repairLines: Lines = (label, { repairs }) => [`{${label}} ${repairs}`]

const salvageLines: Lines = (label, { salvaged }) => (salvaged > 0 ? [`{${label}} ${salvaged}`] : [])

const failureLines: Lines = (label, { failures }) =>
  Object.entries(failures).map(([code, count]) => `{${label},code="${code}"} ${count}`)

const durationLines: Lines = (label, { calls, durations, durationSumMs }) => {
  let below = 0
  const buckets = DURATION_BUCKETS_MS.map((bound, index) => {
    below += durations[index] ?? 0
    return `_bucket{${label},le="${bound / 1_000}"} ${below}`
  })
  return [
    ...buckets,
    `_bucket{${label},le="+Inf"} ${calls}`,
    `_sum{${label}} ${durationSumMs / 1_000}`,
    `_count{${label}} ${calls}`,
  ]
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
