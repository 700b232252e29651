import type { RequestListener } from 'node:http'
import { MAX_EVENT_CLIENTS } from '../limits.ts'

const EVENTS = /^\/api\/events(?:\?|$)/
const REFUSAL = JSON.stringify({ error: 'Too many event subscribers' })
const HEADERS = { 'content-type': 'application/json; charset=utf-8', 'retry-after': '5', connection: 'close' }

/**
 * Refuses event streams over the limit before anything else is done for them: thousands may connect at once, and each
 * would cost 20 kB and a turn of the event loop to be refused later.
 */
export function fewStreams(listener: RequestListener, max = MAX_EVENT_CLIENTS): RequestListener {
  let open = 0
  return (request, response) => {
    if (!EVENTS.test(request.url ?? '')) return listener(request, response)
    if (open >= max) return response.writeHead(503, HEADERS).end(REFUSAL)
    open++
    response.once('close', () => void open--)
    return listener(request, response)
  }
}
