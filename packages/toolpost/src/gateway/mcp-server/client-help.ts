import type { Server, ServerContext } from '@modelcontextprotocol/server'
import type { Caller, Question } from '../../tools/caller.ts'
import type { Client } from '../client.ts'
import type { ClientCall, Work } from './client-call.ts'
import {
  addressesRequired,
  capabilitiesOf,
  clientPeer,
  type McpLogLevel,
  type McpRequest,
  peerOf,
} from './client-peer.ts'
import type { Discoveries } from './client-tools.ts'
import type { OffersOptions } from './offers.ts'
import type { SuspendedCalls } from './suspended-calls.ts'
import { createdResult, knowsTasks } from './task-methods.ts'
import type { Tasks } from './tasks.ts'

/** A client of this gateway, for as long as it is connected. */
export interface ClientSession {
  server: Server
  /** The client's minimum log level, and whether it was set. */
  level: McpLogLevel
  hasLevel: boolean
  tasks: Tasks
  /** Whose tasks they are. */
  owner(): string
  /** Unique to this session. */
  readonly id: string
  readonly discoveries: Discoveries
}

/** Identifies the conversation that kept results belong to: the session, else the client's own info. */
export function conversationOf(session: ClientSession, context: ServerContext): string {
  return isSession(session, context) ? session.id : peerOf(undefined, context.mcpReq)
}

/** Whether the request belongs to a session: those of the newest protocol, or without `initialize`, do not. */
export function isSession({ server }: ClientSession, { mcpReq }: ServerContext): boolean {
  return !mcpReq.envelope && server.getClientCapabilities() !== undefined
}

/** For a request answered with a task: its notifications go to the session from now on. */
export function afterAnswer({ server }: ClientSession, context: ServerContext): ServerContext {
  const notify: McpRequest['notify'] = notification => server.notification(notification)
  return { ...context, mcpReq: { ...context.mcpReq, notify } }
}

/** Runs work for a request, with the client's help in whichever way its protocol provides. */
export function helper(
  session: ClientSession,
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

/** A client that can open URLs gets those to visit first as an error, as its protocol specifies. */
async function helpedBy2025<Result>(
  session: ClientSession,
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
