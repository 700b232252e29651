import type { ClientCapabilities } from '@modelcontextprotocol/server'
import { RpcError } from '../../mcp/peer.ts'
import type { AskedBy, Caller, Question, QuestionAnswer } from '../../tools/caller.ts'
import { isRecord } from '../../util/guards.ts'
import { ELICITATION_MS } from '../limits.ts'
import { capabilitiesOf, levelRank, logLevelOf, type McpRequest } from './protocol.ts'

/* What a tool's server can ask of the client that called the tool: its person, its model, its folders, its log. */

/** How the client is asked: by a request in the 2025 protocols, by an `input_required` result in the newest. */
type SendRequest = (method: string, params: object, by: AskedBy) => Promise<unknown>

/** Left out is what the client cannot do. A client that fails, is gone or answers nonsense has not decided. */
export function helpOf(capabilities: ClientCapabilities, send: SendRequest, elicit = elicitParams): Caller {
  const { elicitation, sampling, roots } = capabilities
  const record = async (what: string, answer: Promise<unknown>) => {
    const given = await answer
    if (!isRecord(given)) throw new Error(`The client did not ${what}`)
    return given
  }
  return {
    ...(elicitation && {
      ask: async question => {
        if (!canShow(elicitation, question)) return { action: 'decline', reason: 'the client cannot show it' }
        return answerOf(await send('elicitation/create', elicit(question), question).catch(() => {}))
      },
    }),
    ...(sampling && {
      sample: (params, by) => record('write a message', send('sampling/createMessage', params, by)),
    }),
    ...(roots && { roots: by => record('list its roots', send('roots/list', {}, by)) }),
  }
}

/** Clients that predate other modes support forms implicitly. */
function canShow(elicitation: NonNullable<ClientCapabilities['elicitation']>, { url }: Question): boolean {
  if (url !== undefined) return elicitation.url !== undefined
  return elicitation.form !== undefined || elicitation.url === undefined
}

/** A question as the params of `elicitation/create`. Without a schema, accepting is the whole answer. */
function elicitParams({ message, schema, url, server }: Question) {
  const shown = server === undefined ? message : `${server}: ${message}`
  if (url !== undefined) return { mode: 'url', message: shown, url, elicitationId: crypto.randomUUID() }
  return { mode: 'form', message: shown, requestedSchema: schema ?? { type: 'object', properties: {} } }
}

function answerOf(response: unknown): QuestionAnswer {
  const { action, content } = isRecord(response) ? response : {}
  if (action !== 'accept' && action !== 'decline') return { action: 'cancel' }
  return { action, ...(isRecord(content) && { content }) }
}

const MAX_LOGS_PER_SECOND = 100
const logged = new WeakMap<McpRequest, { since: number; count: number }>()

/** Logs to the client, at the level it asked for and above. A flood is cut: reading it would keep the client from its other calls. */
export function logTo(request: McpRequest): NonNullable<Caller['onLog']> {
  return message => {
    const lowest = logLevelOf(request)
    if (lowest === undefined || levelRank(message.level) < levelRank(lowest)) return
    const now = performance.now()
    let recent = logged.get(request)
    if (!recent || now - recent.since >= 1_000) {
      recent = { since: now, count: 0 }
      logged.set(request, recent)
    }
    recent.count++
    if (recent.count <= MAX_LOGS_PER_SECOND) request.notify('notifications/message', { ...message })
    if (recent.count !== MAX_LOGS_PER_SECOND + 1) return
    const data = `More than ${MAX_LOGS_PER_SECOND} log messages in a second: the rest are left out`
    request.notify('notifications/message', { level: 'warning', logger: 'toolpost', data })
  }
}

/** Runs work with the help of a client of a 2025 protocol, which can be sent requests during its own. */
export async function helpedBy2025<Result>(
  request: McpRequest,
  work: (help: Caller) => Promise<Result>,
): Promise<Result> {
  const { caller, session } = request
  const capabilities = capabilitiesOf(request)
  /** The client is told when it is done with a page to visit. */
  const followed = (question: Question) => {
    const params = elicitParams(question)
    const { elicitationId } = params
    const tell = () => session?.notify('notifications/elicitation/complete', { elicitationId })
    if (elicitationId !== undefined) void question.completed?.then(tell)
    return params
  }
  const send: SendRequest = async (method, params, { signal }) => {
    const signals = [caller.signal, AbortSignal.timeout(ELICITATION_MS), ...(signal ? [signal] : [])]
    return request.request?.(method, params, { signal: AbortSignal.any(signals) })
  }
  let addresses: readonly Question[] = []
  const result = await work({
    peer: session ?? request,
    onLog: logTo(request),
    ...(request.request && helpOf(capabilities, send, followed)),
    // A client that can open pages gets those to visit first as an error, as its protocol specifies.
    ...(capabilities.elicitation?.url && {
      onAddresses: given => {
        addresses = given
      },
    }),
  })
  if (addresses.length === 0) return result
  const elicitations = addresses.filter(({ url }) => url !== undefined).map(followed)
  throw new RpcError('This request requires more information.', { code: -32_042, data: { elicitations } })
}
