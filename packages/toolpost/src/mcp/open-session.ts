import { openHttpSession } from './http-session.ts'
import { isHttp } from './server-entry.ts'
import type { Opening, Session } from './session.ts'
import { openStdioSession } from './stdio-session.ts'

/** Opens a connection to a server, whichever kind it is; rejects with a ConnectError. */
export function openSession({ entry, ...rest }: Opening): Promise<Session> {
  return isHttp(entry) ? openHttpSession({ entry, ...rest }) : openStdioSession({ entry, ...rest })
}
