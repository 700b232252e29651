import { unlessAborted } from '../runtime/unless-aborted.ts'
import { type HttpKind, retryAfterMs } from './http-fetch.ts'
import { HttpLink } from './http-link.ts'
import { HttpMessages } from './http-messages.ts'
import { createHttpTransport, describeHttpError, wantsSse } from './http-transport.ts'
import type { HttpServerEntry } from './server-entry.ts'
import { ConnectError, failureWith, neededLogin } from './server-failure.ts'
import type { Opening, ServerLink } from './server-link.ts'

/** Connects over Streamable HTTP, or over SSE if the server is too old for that; rejects with a ConnectError. */
export async function openHttpLink(opening: Opening<HttpServerEntry>): Promise<ServerLink> {
  const { memory } = opening.context
  if (opening.entry.type === 'sse' || memory.sse) return connect(opening, 'sse')
  try {
    return await connect(opening, 'streamable')
  } catch (error) {
    if (!wantsSse((error as ConnectError).cause)) throw error
    const link = await connect(opening, 'sse').catch(() => undefined)
    // The first error says more: it is no surprise that this is not an SSE server either.
    if (!link) throw error
    memory.sse = true
    return link
  }
}

async function connect(
  { entry, context, signal }: Opening<HttpServerEntry>,
  kind: HttpKind,
): Promise<ServerLink> {
  const messages = new HttpMessages(context.events, entry.maxLineBytes)
  const transport = await createHttpTransport(entry, kind, { messages, login: context.login })
  const link = new HttpLink(transport, { url: entry.url, messages, context })
  try {
    await unlessAborted(link.connect(kind), signal)
    return link
  } catch (error) {
    await link.close()
    const [login, afterMs] = [neededLogin(error), retryAfterMs(error)]
    const failure = failureWith(login?.message ?? describeHttpError(error))
    throw new ConnectError(
      { ...failure, needsLogin: login !== undefined, retryAfterMs: afterMs },
      { cause: error },
    )
  }
}
