import { ProtocolError, ProtocolErrorCode, type Server } from '@modelcontextprotocol/server'
import type { Catalog } from '../../mcp/catalog.ts'
import type { Client } from '../clients.ts'
import { MAX_FOLLOWED } from '../limits.ts'
import { answering } from './offers.ts'

/** Tells a client of the 2025 protocols when resources change that it subscribed to, for as long as it is there. */
export function followResources(server: Server, catalog: Catalog, client: () => Client | undefined): void {
  const stops = new Map<string, () => void>()
  let stopListening: (() => void) | undefined
  const listen = () => {
    stopListening ??= catalog.on('updated', uri => {
      if (stops.has(uri)) server.sendResourceUpdated({ uri }).catch(() => {})
    })
  }
  server.setRequestHandler('resources/subscribe', async ({ params: { uri } }) => {
    if (stops.size >= MAX_FOLLOWED)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidRequest,
        `At most ${MAX_FOLLOWED} subscriptions a session`,
      )
    const stop = await answering(catalog.follow(uri, client()?.access('resources')))
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
    stopListening?.()
    for (const stop of stops.values()) stop()
    stops.clear()
  })
}

/** Beside what is done already when it closes. */
export function whenClosed(server: Server, tell: () => void): void {
  const { onclose } = server
  server.onclose = () => {
    onclose?.()
    tell()
  }
}

/** Follows what a client of the newest protocol listens to, until its stream ends. */
export async function followWhile(
  catalog: Catalog,
  uris: readonly string[],
  respond: () => Promise<Response>,
): Promise<Response> {
  const following = uris.slice(0, MAX_FOLLOWED).map(uri => catalog.follow(uri).catch(() => () => {}))
  const stop = () => void Promise.all(following).then(stops => stops.map(each => each()))
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
