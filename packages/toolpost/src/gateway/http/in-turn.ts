import type { IncomingMessage, RequestListener } from 'node:http'
import { myTurn } from '../../runtime/turns.ts'

const QUICK = /^\/(?:healthz|readyz|api\/tools\/[^/?]{1,512}\/call)(?:\?|$)/
const waits = new WeakMap<IncomingMessage, number>()

/**
 * Calls and health checks start immediately. Lists, streams and MCP requests each wait for a separate turn, after pending
 * connections have been accepted; a client that has hung up by then costs nothing.
 */
export function inTurn(listener: RequestListener): RequestListener {
  return (request, response) => {
    const turn = QUICK.test(request.url ?? '') ? undefined : myTurn(request.socket)
    if (!turn) return listener(request, response)
    const since = performance.now()
    return turn.then(() => {
      if (response.destroyed) return
      waits.set(request, performance.now() - since)
      return listener(request, response)
    })
  }
}

/** How long the request behind a Hono context waited for its turn. */
export function waitedForTurnMs({ env }: { env: unknown }): number {
  const { incoming } = (env ?? {}) as { incoming?: IncomingMessage }
  return (incoming && waits.get(incoming)) ?? 0
}
