import { randomUUID } from 'node:crypto'
import { safeText } from '../../logging/safe-value.ts'
import type { AiClient, CallNotice, ConversationMessage } from '../../models/ai-client.ts'
import { Conversations } from '../../models/conversations.ts'
import { ModelError } from '../../models/model-error.ts'
import type { AnswerPart, ChatCall, ChatEnd, ChatEvents, ChatTurn } from '../api-types.ts'
import { messagesOf } from '../chat-archive.ts'
import type { Client } from '../clients.ts'
import type { GatewayContext, GatewaySource } from '../context.ts'
import {
  type App,
  aborted,
  busy,
  EventStream,
  eventText,
  failure,
  headerOf,
  json,
  metaOf,
  onSignal,
  preferencesOf,
  type RequestContext,
  shuttingDown,
  withBody,
} from '../http.ts'
import {
  KEPT_CHARACTERS,
  KEPT_CONVERSATIONS,
  KEPT_MESSAGES,
  MAX_CHATS,
  MAX_MESSAGE_LENGTH,
} from '../limits.ts'
import { recordResult, recordValue } from '../recent-calls.ts'

const STILL_ANSWERING = 'This conversation is still being answered'

/** A question in the chat. */
interface Question {
  client: Client
  message: string
  /** The id of its conversation, known or new. */
  conversation: string
  /** The turn it replaces, counted from 0: that one and those after it are dropped. */
  turn: number | undefined
  /** Who answers, and the model's name. */
  answerer: { client: AiClient; name: string }
  meta: ReturnType<typeof metaOf>
  /** Whether the person chatting can answer questions from tools. */
  canBeAsked: boolean
}

type Send = <Type extends keyof ChatEvents>(event: Type, data: ChatEvents[Type]) => void
type Outcome = Omit<ChatEnd, 'conversation' | 'model' | 'durationMs'>

/** The chat, its models, and its conversations; every client has its own. */
export function addChatRoutes(app: App, context: GatewayContext): void {
  const { source, archive } = context
  const chat = new Chat(context)
  app.get('/api/model', async () => {
    const { name, why } = await source.model()
    return json({ name, why, voice: source.voice() !== undefined })
  })
  // Only those who may choose a model see the choice.
  app.get('/api/models', async c => {
    const usual = async () => (source.client ? [await source.model()] : [])
    const models = c.env.client.isNamed ? await usual() : await (source.models?.() ?? usual())
    return json({ models: models.map(({ name, why }) => ({ name, why })) })
  })
  app.post('/api/chat', c => withBody(c, body => chat.answer(c, body)))
  const path = '/api/conversations/:id'
  const unknown = () => failure(404, 'No conversation with this id')
  app.get('/api/conversations', async c => json({ conversations: await archive.list(c.env.client.name) }))
  app.get(path, async c => {
    const found = await archive.get(c.env.client.name, c.req.param('id'))
    return found ? json({ ...found, owner: undefined }) : unknown()
  })
  app.patch(path, c =>
    withBody(c, async ({ name }) => {
      if (typeof name !== 'string' || name.trim() === '')
        return failure(400, "'name' must be a non-empty string")
      const renamed = await archive.rename(c.env.client.name, c.req.param('id'), name)
      return renamed ? json(renamed) : unknown()
    }),
  )
  app.delete(path, async c => {
    const id = c.req.param('id')
    if (chat.busy.has(id)) return failure(409, STILL_ANSWERING)
    if (!(await archive.remove(c.env.client.name, id))) return unknown()
    chat.exact.forget(id)
    return new Response(null, { status: 204 })
  })
}

/** Answers questions, one at a time in each conversation. */
class Chat {
  readonly #context: GatewayContext
  /** The exact messages of conversations, for the lifetime of this process. */
  readonly exact = new Conversations({
    conversations: KEPT_CONVERSATIONS,
    messages: KEPT_MESSAGES,
    characters: KEPT_CHARACTERS,
  })
  /** The conversations that are being answered. */
  readonly busy = new Set<string>()

  constructor(context: GatewayContext) {
    this.#context = context
  }

  /** Streams the answer: `token`, `call`, `status`, and finally always one `end`. */
  async answer(c: RequestContext, body: Record<string, unknown>): Promise<Response> {
    const question = await this.#read(c, body)
    if (question instanceof Response) return question
    const { conversation } = question
    if (this.busy.has(conversation)) return failure(409, STILL_ANSWERING)
    if (this.busy.size >= MAX_CHATS) return busy('Too many questions at once')
    this.busy.add(conversation)
    const caller = onSignal(c.req.raw.signal)
    const stream = new EventStream({ onEnd: () => caller.abort(), outgoing: c.env.outgoing })
    const send: Send = (event, data) => stream.write(eventText(event, data))
    void this.#context.calls.run(caller, async () => {
      const end = await this.#answer(question, caller.signal, send)
      this.busy.delete(conversation)
      send('end', end)
      stream.close()
    })
    return stream.response
  }

  /** The question in a request, or the response to an invalid one. */
  async #read(c: RequestContext, body: Record<string, unknown>): Promise<Question | Response> {
    const { source, calls, archive } = this.#context
    const { client } = c.env
    const { message, conversation, turn, model } = body
    if (typeof message !== 'string' || message.trim() === '')
      return failure(400, "'message' must be a non-empty string")
    if (message.length > MAX_MESSAGE_LENGTH)
      return failure(400, `'message' is longer than ${MAX_MESSAGE_LENGTH} characters`)
    if (turn !== undefined && !(Number.isSafeInteger(turn) && (turn as number) >= 0))
      return failure(400, "'turn' must be a whole number, 0 or greater")
    if (model !== undefined && typeof model !== 'string') return failure(400, "'model' must be a string")
    if (model !== undefined && client.isNamed)
      return failure(403, "Only the gateway's own token can choose a model")
    if (calls.isDraining) return shuttingDown()
    const answerer = await answererFor(model, source)
    if (answerer instanceof Response) return answerer
    // An unknown id, or another client's, starts a new conversation under another id.
    const known = typeof conversation === 'string' && (await archive.get(client.name, conversation))
    return {
      client,
      message,
      conversation: known ? known.id : `${client.isNamed ? `${client.name}/` : ''}${randomUUID()}`,
      turn: turn as number | undefined,
      answerer,
      meta: metaOf(key => headerOf(c, key)),
      canBeAsked: preferencesOf(c).has('questions'),
    }
  }

  /** Never rejects: the end says what went wrong. The answer is saved before that is sent. */
  async #answer(question: Question, stop: AbortSignal, send: Send): Promise<ChatEnd> {
    const { archive, logger } = this.#context
    const { client, conversation, answerer, message, turn } = question
    const askedAt = Date.now()
    const startedAt = performance.now()
    const parts: AnswerPart[] = []
    const told: Send = (event, data) => {
      if (event === 'token') addText(parts, (data as ChatEvents['token']).text)
      if (event === 'call') addCall(parts, data as ChatCall)
      send(event, data)
    }
    let outcome: Outcome = { text: '', stopReason: 'error', error: 'The answer could not be saved' }
    const about = () => ({ model: answerer.name, durationMs: Math.round(performance.now() - startedAt) })
    try {
      const before = (await archive.get(client.name, conversation))?.turns.slice(0, turn) ?? []
      outcome = await this.#ask(question, before, stop, told)
      const { text, ...end } = outcome
      // The whole text counts only if nothing was streamed.
      if (!parts.some(part => part.kind === 'text' && part.text.trim() !== '')) addText(parts, text)
      const answered = { question: message, askedAt, parts, end: { ...end, ...about() } }
      await archive.keep(client.name, conversation, [...before, answered])
    } catch (error) {
      logger.error({ error: safeText(String(error)) }, 'Could not save a conversation')
    }
    return { ...outcome, conversation, ...about() }
  }

  async #ask(
    { client, conversation, turn, answerer, message, meta, canBeAsked }: Question,
    before: readonly ChatTurn[],
    stop: AbortSignal,
    send: Send,
  ): Promise<Outcome> {
    const { executor, logger, instructions, questions } = this.#context
    // The exact messages while this process lives; after that, as saved.
    const exact = turn === undefined ? this.exact.of(conversation) : undefined
    const said: readonly ConversationMessage[] = exact ?? messagesOf(before, result => executor.text(result))
    try {
      const asked = answerer.client.ask(
        [{ role: 'system', content: instructions }, ...said, { role: 'user', content: message }],
        {
          executor,
          origin: 'chat',
          meta,
          caller: client.caller,
          conversation,
          ask: canBeAsked ? questions.askFor({ caller: client.caller }) : undefined,
          // Read when the question is asked: tools may still be connecting.
          get tools() {
            return client.isNamed ? client.tools() : undefined
          },
          signal: stop,
          onToken: text => send('token', { text }),
          onCall: event => send('call', callData(event)),
          onStatus: status => send('status', status),
        },
      )
      // A client that ignores its signal is not waited for.
      const given = await Promise.race([asked, aborted(stop)])
      if (!given) throw new Error('The answer was stopped')
      this.exact.keep(conversation, given.messages)
      const { text, stopReason, iterations, usage, modelCalls } = given
      const counted = { ...(usage && { usage }), ...(modelCalls?.length && { model_calls: modelCalls }) }
      return { text, stopReason, iterations, ...counted }
    } catch (error) {
      const why = safeText(error instanceof Error ? error.message : String(error))
      if (!stop.aborted) logger.warn({ error: why }, 'Chat failed')
      return { text: '', stopReason: stop.aborted ? 'stopped' : 'error', error: why }
    }
  }
}

function addText(parts: AnswerPart[], text: string): void {
  const last = parts.at(-1)
  if (last?.kind === 'text') last.text += text
  else if (text !== '') parts.push({ kind: 'text', text })
}

function addCall(parts: AnswerPart[], call: ChatCall): void {
  const known = parts.find(part => part.kind === 'call' && part.call.id === call.id)
  if (known?.kind === 'call') known.call = call
  else parts.push({ kind: 'call', call })
}

/** The client to answer with this model, or the usual one; or the response that says why there is none. */
async function answererFor(
  model: string | undefined,
  source: GatewaySource,
): Promise<Question['answerer'] | Response> {
  if (!source.client) return failure(404, 'The chat is off: no model client was passed to createGateway')
  if (model === undefined) {
    const usual = await source.model().catch(() => undefined)
    return { client: source.client, name: usual?.name ?? 'none' }
  }
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

/** Bounded, without secrets, as in the list of calls. */
function callData(event: CallNotice): ChatCall {
  const { id = '', name, args } = event.call
  const data = { id, name, args: recordValue(args) }
  return event.type === 'start'
    ? { phase: 'start', ...data }
    : { phase: 'end', ...data, result: recordResult(event.result) }
}
