import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { RunOptions } from '../executor/options.ts'
import { traceContext } from '../telemetry/trace-context.ts'

/** What Hono's Node server passes along with a request. */
interface NodeEnvironment {
  outgoing?: ServerResponse
}

const connections = new WeakMap<Socket, AbortController>()

/**
 * A controller that aborts when the caller goes away. On a real connection that is when the connection closes, so all
 * of its requests share one controller: one per request, with its listeners, would cost as much as a small call.
 */
export function callerOf(request: Request, environment: unknown): AbortController {
  const socket = (environment as NodeEnvironment | undefined)?.outgoing?.socket
  return socket ? onConnection(socket) : onSignal(request.signal)
}

function onConnection(socket: Socket): AbortController {
  let caller = connections.get(socket)
  if (!caller) {
    const made = new AbortController()
    socket.once('close', () => made.abort(new Error('The caller disconnected')))
    connections.set(socket, made)
    caller = made
  }
  return caller
}

/** The `meta` for the calls of a request: the trace named in its headers. */
export function metaOf({ headers }: Request): RunOptions['meta'] {
  return traceContext(key => headers.get(key)) as RunOptions['meta']
}

/** A controller that aborts with `signal`. */
export function onSignal(signal: AbortSignal): AbortController {
  const caller = new AbortController()
  if (signal.aborted) caller.abort(signal.reason)
  else signal.addEventListener('abort', () => caller.abort(signal.reason), { once: true })
  return caller
}
