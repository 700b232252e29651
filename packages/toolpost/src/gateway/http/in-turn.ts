import type { IncomingMessage, ServerResponse } from 'node:http'
import { myTurn } from '../../runtime/turns.ts'

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown

/**
 * Calls and health checks start immediately. Lists, streams and MCP requests each wait for a separate turn, after pending
 * connections have been accepted; a client that has hung up by then costs nothing.
 */
export function inTurn(listener: Listener): Listener {
  return (request, response) => {
    const turn = isQuick(request) ? undefined : myTurn(request.socket)
    if (!turn) return listener(request, response)
    return turn.then(() => (response.destroyed ? undefined : listener(request, response)))
  }
}

const QUICK = /^\/(?:healthz|readyz|api\/tools\/[^/?]{1,512}\/call)(?:\?|$)/

function isQuick({ url = '' }: IncomingMessage): boolean {
  return QUICK.test(url)
}
