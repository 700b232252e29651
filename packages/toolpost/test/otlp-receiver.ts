import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A span as OTLP/HTTP has it in JSON. */
export interface ReceivedSpan {
  traceId: string
  spanId: string
  parentSpanId: string | undefined
  name: string
  /** 1 internal, 3 client. */
  kind: number
  attributes: Record<string, unknown>
  status: { code?: number; message?: string }
}

/** `hangs` takes the request and never answers. */
export type Behaviour = 'accepts' | 'fails' | 'hangs'

/** A real receiver of OTLP/HTTP on loopback. */
export async function otlpReceiver(behaviour: Behaviour = 'accepts') {
  const bodies: { path: string; body: OtlpBody }[] = []
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    bodies.push({ path: request.url ?? '', body: JSON.parse(Buffer.concat(chunks).toString('utf8')) })
    if (behaviour !== 'hangs') response.writeHead(behaviour === 'fails' ? 500 : 200).end('{}')
  })
  await new Promise<void>(resolve => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get requests() {
      return bodies.length
    },
    spans: () => bodies.flatMap(({ body }) => body.resourceSpans ?? []).flatMap(spansOf),
    metrics: () => bodies.flatMap(({ body }) => body.resourceMetrics ?? []).flatMap(metricsOf),
    /** Of the first request. */
    resource: () =>
      attributesOf(bodies.flatMap(({ body }) => body.resourceSpans ?? [])[0]?.resource.attributes ?? []),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

interface OtlpBody {
  resourceSpans?: Scoped[]
  resourceMetrics?: Scoped[]
}

interface Scoped {
  resource: { attributes: Attribute[] }
  scopeSpans?: { spans: (Omit<ReceivedSpan, 'attributes'> & { attributes: Attribute[] })[] }[]
  scopeMetrics?: { metrics: { name: string; unit: string }[] }[]
}

interface Attribute {
  key: string
  value: { stringValue?: string; intValue?: number; arrayValue?: { values: Attribute['value'][] } }
}

function spansOf({ scopeSpans = [] }: Scoped): ReceivedSpan[] {
  return scopeSpans
    .flatMap(({ spans }) => spans)
    .map(span => ({ ...span, attributes: attributesOf(span.attributes) }))
}

function metricsOf({ scopeMetrics = [] }: Scoped) {
  return scopeMetrics.flatMap(({ metrics }) => metrics)
}

function attributesOf(attributes: Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]))
}

function plain({ stringValue, intValue, arrayValue }: Attribute['value']): unknown {
  return arrayValue ? arrayValue.values.map(plain) : (stringValue ?? intValue)
}
