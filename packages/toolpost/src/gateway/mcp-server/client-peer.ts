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
import type { Caller, Question, QuestionAnswer } from '../../tools/caller.ts'
import type { Client } from '../client.ts'
import { ELICITATION_MS } from '../limits.ts'

export type McpRequest = ServerContext['mcpReq']

/** Accepting is the whole answer: there is nothing to fill in. */
const NOTHING_TO_FILL_IN = { type: 'object' as const, properties: {} }

/** The client's capabilities: in each request of the newest protocol, else from `initialize`. */
export function capabilitiesOf(server: Server, { envelope }: McpRequest): ClientCapabilities {
  const given = (envelope as { [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } | undefined)?.[
    CLIENT_CAPABILITIES_META_KEY
  ]
  return (envelope ? given : server.getClientCapabilities()) ?? {}
}

/** Identifies the client of the newest protocol, which has no sessions: by its configured name, else by its own info. */
export function peerOf(client: Client | undefined, { envelope }: McpRequest): string {
  const info = (envelope as Record<string, unknown> | undefined)?.[CLIENT_INFO_META_KEY]
  return client?.isNamed ? client.name : `mcp ${JSON.stringify(info)}`
}

/** Whether a client can show this question. Clients that predate other modes support forms implicitly. */
export function canShow({ elicitation }: ClientCapabilities, { url }: Question): boolean {
  if (!elicitation) return false
  if (url !== undefined) return elicitation.url !== undefined
  return elicitation.form !== undefined || elicitation.url === undefined
}

/** A question as the params of `elicitation/create`. */
export function elicitParams({ message, schema, url, server }: Question) {
  const shown = server === undefined ? message : `${server}: ${message}`
  if (url !== undefined)
    return { mode: 'url' as const, message: shown, url, elicitationId: crypto.randomUUID() }
  return { mode: 'form' as const, message: shown, requestedSchema: (schema ?? NOTHING_TO_FILL_IN) as never }
}

/** A client's answer; anything unexpected counts as `cancel`. */
export function answerOf(response: unknown): QuestionAnswer {
  const { action, content } = isRecord(response) ? response : {}
  if (action !== 'accept' && action !== 'decline') return { action: 'cancel' }
  return { action, ...(isRecord(content) && { content }) }
}

/** A question for a client with a 2025 protocol, which is notified when a URL question is completed. */
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

/** The error for a client with a 2025 protocol that has to visit URLs before calling again. */
export function addressesRequired(addresses: readonly Question[], server: Server): Error {
  const params = addresses.map(address => followedParams(address, server))
  return new UrlElicitationRequiredError(params.filter(each => each.mode === 'url'))
}

/** How to reach a client with a 2025 protocol during one of its own requests. */
export function clientPeer(server: Server, request: McpRequest, level: McpLogLevel | undefined): Caller {
  const capabilities = capabilitiesOf(server, request)
  const within = (signal?: AbortSignal) => ({
    signal: signal ? AbortSignal.any([request.signal, signal]) : request.signal,
    timeout: ELICITATION_MS,
  })
  return {
    onLog: logTo(request, level),
    ...(capabilities.elicitation && {
      // A client that fails, is gone or sends something unexpected has not decided.
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

export type McpLogLevel = (typeof LEVELS)[number]

/** The log level a request of the newest protocol asks for; without one, nothing is logged. */
export function levelIn({ envelope }: McpRequest): McpLogLevel | undefined {
  const level = (envelope as Record<string, unknown> | undefined)?.[LOG_LEVEL_META_KEY]
  return LEVELS.find(each => each === level)
}

/** Logs to the client, at `level` and above. */
export function logTo(request: McpRequest, level: McpLogLevel | undefined): Caller['onLog'] {
  if (level === undefined) return undefined
  return message => {
    if (LEVELS.indexOf(message.level as McpLogLevel) < LEVELS.indexOf(level)) return
    // The client may be gone.
    request.notify({ method: 'notifications/message', params: { ...message } }).catch(() => {})
  }
}
