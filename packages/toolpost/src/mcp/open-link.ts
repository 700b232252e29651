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
  /** Aborts it early. */
  giveUp: AbortController
}

/** Opens a connection to a server of either kind, within the time limit; resolves to the failure if it cannot. */
export async function openLink(options: OpenOptions): Promise<ServerLink | ServerFailure> {
  const { entry, context, clock, connectTimeoutMs, giveUp } = options
  const tooSlow = new Error(`no answer to the handshake within ${connectTimeoutMs} ms`)
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
