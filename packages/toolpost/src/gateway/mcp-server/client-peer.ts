import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  LOG_LEVEL_META_KEY,
  type Server,
  type ServerContext,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/server'
import { isRecord } from '../../runtime/guards.ts'
import type { Answer, Caller, Question } from '../../tools/caller.ts'
import type { Client } from '../client.ts'
import { ELICITATION_MS } from '../limits.ts'

export type McpRequest = ServerContext['mcpReq']

/** Accepting is the answer: there is nothing to fill in. */
const NOTHING_TO_FILL_IN = { type: 'object' as const, properties: {} }

/** What the client of a request says it can do: in the request itself in the newest protocol, else at its beginning. */
export function capabilitiesOf(server: Server, { envelope }: McpRequest): ClientCapabilities {
  const given = (envelope as { [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } | undefined)?.[
    CLIENT_CAPABILITIES_META_KEY
  ]
  return (envelope ? given : server.getClientCapabilities()) ?? {}
}

/** Who makes a request of the newest protocol, which has no sessions: a client of the configuration, else by what it says. */
export function peerOf(client: Client | undefined, { envelope }: McpRequest): string {
  const info = (envelope as Record<string, unknown> | undefined)?.[CLIENT_INFO_META_KEY]
  return client?.isNamed ? client.name : `mcp ${JSON.stringify(info)}`
}

/** Whether a client can be asked this. Before there were other modes, forms went without saying. */
export function canShow({ elicitation }: ClientCapabilities, { url }: Question): boolean {
  if (!elicitation) return false
  if (url !== undefined) return elicitation.url !== undefined
  return elicitation.form !== undefined || elicitation.url === undefined
}

/** A question as `elicitation/create` has it. */
export function elicitParams({ message, schema, url, server }: Question) {
  const shown = server === undefined ? message : `${server}: ${message}`
  if (url !== undefined)
    return { mode: 'url' as const, message: shown, url, elicitationId: crypto.randomUUID() }
  return { mode: 'form' as const, message: shown, requestedSchema: (schema ?? NOTHING_TO_FILL_IN) as never }
}

/** What a client made of a question; anything else than an answer is none. */
export function answerOf(response: unknown): Answer {
  const { action, content } = isRecord(response) ? response : {}
  if (action !== 'accept' && action !== 'decline') return { action: 'cancel' }
  return { action, ...(isRecord(content) && { content }) }
}

/** A question as a client of the 2025 protocols gets it, which is told when what an address was for is done. */
function followedParams(question: Question, server: Server) {
  const params = elicitParams(question)
  if (params.mode !== 'url') return params
  const { elicitationId } = params
  const tell = () =>
    server.notification({ method: 'notifications/elicitation/complete', params: { elicitationId } })
  // The client may be gone.
  question.completed?.then(tell).catch(() => {})
  return params
}

/** What a client of the 2025 protocols reads if it has to visit addresses before it may call again. */
export function addressesRequired(addresses: readonly Question[], server: Server): Error {
  const params = addresses.map(address => followedParams(address, server))
  return new UrlElicitationRequiredError(params.filter(each => each.mode === 'url'))
}

/** How a client of the 2025 protocols is reached while a request of its own is under way. */
export function clientPeer(server: Server, request: McpRequest, level: LogLevel | undefined): Caller {
  const capabilities = capabilitiesOf(server, request)
  const within = (signal?: AbortSignal) => ({
    signal: signal ? AbortSignal.any([request.signal, signal]) : request.signal,
    timeout: ELICITATION_MS,
  })
  return {
    onLog: logTo(request, level),
    ...(capabilities.elicitation && {
      // A client that fails, is gone or answers something else has not decided.
      ask: async question => {
        if (!canShow(capabilities, question)) return { action: 'decline', reason: CANNOT_SHOW }
        const asked = { method: 'elicitation/create', params: followedParams(question, server) } as const
        return request.send(asked, within(question.signal)).then(answerOf, () => ({ action: 'cancel' }))
      },
    }),
    ...(capabilities.roots && {
      roots: async ({ signal }) => request.send({ method: 'roots/list' }, within(signal)),
    }),
    ...(capabilities.sampling && {
      sample: async (params, { signal }) =>
        request.send({ method: 'sampling/createMessage', params }, within(signal)),
    }),
  }
}

export const CANNOT_SHOW = 'the client cannot show it'

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const

export type LogLevel = (typeof LEVELS)[number]

/** The level that a request of the newest protocol asks for; such a request logs nothing unless it does. */
export function levelIn({ envelope }: McpRequest): LogLevel | undefined {
  const level = (envelope as Record<string, unknown> | undefined)?.[LOG_LEVEL_META_KEY]
  return LEVELS.find(each => each === level)
}

/** Logs to the client, from `level` on. */
export function logTo(request: McpRequest, level: LogLevel | undefined): Caller['onLog'] {
  if (level === undefined) return undefined
  return message => {
    if (LEVELS.indexOf(message.level as LogLevel) < LEVELS.indexOf(level)) return
    // The client may be gone.
    request.notify({ method: 'notifications/message', params: { ...message } }).catch(() => {})
  }
}
