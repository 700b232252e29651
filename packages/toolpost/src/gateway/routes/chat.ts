import { randomUUID } from 'node:crypto'
import type { ToolResult } from '../../call/tool-result.ts'
import { safeText } from '../../logging/safe-value.ts'
import { unlessAborted } from '../../util/clock.ts'
import { shortText } from '../../util/text.ts'
import type { AnswerPart, ChatCall, ChatEnd, ChatEvents } from '../api-types.ts'
import { recordValue } from '../call-log.ts'
import { messagesOf, type StoredConversation } from '../chat-archive.ts'
import type { GatewayContext, GatewaySource } from '../context.ts'
import * as http from '../http.ts'
import * as limits from '../limits.ts'

const { json, refusal } = http
const STILL_ANSWERING = 'This conversation is still being answered'

/** The chat, its models, and its conversations; every client has its own. */
export function addChatRoutes(app: http.App, context: GatewayContext): void {
  const { source, archive, calls, logger, instructions, questions } = context
  const { executor } = source
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
  const infoOf = ({ owner: _, turns, ...about }: StoredConversation) => ({ ...about, turns: turns.length })
  app.get('/api/conversations', async c =>
    json({ conversations: (await archive.list(c.env.client.name)).map(infoOf) }),
  )
  const find = async (c: http.RequestContext) => {
    const found = await archive.get(c.env.client.name, c.req.param('id') ?? '')
    if (found) return found
    throw refusal(404, 'No conversation with this id')
  }
  const path = '/api/conversations/:id'
  app.get(path, async c => {
    const found = await find(c)
    const turns = found.turns.map(turn => ({ ...turn, dialogue: undefined }))
    return json({ ...found, owner: undefined, turns })
  })
  app.patch(path, async c => {
    const { name } = await http.bodyOf<{ name: string }>(c, { name: 'string' })
    if (!/\S/.test(name)) throw refusal(400, "'name' must be a non-empty string")
    const renamed = { ...(await find(c)), name: nameFrom(name) }
    await archive.keep(renamed)
    return json(infoOf(renamed))
  })
  app.delete(path, async c => {
    const { id } = await find(c)
    if (busy.has(id)) throw refusal(409, STILL_ANSWERING)
    archive.remove(id)
    return c.body(null, 204)
  })
  app.post('/api/chat', async c => {
    const { client } = c.env
    const types = { message: 'string', 'turn?': 'number', 'model?': 'string' } as const
    const body = await http.bodyOf<{ message: string; turn?: number; model?: string }>(c, types)
    const { message, turn, model } = body
    if (!/\S/.test(message) || message.length > limits.MAX_MESSAGE_LENGTH)
      throw refusal(400, `'message' must have 1 to ${limits.MAX_MESSAGE_LENGTH} characters`)
    if (turn !== undefined && !(Number.isSafeInteger(turn) && turn >= 0))
      throw refusal(400, "'turn' must be a whole number, 0 or greater")
    if (model !== undefined && client.isNamed)
      throw refusal(403, "Only the gateway's own token can choose a model")
    if (calls.isDraining) throw http.shuttingDown()
    const answerer = await answererFor(model, source)
    // An unknown id, or another client's, starts a new conversation under another id.
    const known = await archive.get(client.name, String((body as http.Body).conversation))
    const id = known?.id ?? `${client.isNamed ? `${client.name}/` : ''}${randomUUID()}`
    if (busy.has(id)) throw refusal(409, STILL_ANSWERING)
    if (busy.size >= limits.MAX_CHATS) throw http.busy('Too many questions at once')
    busy.add(id)
    const caller = http.onSignal(c.req.raw.signal)
    const stream = new http.EventStream(() => caller.abort(), c.env.outgoing)
    // Those before the turn that it replaces, if it does.
    const conversation = { id, turns: known?.turns.slice(0, turn) ?? [] }
    void calls.run(caller, async () => {
      const end = await answer(c, conversation, message, answerer, { signal: caller.signal, stream })
      busy.delete(id)
      stream.write(http.eventText('end', end))
      stream.close()
    })
    return stream.response
  })

  /** Streams `token`, `call` and `status`. Never rejects: the end says what went wrong. The answer is saved first. */
  async function answer(
    c: http.RequestContext,
    { id: conversation, turns: before }: Pick<StoredConversation, 'id' | 'turns'>,
    message: string,
    answerer: Awaited<ReturnType<typeof answererFor>>,
    { signal, stream }: { signal: AbortSignal; stream: http.EventStream },
  ): Promise<ChatEnd> {
    const { client } = c.env
    const askedAt = Date.now()
    const startedAt = performance.now()
    const parts: AnswerPart[] = []
    let dialogue: unknown
    const send = <Type extends keyof ChatEvents>(event: Type, data: ChatEvents[Type]) =>
      stream.write(http.eventText(event, data))
    const ask = async () => {
      const said = messagesOf(before, result => executor.text(result))
      const answered = answerer.client.ask(
        [{ role: 'system', content: instructions }, ...said, { role: 'user', content: message }],
        {
          executor,
          origin: 'chat',
          caller: client.caller,
          conversation,
          signal,
          meta: http.metaOf(c),
          ask: questions.askIn(c),
          // Read when the question is asked: tools may still be connecting.
          get tools() {
            return client.isNamed ? client.tools() : undefined
          },
          onToken: text => {
            addText(parts, text)
            send('token', { text })
          },
          onCall: ({ call: { id = '', name, args }, type: phase, ...event }) => {
            const call: ChatCall = { phase, id, name, args: recordValue(args) }
            if ('result' in event) call.result = recordValue(event.result) as ToolResult
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
      dialogue = (messages.at(-1) as { dialogue?: unknown } | undefined)?.dialogue
      const counted = { ...(usage && { usage }), ...(modelCalls?.length && { model_calls: modelCalls }) }
      return { text, stopReason, iterations, ...counted }
    }
    const { text, ...outcome } = await ask().catch(error => {
      if (signal.aborted) return { text: '', stopReason: 'stopped' as const, error: 'The answer was stopped' }
      const why = safeText(error instanceof Error ? error.message : String(error))
      logger.warn({ error: why }, 'Chat failed')
      return { text: '', stopReason: 'error' as const, error: why }
    })
    // The whole text counts only if nothing was streamed.
    if (!parts.some(part => part.kind === 'text' && /\S/.test(part.text))) addText(parts, text)
    const end = { ...outcome, model: answerer.name, durationMs: Math.round(performance.now() - startedAt) }
    const { name = nameFrom(message), createdAt = askedAt } =
      (await archive.get(client.name, conversation)) ?? {}
    const turns = [...before, { question: message, askedAt, parts, end, dialogue }]
    const about = { id: conversation, owner: client.name, name, createdAt, updatedAt: Date.now() }
    await archive.keep({ ...about, turns })
    return { text, conversation, ...end }
  }
}

/** Speech in, text out. Aborted if the caller disconnects. */
export function addTranscriptionRoutes(app: http.App, { calls, source }: GatewayContext): void {
  app.post('/api/transcriptions', async c => {
    const voice = source.voice()
    if (calls.isDraining) throw http.shuttingDown()
    if (!voice) throw refusal(404, 'Speech to text is off: start it with toolpost up --voice')
    if (
      !/^(audio\/(x-|vnd\.)?wave?|application\/octet-stream)\b/i.test(http.headerOf(c, 'content-type') ?? '')
    )
      throw refusal(415, 'Send a WAV file, with content-type: audio/wav')
    const wav = await http.readBytes(c, limits.MAX_AUDIO_BYTES)
    if (wav.byteLength === 0) throw refusal(400, 'The body is empty: send a WAV file')
    // The gateway may have been told to stop while the recording was arriving.
    if (calls.isDraining) throw http.shuttingDown()
    const caller = http.callerOf(c)
    const { signal } = caller
    const startedAt = performance.now()
    // A transcription that ignores its signal is not waited for.
    const transcribed = () => unlessAborted(voice.transcribe(wav, { signal }), signal).catch(() => undefined)
    const heard = await calls.run(caller, transcribed)
    if (heard === undefined) throw http.shuttingDown()
    const text = 'problem' in heard ? '' : heard.text.trim()
    if (text === '') throw refusal(422, 'problem' in heard ? heard.problem : 'No speech recognized')
    return json({ text, durationMs: Math.round(performance.now() - startedAt) })
  })
}

function nameFrom(text: string): string {
  return shortText(text.replace(/\s+/g, ' ').trim(), limits.MAX_CONVERSATION_NAME)
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

/** The client to answer with this model, or the usual one. */
async function answererFor(model: string | undefined, source: GatewaySource) {
  const { client: usual } = source
  if (!usual) throw refusal(404, 'The chat is off: no model client was passed to createGateway')
  if (model === undefined) {
    const { name } = await source.model().catch(() => ({ name: 'none' }))
    return { client: usual, name }
  }
  const client = await source.clientOf?.(model)
  if (client) return { client, name: model }
  const names = (await source.models?.())?.map(({ name }) => name) ?? []
  throw refusal(400, `Unknown model '${model.slice(0, 100)}'; expected one of ${names.join(', ')}`)
}
