import { randomUUID } from 'node:crypto'
import { safeText } from '../../logging/safe-value.ts'
import type { AiClient, ConversationMessage } from '../../models/ai-client.ts'
import { Conversations } from '../../models/conversation.ts'
import { ModelError } from '../../models/model-error.ts'
import { unlessAborted } from '../../util/clock.ts'
import type { AnswerPart, ChatCall, ChatEnd, ChatEvents, ChatTurn, ConversationRecord } from '../api-types.ts'
import { recordResult, recordValue } from '../call-log.ts'
import { messagesOf } from '../chat-archive.ts'
import type { GatewayContext, GatewaySource } from '../context.ts'
import * as http from '../http.ts'
import * as limits from '../limits.ts'

const { failure, json, withBody } = http
const STILL_ANSWERING = 'This conversation is still being answered'

/** A question in the chat. */
interface Question {
  message: string
  /** The id of its conversation, known or new. */
  conversation: string
  /** The turns before it: all, or those before the one that it replaces. */
  before: readonly ChatTurn[]
  isReplacing: boolean
  /** Who answers, and the model's name. */
  answerer: { client: AiClient; name: string }
}

/** The chat, its models, and its conversations; every client has its own. */
export function addChatRoutes(app: http.App, context: GatewayContext): void {
  const { source, archive, calls, executor, logger, instructions, questions } = context
  /** The exact messages of conversations, for the lifetime of this process. */
  const exact = new Conversations({
    conversations: limits.KEPT_CONVERSATIONS,
    messages: limits.KEPT_MESSAGES,
    characters: limits.KEPT_CHARACTERS,
  })
  /** The conversations that are being answered. */
  const busy = new Set<string>()
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
  const path = '/api/conversations/:id'
  const unknown = () => failure(404, 'No conversation with this id')
  app.get('/api/conversations', async c => {
    const found = await archive.list(c.env.client.name)
    return json({ conversations: found.map(infoOf) })
  })
  app.get(path, async c => {
    const found = await archive.get(c.env.client.name, c.req.param('id'))
    return found ? json({ ...found, owner: undefined }) : unknown()
  })
  app.patch(path, c =>
    withBody(c, async ({ name }) => {
      if (typeof name !== 'string' || !/\S/.test(name))
        return failure(400, "'name' must be a non-empty string")
      const renamed = await archive.rename(c.env.client.name, c.req.param('id'), name)
      return renamed ? json(infoOf(renamed)) : unknown()
    }),
  )
  app.delete(path, async c => {
    const id = c.req.param('id')
    if (busy.has(id)) return failure(409, STILL_ANSWERING)
    if (!(await archive.remove(c.env.client.name, id))) return unknown()
    exact.forget(id)
    return http.noContent()
  })
  app.post('/api/chat', c =>
    withBody(c, async body => {
      const question = await read(c, body)
      if (question instanceof Response) return question
      const { conversation } = question
      if (busy.has(conversation)) return failure(409, STILL_ANSWERING)
      if (busy.size >= limits.MAX_CHATS) return http.busy('Too many questions at once')
      busy.add(conversation)
      const caller = http.onSignal(c.req.raw.signal)
      const stream = new http.EventStream(() => caller.abort(), c.env.outgoing)
      void calls.run(caller, async () => {
        const end = await answer(c, question, caller.signal, stream)
        busy.delete(conversation)
        stream.write(http.eventText('end', end))
        stream.close()
      })
      return stream.response
    }),
  )

  /** The question in a request, or the response to an invalid one. */
  async function read(c: http.RequestContext, body: http.Body): Promise<Question | Response> {
    const { client } = c.env
    const { message, conversation, turn, model } = body
    if (typeof message !== 'string' || !/\S/.test(message))
      return failure(400, "'message' must be a non-empty string")
    if (message.length > limits.MAX_MESSAGE_LENGTH)
      return failure(400, `'message' is longer than ${limits.MAX_MESSAGE_LENGTH} characters`)
    if (turn !== undefined && !(Number.isSafeInteger(turn) && (turn as number) >= 0))
      return failure(400, "'turn' must be a whole number, 0 or greater")
    if (model !== undefined && typeof model !== 'string') return failure(400, "'model' must be a string")
    if (model !== undefined && client.isNamed)
      return failure(403, "Only the gateway's own token can choose a model")
    if (calls.isDraining) return http.shuttingDown()
    const answerer = await answererFor(model, source)
    if (answerer instanceof Response) return answerer
    // An unknown id, or another client's, starts a new conversation under another id.
    const known = await archive.get(client.name, String(conversation))
    const id = known?.id ?? `${client.isNamed ? `${client.name}/` : ''}${randomUUID()}`
    const before = known?.turns.slice(0, turn as number | undefined) ?? []
    return { message, conversation: id, before, isReplacing: turn !== undefined, answerer }
  }

  /** Streams `token`, `call` and `status`. Never rejects: the end says what went wrong. The answer is saved first. */
  async function answer(
    c: http.RequestContext,
    { conversation, answerer, message, before, isReplacing }: Question,
    signal: AbortSignal,
    stream: http.EventStream,
  ): Promise<ChatEnd> {
    const { client } = c.env
    const askedAt = Date.now()
    const startedAt = performance.now()
    const parts: AnswerPart[] = []
    const send = <Type extends keyof ChatEvents>(event: Type, data: ChatEvents[Type]) =>
      stream.write(http.eventText(event, data))
    // The exact messages while this process lives; after that, as saved.
    const said: readonly ConversationMessage[] =
      (isReplacing ? undefined : exact.of(conversation)) ??
      messagesOf(before, result => executor.text(result))
    const asked = async () => {
      const answered = answerer.client.ask(
        [{ role: 'system', content: instructions }, ...said, { role: 'user', content: message }],
        {
          ...{ executor, origin: 'chat', caller: client.caller, conversation, signal, meta: http.metaOf(c) },
          ask: http.preferencesOf(c).has('questions')
            ? questions.askFor({ caller: client.caller })
            : undefined,
          // Read when the question is asked: tools may still be connecting.
          get tools() {
            return client.isNamed ? client.tools() : undefined
          },
          onToken: text => {
            addText(parts, text)
            send('token', { text })
          },
          onCall: ({ call: { id = '', name, args }, type: phase, ...event }) => {
            // Bounded, without secrets, as in the list of calls.
            const result = 'result' in event && { result: recordResult(event.result) }
            const call: ChatCall = { phase, id, name, args: recordValue(args), ...result }
            addCall(parts, call)
            send('call', call)
          },
          onStatus: status => send('status', status),
        },
      )
      // A client that ignores its signal is not waited for.
      const { messages, text, stopReason, iterations, usage, modelCalls } = await unlessAborted(
        answered,
        signal,
      )
      exact.keep(conversation, messages)
      const counted = { ...(usage && { usage }), ...(modelCalls?.length && { model_calls: modelCalls }) }
      return { text, stopReason, iterations, ...counted }
    }
    const { text, ...outcome } = await asked().catch(error => {
      if (signal.aborted) return { text: '', stopReason: 'stopped' as const, error: 'The answer was stopped' }
      const why = safeText(error instanceof Error ? error.message : String(error))
      logger.warn({ error: why }, 'Chat failed')
      return { text: '', stopReason: 'error' as const, error: why }
    })
    // The whole text counts only if nothing was streamed.
    if (!parts.some(part => part.kind === 'text' && /\S/.test(part.text))) addText(parts, text)
    const end = { ...outcome, model: answerer.name, durationMs: Math.round(performance.now() - startedAt) }
    await archive
      .keep(client.name, conversation, [...before, { question: message, askedAt, parts, end }])
      .catch(error => logger.warn({ error: safeText(String(error)) }, 'The conversation could not be saved'))
    return { text, conversation, ...end }
  }
}

function infoOf({ id, name, createdAt, updatedAt, turns }: ConversationRecord) {
  return { id, name, createdAt, updatedAt, turns: turns.length }
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
async function answererFor(model: string | undefined, source: GatewaySource) {
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
