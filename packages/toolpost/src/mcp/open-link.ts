import { openHttpLink } from './http-link.ts'
import { isHttp } from './server-entry.ts'
import type { Opening, ServerLink } from './server-link.ts'
import { openStdioLink } from './stdio-link.ts'

/** Opens a connection to a server, whichever kind it is; rejects with a ConnectError. */
export function openLink({ entry, ...rest }: Opening): Promise<ServerLink> {
  return isHttp(entry) ? openHttpLink({ entry, ...rest }) : openStdioLink({ entry, ...rest })
}
