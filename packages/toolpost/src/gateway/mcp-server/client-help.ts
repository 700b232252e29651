import type { Server, ServerContext } from '@modelcontextprotocol/server'
import type { Caller, Question } from '../../tools/caller.ts'
import type { Client } from '../client.ts'
import type { ClientCall, Work } from './client-call.ts'
import {
  addressesRequired,
  capabilitiesOf,
  clientPeer,
  type LogLevel,
  type McpRequest,
  peerOf,
} from './client-peer.ts'
import type { Discoveries } from './client-tools.ts'
import type { OffersOptions } from './offers.ts'
import type { SuspendedCalls } from './suspended-calls.ts'
import { createdResult, knowsTasks } from './task-methods.ts'
import type { Tasks } from './tasks.ts'

/** A client of this gateway, for as long as it is connected. */
export interface Session {
  server: Server
  /** From which on the client wants to read logs, and whether it said so. */
  level: LogLevel
  hasLevel: boolean
  tasks: Tasks
  /** Whose tasks they are. */
  owner(): string
  /** For as long as it lasts. */
  readonly id: string
  readonly discoveries: Discoveries
}

/** What is kept for one conversation is not for another: a session, else what the client says that it is. */
export function conversationOf(session: Session, context: ServerContext): string {
  return isSession(session, context) ? session.id : peerOf(undefined, context.mcpReq)
}

/** Whether the client comes again: one of the 2025 protocols that did not begin a session does not. */
export function isSession({ server }: Session, { mcpReq }: ServerContext): boolean {
  return !mcpReq.envelope && server.getClientCapabilities() !== undefined
}

/** A request that was answered with a task: what is told of it goes to the session from now on. */
export function afterAnswer({ server }: Session, context: ServerContext): ServerContext {
  const notify: McpRequest['notify'] = notification => server.notification(notification)
  return { ...context, mcpReq: { ...context.mcpReq, notify } }
}

/** Does something for a request, and has its client help with it in the way that its protocol has. */
export function helper(
  session: Session,
  suspended: SuspendedCalls,
  client: () => Client | undefined,
): OffersOptions['withHelp'] {
  return ({ mcpReq: request }, about, work, mayBeTask) => {
    if (!request.envelope) return helpedBy2025(session, request, work)
    const capabilities = capabilitiesOf(session.server, request)
    const by = client()
    const toTask = (call: ClientCall<never>) => {
      const task = session.tasks.add(session.owner(), call)
      return task && (createdResult(task, true) as never)
    }
    const outcome = suspended.run<never>(request, {
      client: by?.name ?? '',
      about: [request.method, about],
      capabilities,
      work: (help, ...rest) => work({ ...help, peer: peerOf(by, request) }, ...rest) as Promise<never>,
      ...(mayBeTask && knowsTasks(capabilities) && { toTask }),
    })
    return outcome as ReturnType<typeof work>
  }
}

/** A client that can show addresses gets those that are to be visited first in an error, as its protocol has it. */
async function helpedBy2025<Result>(
  session: Session,
  request: McpRequest,
  work: Work<Result>,
): Promise<Result> {
  const { server, level } = session
  let addresses: readonly Question[] = []
  const canVisit = capabilitiesOf(server, request).elicitation?.url !== undefined
  const onAddresses: Caller['onAddresses'] = given => {
    addresses = given
  }
  const peer = { ...clientPeer(server, request, level), peer: session, ...(canVisit && { onAddresses }) }
  const result = await work(peer, request.signal, () => request)
  if (addresses.length > 0) throw addressesRequired(addresses, server)
  return result
}
