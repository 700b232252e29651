import type { GatewaySource } from './gateway-context.ts'

const PLACE = '{traceId}'

/** Where to see the trace of a call, if it has one and `trace.url` is configured. */
export function traceUrlOf({ config }: GatewaySource, traceId: unknown): string | undefined {
  const { url } = config?.trace || {}
  if (url === undefined || typeof traceId !== 'string' || !/^[\w-]{1,64}$/.test(traceId)) return undefined
  return url.replaceAll(PLACE, traceId)
}
