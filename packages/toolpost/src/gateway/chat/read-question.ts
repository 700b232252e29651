import type { AiClient, AskOptions } from '../../models/ai-client.ts'
import { ModelError } from '../../models/model-error.ts'
import { isRecord } from '../../runtime/guards.ts'
import { metaOf } from '../caller.ts'
import type { Client } from '../client.ts'
import type { GatewaySource } from '../gateway-context.ts'
import { failure } from '../http/answers.ts'
import { readJson } from '../http/read-body.ts'
import { MAX_BODY_BYTES, MAX_MESSAGE_LENGTH } from '../limits.ts'
import { wantsQuestions } from '../routes/questions.ts'

/** A question in the chat. */
export interface ChatQuestion {
  client: Client
  message: string
  meta: AskOptions['meta']
  conversation: string | undefined
  /** The turn it replaces, counted from 0: that one and those after it are dropped. */
  turn: number | undefined
  /** The model to answer, if not the usual one. */
  model: string | undefined
  /** Whether the person chatting can answer questions from tools. */
  canBeAsked: boolean
}

/** The question in a request, or the response to an invalid one. */
export async function readQuestion(request: Request, client: Client): Promise<ChatQuestion | Response> {
  const body = await readJson(request, MAX_BODY_BYTES)
  if (body instanceof Response) return body
  const { message, conversation, turn, model } = isRecord(body.value) ? body.value : {}
  if (typeof message !== 'string' || message.trim() === '')
    return failure(400, "'message' must be a non-empty string")
  if (message.length > MAX_MESSAGE_LENGTH)
    return failure(400, `'message' is longer than ${MAX_MESSAGE_LENGTH} characters`)
  if (turn !== undefined && !(Number.isSafeInteger(turn) && (turn as number) >= 0))
    return failure(400, "'turn' must be a whole number, 0 or greater")
  if (model !== undefined && typeof model !== 'string') return failure(400, "'model' must be a string")
  if (model !== undefined && client.isNamed)
    return failure(403, "Only the gateway's own token can choose a model")
  return {
    client,
    message,
    meta: metaOf(request),
    conversation: ownConversation(client, conversation),
    turn: turn as number | undefined,
    model,
    canBeAsked: wantsQuestions(request),
  }
}

/** Other clients' conversations look as if they did not exist. */
function ownConversation(client: Client, id: unknown): string | undefined {
  if (typeof id !== 'string' || id === '') return undefined
  return id.slice(0, id.lastIndexOf('/') + 1) === prefixOf(client) ? id : undefined
}

/** The prefix of a client's conversation ids. */
export function prefixOf({ isNamed, name }: Client): string {
  return isNamed ? `${name}/` : ''
}

export interface Answerer {
  client: AiClient
  /** The model's name. */
  name: string
}

/** The client to answer the question, or the response that says why there is none. */
export async function answererFor(
  { model }: ChatQuestion,
  source: GatewaySource,
): Promise<Answerer | Response> {
  if (!source.client) return failure(404, 'The chat is off: no model client was passed to createGateway')
  if (model === undefined) return { client: source.client, name: await usualName(source) }
  try {
    const client = await source.clientOf?.(model)
    if (client) return { client, name: model }
  } catch (error) {
    if (error instanceof ModelError) return failure(400, error.message)
    throw error
  }
  const names = (await source.models?.())?.map(({ name }) => name) ?? []
  return failure(400, `Unknown model '${model.slice(0, 100)}'; expected one of ${names.join(', ')}`)
}

async function usualName(source: GatewaySource): Promise<string> {
  try {
    return (await source.model()).name
  } catch {
    return 'none'
  }
}
