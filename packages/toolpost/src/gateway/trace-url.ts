import type { GatewaySource } from './gateway-context.ts'

const PLACE = '{traceId}'

/** Where the trace of a call is shown, if the call has one and `trace.url` of the configuration says where. */
export function traceUrlOf({ config }: GatewaySource, traceId: unknown): string | undefined {
  const { url } = config?.trace || {}
  if (url === undefined || typeof traceId !== 'string' || !/^[\w-]{1,64}$/.test(traceId)) return undefined
  return url.replaceAll(PLACE, traceId)
}
