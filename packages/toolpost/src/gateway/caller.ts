import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { RunOptions } from '../executor/options.ts'
import { traceContext } from '../telemetry/trace-context.ts'

/** What Hono's server for Node passes along with a request. */
interface NodeEnvironment {
  outgoing?: ServerResponse
}

const connections = new WeakMap<Socket, AbortController>()

/**
 * The caller of a request: aborts when it goes away. Over a real connection that is when the connection ends, so that
 * all requests on it share one controller: making one, with its listeners, for each costs as much as a small call.
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

/** What goes along with the calls of a request: the trace that its headers name. */
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
