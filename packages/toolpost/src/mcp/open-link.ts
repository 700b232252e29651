import type { Clock } from '../runtime/clock.ts'
import { openHttpLink } from './open-http-link.ts'
import { isHttp, type ServerEntry } from './server-entry.ts'
import { ConnectError, describeError, failureWith, type ServerFailure } from './server-failure.ts'
import type { LinkContext, ServerLink } from './server-link.ts'
import { openStdioLink } from './stdio-link.ts'

export interface OpenOptions {
  entry: ServerEntry
  context: LinkContext
  clock: Clock
  connectTimeoutMs: number
  /** Gives it up before its time. */
  giveUp: AbortController
}

/** Opens a connection to a server, whichever kind it is, in the time it has; resolves to why it could not, if so. */
export async function openLink(options: OpenOptions): Promise<ServerLink | ServerFailure> {
  const { entry, context, clock, connectTimeoutMs, giveUp } = options
  const tooSlow = new Error(`no answer to the handshake in ${connectTimeoutMs} ms`)
  const timer = clock.setTimer(() => giveUp.abort(tooSlow), connectTimeoutMs)
  const rest = { context, signal: giveUp.signal }
  try {
    return await (isHttp(entry) ? openHttpLink({ entry, ...rest }) : openStdioLink({ entry, ...rest }))
  } catch (error) {
    return error instanceof ConnectError ? error.failure : failureWith(describeError(error))
  } finally {
    timer.cancel()
  }
}
