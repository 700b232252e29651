import { randomUUID } from 'node:crypto'
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { Answer, Ask, Question } from '../../executor/options.ts'
import { fingerprint } from '../../interceptors/canonical.ts'
import { ELICITATION_MS, MAX_ELICITATIONS } from '../limits.ts'

type McpRequest = ServerContext['mcpReq']

/** Of one call: how the person at the client is asked, and what is sent in place of a result if that takes a round trip. */
export interface Elicitation {
  /** Left out if the client cannot show a question. */
  ask?: Ask | undefined
  question?: () => InputRequiredResult | undefined
}

/** Accepting is the answer: there is nothing to fill in. */
const NOTHING_TO_FILL_IN = { type: 'object' as const, properties: {} }
const KEY = 'approval'

/** Asks people through their MCP clients. */
export class Elicitations {
  /** Questions that clients of the newest protocol took along: what call each is about, and until when it may be answered. */
  readonly #open = new Map<string, { call: string; until: number }>()

  of(server: Server, request: McpRequest, call: unknown): Elicitation {
    const envelope = request.envelope as { [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } | undefined
    if (!showsForms(envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities())) return {}
    return envelope ? this.#roundTrip(request, call) : { ask: question => send(request, question) }
  }

  /** The newest protocol has no requests to a client: it is handed the question, and comes again with the answer. */
  #roundTrip(request: McpRequest, call: unknown): Elicitation {
    let message: string | undefined
    return {
      ask: async question => {
        const answer = this.#answerIn(request, call)
        if (answer) return answer
        message = question.message
        return { action: 'decline', reason: 'the client asks its person first' }
      },
      question: () => (message === undefined ? undefined : this.#handOut(message, call)),
    }
  }

  #handOut(message: string, call: unknown): InputRequiredResult {
    const requestState = randomUUID()
    const [oldest] = this.#open.keys()
    if (oldest !== undefined && this.#open.size >= MAX_ELICITATIONS) this.#open.delete(oldest)
    this.#open.set(requestState, { call: fingerprint(call), until: performance.now() + ELICITATION_MS })
    const approval = inputRequired.elicit({ message, requestedSchema: NOTHING_TO_FILL_IN })
    return inputRequired({ inputRequests: { [KEY]: approval }, requestState })
  }

  /** Only to a question that was asked, about this very call, and once. */
  #answerIn({ inputResponses, requestState }: McpRequest, call: unknown): Answer | undefined {
    const state = requestState<string>() ?? ''
    const asked = this.#open.get(state)
    if (asked?.call !== fingerprint(call)) return undefined
    this.#open.delete(state)
    const response = inputResponse(inputResponses, KEY)
    if (response.kind !== 'elicit' || performance.now() > asked.until) return { action: 'cancel' }
    return { action: response.action }
  }
}

/** Before there were other modes, forms went without saying. */
function showsForms(capabilities: ClientCapabilities | undefined): boolean {
  const { elicitation } = capabilities ?? {}
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
}

/** A client that fails, is gone or answers something else has not decided. */
async function send(request: McpRequest, { message, signal }: Question): Promise<Answer> {
  const params = { mode: 'form', message, requestedSchema: NOTHING_TO_FILL_IN }
  const signals = [request.signal, ...(signal ? [signal] : [])]
  const options = { signal: AbortSignal.any(signals), timeout: ELICITATION_MS }
  try {
    const { action } = await request.send({ method: 'elicitation/create', params }, options)
    return { action }
  } catch {
    return { action: 'cancel' }
  }
}
