import { setTimeout as delay } from 'node:timers/promises'
import { secretsInAddress, shownAddress } from '../logging/config-secrets.ts'
import type { Logger } from '../logging/logger.ts'
import { rateLimitedLog } from '../logging/rate-limit.ts'
import { removeFromLogs } from '../logging/redact.ts'
import { safeText } from '../logging/safe-value.ts'
import { isMissingPackage, toolpostVersion } from '../util/package-root.ts'
import { describeThrown } from '../util/quietly.ts'
import { hasSdk, type OpenTelemetry, TRACER } from './open-telemetry.ts'

/** All of them: if one is missing, the others usually are too. */
const INSTALL =
  'npm i @opentelemetry/api@1.9 @opentelemetry/resources@2 @opentelemetry/sdk-trace-node@2 ' +
  '@opentelemetry/sdk-metrics@2 @opentelemetry/exporter-trace-otlp-http@0.223 ' +
  '@opentelemetry/exporter-metrics-otlp-http@0.223'

/** The longest an unresponsive collector may delay the end of the program. */
const FLUSH_MS = 1_500

/** A running export of traces and metrics, or why there is none. */
export interface TelemetryExport {
  /** Where the data goes, for people. */
  target?: string
  /** Why nothing is sent, and what to do. */
  problem?: string
  /** Flushes briefly. Resolves to whether everything was sent; if not, something is still trying. */
  close(): Promise<boolean>
}

/** Where to send traces or metrics, for people; `undefined` if nowhere. */
export const exportAddress = () => addressFor('TRACES') ?? addressFor('METRICS')

/** From OpenTelemetry's own environment variables. */
function addressFor(signal: 'TRACES' | 'METRICS'): string | undefined {
  const { env } = process
  const isOff = env.OTEL_SDK_DISABLED?.toLowerCase() === 'true'
  if (isOff || env[`OTEL_${signal}_EXPORTER`]?.trim() === 'none') return undefined
  const own = env[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`]
  return env.OTEL_EXPORTER_OTLP_ENDPOINT?.trim() || own?.trim() || undefined
}

/** Registers an OpenTelemetry SDK that sends everything over OTLP/HTTP. Never rejects. */
export async function startExport(logger: Logger): Promise<TelemetryExport> {
  const address = exportAddress() ?? ''
  if (!/^https?:/.test(address) || !URL.canParse(address))
    return nothing({ problem: `'${shownAddress(address)}' is not a valid URL; expected http:// or https://` })
  if (process.env.OTEL_EXPORTER_OTLP_PROTOCOL?.trim() === 'grpc')
    return nothing({
      problem: 'OTEL_EXPORTER_OTLP_PROTOCOL is grpc; expected one of http/json, http/protobuf',
    })
  removeFromLogs([...secretsInAddress(address), ...headerValues(process.env.OTEL_EXPORTER_OTLP_HEADERS)])
  try {
    const sdk = await loadSdk()
    if (hasSdk()) return nothing({ target: 'handled by the SDK that is already registered' })
    return register(sdk, address, logger)
  } catch (error) {
    return nothing({ problem: isMissingPackage(error) ? `run: ${INSTALL}` : safeText(describeThrown(error)) })
  }
}

/** `api-key=…,other=…` */
function headerValues(headers = ''): string[] {
  return headers.split(',').map(pair => pair.slice(pair.indexOf('=') + 1).trim())
}

function nothing(said: Pick<TelemetryExport, 'target' | 'problem'>): TelemetryExport {
  return { ...said, close: async () => true }
}

async function loadSdk() {
  const [api, resources, traces, metrics, traceExporter, metricExporter] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-trace-node'),
    import('@opentelemetry/sdk-metrics'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/exporter-metrics-otlp-http'),
  ])
  return { api, ...resources, ...traces, ...metrics, ...traceExporter, ...metricExporter }
}

type Sdk = Awaited<ReturnType<typeof loadSdk>>

function register(sdk: Sdk, address: string, logger: Logger): TelemetryExport {
  // Both may throw on invalid environment variables; then nothing is registered.
  const traces = addressFor('TRACES') ? new sdk.OTLPTraceExporter() : undefined
  const metrics = addressFor('METRICS') ? new sdk.OTLPMetricExporter() : undefined
  const own = { 'service.name': TRACER, 'service.version': toolpostVersion() }
  // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override our name and version.
  const resource = sdk
    .defaultResource()
    .merge(sdk.resourceFromAttributes(own))
    .merge(sdk.detectResources({ detectors: [sdk.envDetector] }))
  const providers: { shutdown(): Promise<unknown> }[] = []
  if (traces) {
    const spanProcessors = [new sdk.BatchSpanProcessor(traces)]
    const provider = new sdk.NodeTracerProvider({ resource, spanProcessors })
    provider.register()
    providers.push(provider)
  }
  if (metrics) {
    const readers = [new sdk.PeriodicExportingMetricReader({ exporter: metrics })]
    const provider = new sdk.MeterProvider({ resource, readers })
    sdk.api.metrics.setGlobalMeterProvider(provider)
    providers.push(provider)
  }
  logProblems(sdk.api, logger)
  return {
    target: `sent to ${shownAddress(address)} (OTLP/HTTP)`,
    close: () => within(FLUSH_MS, Promise.all(providers.map(provider => provider.shutdown()))),
  }
}

/** A collector that is down must be logged, without flooding the log. */
function logProblems({ diag, DiagLogLevel }: OpenTelemetry, logger: Logger): void {
  const log = rateLimitedLog(logger, { intervalMs: 60_000 })
  const tell = (message: string) =>
    log.write('warn', 'OpenTelemetry problems', () => [
      { problem: safeText(message) },
      'OpenTelemetry problem',
    ])
  const silent = () => {}
  diag.setLogger({ error: tell, warn: tell, info: silent, debug: silent, verbose: silent }, DiagLogLevel.WARN)
}

/** Whether `work` succeeded within the limit. */
function within(limitMs: number, work: Promise<unknown>): Promise<boolean> {
  const isDone = work.then(
    () => true,
    () => false,
  )
  return Promise.race([isDone, delay(limitMs, false, { ref: false })])
}
