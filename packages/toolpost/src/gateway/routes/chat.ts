import type { Hono } from 'hono'
import { safeText } from '../../logging/safe-value.ts'
import type { Answer, AskOptions, CallNotice } from '../../models/ai-client.ts'
import type { ChatCall, ChatEvents } from '../api-types.ts'
import { recordResult } from '../call-journal.ts'
import { metaOf, onSignal } from '../caller.ts'
import type { Client } from '../clients.ts'
import type { GatewayContext } from '../gateway-context.ts'
import { busy, EVENT_STREAM_HEADERS, failure, json, shuttingDown } from '../http/answers.ts'
import { eventText } from '../http/event-text.ts'
import { readJson } from '../http/read-body.ts'
import { MAX_BODY_BYTES, MAX_CHATS, MAX_MESSAGE_LENGTH, RECORDED_BYTES } from '../limits.ts'
import { recordValue } from '../record-value.ts'
import { wantsQuestions } from './questions.ts'

interface Question {
  client: Client
  message: string
  meta: AskOptions['meta']
  conversation: string | undefined
  /** Whether whoever chats can be asked what tools want to know. */
  canBeAsked: boolean
}

export function addChatRoutes(app: Hono, context: GatewayContext): void {
  app.get('/api/model', async () => {
    const model = await context.source.model()
    return json({ name: model.name, why: model.why, voice: context.source.voice() !== undefined })
  })
  app.post('/api/chat', async c => {
    const client = context.clients.of(c.req.raw)
    const question = await readQuestion(c.req.raw, client)
    if (question instanceof Response) return question
    const { calls, source, conversations } = context
    if (calls.isDraining) return shuttingDown()
    if (!source.client) return failure(404, 'The chat is off: no model client was given')
    if (conversations.isBusy(question.conversation))
      return failure(409, 'This conversation is still being answered')
    if (conversations.answering >= MAX_CHATS) return busy('Too many questions at once')
    return new Response(answerStream(question, c.req.raw.signal, context), { headers: EVENT_STREAM_HEADERS })
  })
}

async function readQuestion(request: Request, client: Client): Promise<Question | Response> {
  const body = await readJson(request, MAX_BODY_BYTES)
  if (body instanceof Response) return body
  const { message, conversation } = (body.value ?? {}) as { message?: unknown; conversation?: unknown }
  if (typeof message !== 'string' || message.trim() === '')
    return failure(400, "'message' must be a non-empty string")
  if (message.length > MAX_MESSAGE_LENGTH)
    return failure(400, `'message' is longer than ${MAX_MESSAGE_LENGTH} characters`)
  // Conversations of others are as unknown as those that never were.
  const id = typeof conversation === 'string' ? conversation : ''
  const isOwn = id.slice(0, id.lastIndexOf('/') + 1) === prefixOf(client)
  return {
    client,
    message,
    meta: metaOf(request),
    conversation: isOwn && id !== '' ? id : undefined,
    canBeAsked: wantsQuestions(request),
  }
}

/** How the ids of a client's conversations begin. */
function prefixOf({ isNamed, name }: Client): string {
  return isNamed ? `${name}/` : ''
}

/** The answer as it comes: `token`, `call`, and at the end always one `end`. */
function answerStream(question: Question, signal: AbortSignal, context: GatewayContext): ReadableStream {
  const encoder = new TextEncoder()
  const gone = onSignal(signal)
  let isOpen = true
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const send: Send = (event, data) => {
        if (isOpen) controller.enqueue(encoder.encode(eventText(event, data)))
      }
      const answered = context.calls.run(gone, stop => answer(question, { stop, send, context }))
      void answered.then(() => isOpen && controller.close())
    },
    cancel: () => {
      isOpen = false
      gone.abort()
    },
  })
}

type Send = <Type extends keyof ChatEvents>(event: Type, data: ChatEvents[Type]) => void

interface Answering {
  stop: AbortSignal
  send: Send
  context: GatewayContext
}

/** Never rejects: what goes wrong is said in the `end`. */
async function answer(
  { client, message, meta, conversation, canBeAsked }: Question,
  { stop, send, context }: Answering,
): Promise<void> {
  const { conversations, source, executor, logger, instructions, questions } = context
  const { id, messages } = conversations.open(conversation, prefixOf(client))
  const release = conversations.hold(id)
  const model = await nameOf(context)
  try {
    const asked = [
      { role: 'system', content: instructions },
      ...messages,
      { role: 'user', content: message },
    ] as const
    const given = await source.client?.ask(asked, {
      executor,
      origin: 'chat',
      meta,
      caller: client.caller,
      conversation: id,
      ask: canBeAsked ? questions.askFor({ caller: client.caller }) : undefined,
      // Read when the question is put: the tools may still be coming.
      get tools() {
        return client.isNamed ? client.tools() : undefined
      },
      signal: stop,
      onToken: text => send('token', { text }),
      onCall: event => send('call', callData(event)),
      onStatus: status => send('status', status),
    })
    if (given) conversations.keep(id, given.messages)
    const { text, stopReason } = given as Answer
    send('end', { text, conversation: id, stopReason, model })
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    if (!stop.aborted) logger.warn({ error: safeText(said) }, 'Chat failed')
    send('end', {
      text: '',
      conversation: id,
      stopReason: stop.aborted ? 'stopped' : 'error',
      model,
      error: safeText(said),
    })
  } finally {
    release()
  }
}

async function nameOf({ source }: GatewayContext): Promise<string> {
  try {
    return (await source.model()).name
  } catch {
    return 'none'
  }
}

/** As the journal records it: bounded, without secrets. */
function callData(event: CallNotice): ChatCall {
  const { id = '', name, args } = event.call
  const data = { id, name, args: recordValue(args, RECORDED_BYTES).value }
  return event.type === 'start'
    ? { phase: 'start', ...data }
    : { phase: 'end', ...data, result: recordResult(event.result).result }
}
