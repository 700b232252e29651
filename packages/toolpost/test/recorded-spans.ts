import * as api from '@opentelemetry/api'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node'

/** A registered SDK of OpenTelemetry whose spans and metrics a test looks at; unregistered at the end. */
export function recordTelemetry({ sampler }: { sampler?: Sampler } = {}) {
  const exporter = new InMemorySpanExporter()
  const spanProcessors = [new SimpleSpanProcessor(exporter)]
  new NodeTracerProvider({ spanProcessors, ...(sampler && { sampler }) }).register()
  const metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const readers = [new PeriodicExportingMetricReader({ exporter: metrics, exportIntervalMillis: 1_000_000 })]
  const meters = new MeterProvider({ readers })
  api.metrics.setGlobalMeterProvider(meters)
  return {
    spans: (): ReadableSpan[] => exporter.getFinishedSpans(),
    async histogram(name: string) {
      await meters.forceFlush()
      const all = metrics
        .getMetrics()
        .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(scope => scope.metrics))
      return all.find(({ descriptor }) => descriptor.name === name)
    },
    [Symbol.dispose]() {
      for (const part of [api.trace, api.metrics, api.context, api.propagation]) part.disable()
    },
  }
}
