import type { Hono } from 'hono'
import { safeText } from '../../logging/safe-value.ts'
import type { Answer, CallNotice, ConversationMessage } from '../../models/ai-client.ts'
import type { ChatCall, ChatEnd, ChatEvents } from '../api-types.ts'
import { recordResult } from '../call-journal.ts'
import { onSignal } from '../caller.ts'
import type { ChatTurn } from '../chat/chat-types.ts'
import {
  type Answerer,
  answererFor,
  type ChatQuestion,
  prefixOf,
  readQuestion,
} from '../chat/read-question.ts'
import { messagesOf } from '../chat/turn-messages.ts'
import { TurnRecorder } from '../chat/turn-recorder.ts'
import type { GatewayContext } from '../gateway-context.ts'
import { busy, EVENT_STREAM_HEADERS, failure, json, shuttingDown } from '../http/answers.ts'
import { eventText } from '../http/event-text.ts'
import { MAX_CHATS, RECORDED_BYTES } from '../limits.ts'
import { recordValue } from '../record-value.ts'

export function addChatRoutes(app: Hono, context: GatewayContext): void {
  const { source, clients } = context
  app.get('/api/model', async () => {
    const model = await source.model()
    return json({ name: model.name, why: model.why, voice: source.voice() !== undefined })
  })
  // Only those who may choose a model see the choice.
  app.get('/api/models', async c => {
    const usual = async () => (source.client ? [await source.model()] : [])
    const models = clients.of(c.req.raw).isNamed ? await usual() : await (source.models?.() ?? usual())
    return json({ models: models.map(({ name, why }) => ({ name, why })) })
  })
  app.post('/api/chat', async c => {
    const question = await readQuestion(c.req.raw, clients.of(c.req.raw))
    if (question instanceof Response) return question
    const { calls, conversations } = context
    if (calls.isDraining) return shuttingDown()
    const answerer = await answererFor(question, source)
    if (answerer instanceof Response) return answerer
    const known = await knownConversation(question, context)
    if (conversations.isBusy(known)) return failure(409, 'This conversation is still being answered')
    if (conversations.answering >= MAX_CHATS) return busy('Too many questions at once')
    const place = conversations.place(known, prefixOf(question.client))
    const work = { question, answerer, place, context }
    return new Response(answerStream(work, c.req.raw.signal), { headers: EVENT_STREAM_HEADERS })
  })
}

/** An unknown id starts a new conversation under another id: clients cannot make up ids. */
async function knownConversation(
  { client, conversation }: ChatQuestion,
  { archive }: GatewayContext,
): Promise<string | undefined> {
  return conversation === undefined ? undefined : (await archive.get(client.name, conversation))?.id
}

/** A question that is being answered. */
interface Work {
  question: ChatQuestion
  answerer: Answerer
  /** Its conversation, reserved until the answer is done. */
  place: { id: string; release(): void }
  context: GatewayContext
}

/** Streams the answer: `token`, `call`, `status`, and finally always one `end`. */
function answerStream(work: Work, signal: AbortSignal): ReadableStream {
  const encoder = new TextEncoder()
  const gone = onSignal(signal)
  let isOpen = true
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const send: Send = (event, data) => {
        if (isOpen) controller.enqueue(encoder.encode(eventText(event, data)))
      }
      const answered = work.context.calls.run(gone, stop => answer(work, { stop, send }))
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
}

/** Never rejects: `end` says what went wrong. The answer is saved before `end` is sent. */
async function answer(work: Work, { stop, send }: Answering): Promise<void> {
  const { question, answerer, place, context } = work
  const { archive, logger } = context
  const startedAt = performance.now()
  const recorder = new TurnRecorder(question.message)
  const told: Send = (event, data) => {
    recorder.take(event, data)
    send(event, data)
  }
  try {
    const before = await turnsBefore(work)
    const outcome = await ask(work, before, { stop, send: told })
    const end: ChatEnd = {
      ...outcome,
      conversation: place.id,
      model: answerer.name,
      durationMs: Math.round(performance.now() - startedAt),
    }
    await archive.keep(question.client.name, place.id, [...before, recorder.turn(end)])
    send('end', end)
  } catch (error) {
    logger.error({ error: safeText(String(error)) }, 'Could not save a conversation')
  } finally {
    place.release()
  }
}

/** The turns before the question in its conversation. */
async function turnsBefore({ question, place, context }: Work): Promise<readonly ChatTurn[]> {
  const known = await context.archive.get(question.client.name, place.id)
  return known?.turns.slice(0, question.turn) ?? []
}

async function ask(
  { question, answerer, place, context }: Work,
  before: readonly ChatTurn[],
  { stop, send }: Answering,
): Promise<Pick<ChatEnd, 'text' | 'stopReason' | 'iterations' | 'error' | 'usage'>> {
  const { executor, logger, conversations, instructions, questions } = context
  const { client, message, meta, canBeAsked, turn } = question
  // The exact messages while this process lives; after that, as saved.
  const exact = turn === undefined ? conversations.of(place.id) : undefined
  const said: readonly ConversationMessage[] = exact ?? messagesOf(before, result => executor.text(result))
  try {
    const asked = [
      { role: 'system', content: instructions },
      ...said,
      { role: 'user', content: message },
    ] as const
    const given: Answer = await answerer.client.ask(asked, {
      executor,
      origin: 'chat',
      meta,
      caller: client.caller,
      conversation: place.id,
      ask: canBeAsked ? questions.askFor({ caller: client.caller }) : undefined,
      // Read when the question is asked: tools may still be connecting.
      get tools() {
        return client.isNamed ? client.tools() : undefined
      },
      signal: stop,
      onToken: text => send('token', { text }),
      onCall: event => send('call', callData(event)),
      onStatus: status => send('status', status),
    })
    conversations.keep(place.id, given.messages)
    const { text, stopReason, usage, iterations } = given
    return { text, stopReason, iterations, ...(usage && { usage }) }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    if (!stop.aborted) logger.warn({ error: safeText(why) }, 'Chat failed')
    return { text: '', stopReason: stop.aborted ? 'stopped' : 'error', error: safeText(why) }
  }
}

/** In the journal's format: bounded, without secrets. */
function callData(event: CallNotice): ChatCall {
  const { id = '', name, args } = event.call
  const data = { id, name, args: recordValue(args, RECORDED_BYTES).value }
  return event.type === 'start'
    ? { phase: 'start', ...data }
    : { phase: 'end', ...data, result: recordResult(event.result).result }
}
