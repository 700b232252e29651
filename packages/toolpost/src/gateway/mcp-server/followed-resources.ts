import { ProtocolError, ProtocolErrorCode, type Server } from '@modelcontextprotocol/server'
import type { Catalog } from '../../mcp/catalog.ts'
import { isRecord } from '../../runtime/guards.ts'
import type { Client } from '../client.ts'
import { MAX_FOLLOWED } from '../limits.ts'
import { answering } from './offers.ts'

/** Notifies a client with a 2025 protocol when resources it subscribed to change, while it is connected. */
export function followResources(server: Server, catalog: Catalog, client: () => Client | undefined): void {
  const stops = new Map<string, () => void>()
  let beginning = 0
  let isClosed = false
  let stopListening: (() => void) | undefined
  const listen = () => {
    stopListening ??= catalog.on('updated', uri => {
      if (stops.has(uri)) server.sendResourceUpdated({ uri }).catch(() => {})
    })
  }
  server.setRequestHandler('resources/subscribe', async ({ params: { uri } }) => {
    if (stops.size + beginning >= MAX_FOLLOWED && !stops.has(uri))
      throw new ProtocolError(
        ProtocolErrorCode.InvalidRequest,
        `At most ${MAX_FOLLOWED} subscriptions per session`,
      )
    beginning++
    const stop = await answering(catalog.follow(uri, client()?.access('resources'))).finally(() => {
      beginning--
    })
    if (isClosed) {
      stop()
      return {}
    }
    stops.get(uri)?.()
    stops.set(uri, stop)
    listen()
    return {}
  })
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    stops.get(uri)?.()
    stops.delete(uri)
    return {}
  })
  whenClosed(server, () => {
    isClosed = true
    stopListening?.()
    for (const stop of stops.values()) stop()
    stops.clear()
  })
}

/** In addition to what already runs when it closes. */
export function whenClosed(server: Server, tell: () => void): void {
  const { onclose } = server
  server.onclose = () => {
    onclose?.()
    tell()
  }
}

/** Subscribes to resources for a client with the newest protocol; returns a function that ends it. */
export function followAll(catalog: Catalog, uris: readonly string[]): () => void {
  const following = uris.slice(0, MAX_FOLLOWED).map(uri => catalog.follow(uri).catch(() => () => {}))
  return () => void Promise.all(following).then(stops => stops.map(each => each()))
}

/** The same over HTTP, until the client's stream ends. */
export async function followWhile(
  catalog: Catalog,
  uris: readonly string[],
  respond: () => Promise<Response>,
): Promise<Response> {
  const stop = followAll(catalog, uris)
  const response = await respond().catch(error => {
    stop()
    throw error
  })
  if (!response.body) {
    stop()
    return response
  }
  const watched = new TransformStream()
  response.body.pipeTo(watched.writable).then(stop, stop)
  return new Response(watched.readable, response)
}

/** The filter of a `subscriptions/listen` that names resources. */
export function followedBy(body: unknown): { resourceSubscriptions: string[] } | undefined {
  if (!isRecord(body) || body.method !== 'subscriptions/listen' || !isRecord(body.params)) return undefined
  const { notifications } = body.params
  if (!isRecord(notifications) || !Array.isArray(notifications.resourceSubscriptions)) return undefined
  if (!notifications.resourceSubscriptions.every(uri => typeof uri === 'string')) return undefined
  return notifications as { resourceSubscriptions: string[] }
}
