import type { BaseMessage } from '@langchain/core/messages'
import type { ChatOllamaInput } from '@langchain/ollama'
import { quietLogger } from '../logging/quiet-logger.ts'
import { safeText } from '../logging/safe-value.ts'
import { systemClock, type Timer } from '../util/clock.ts'
import { fitsGlob } from '../util/text.ts'
import type { ModelStatus, OllamaSettings } from './ai-client.ts'
import { callsIn, withImagesAfterResults } from './conversation.ts'
import { isOllamaLoaded, type OllamaFacts, ollamaAddress, ollamaFacts } from './find-models.ts'
import { toQwenTools } from './fit-schema.ts'
import { boundedFetch, type LangChainMessages } from './langchain.ts'
import { type Named, NamedClient, type NamedClientOptions, type ProviderRules } from './model-client.ts'
import { checkCalls, type ReplyChunk, textOfContent } from './read-reply.ts'

/** Small enough for any machine, and can use tools. */
const DEFAULT_MODEL = 'qwen3:0.6b'
/** A home assistant is asked only now and then, and loading takes longer than answering. */
const DEFAULT_KEEP_ALIVE = '30m'
/** Ollama's own default. */
const MIN_CONTEXT = 4_096
/** More needs memory that small machines lack. */
const DEFAULT_MAX_CONTEXT = 32_768
/** Room for the answer and the thinking before it. */
const ANSWER_TOKENS = 1_024
/** English has about four characters per token, JSON and other languages fewer: better too much room than too little. */
const CHARS_PER_TOKEN = 3
const STATUS_EVERY_MS = 1_000
const MAX_ERROR_CHARS = 64 * 1024
const TIGHT = 'Tools and history do not fit the model context: offer fewer, or raise models.ollama.maxContext'

export interface OllamaClientOptions extends Omit<NamedClientOptions, 'apiKey'>, OllamaSettings {
  /** More options for ChatOllama, such as `numCtx`, `think`, `temperature` or `keepAlive`. */
  settings?: Omit<ChatOllamaInput, 'model' | 'baseUrl' | 'fetch'> | undefined
}

/** A client for an Ollama model. LangChain is loaded with the first question. */
export class OllamaClient extends NamedClient {
  constructor(options: OllamaClientOptions) {
    const { baseUrl = ollamaAddress(options.environment ?? process.env) } = options
    super('ollama', { model: DEFAULT_MODEL, baseUrl }, { ...options, baseUrl }, ollamaRules)
  }
}

type Settings = Named<OllamaClientOptions>

function ollamaRules(options: Settings): ProviderRules {
  const { model, baseUrl, fetch, clock = systemClock, keepAlive = DEFAULT_KEEP_ALIVE, settings } = options
  const logger = quietLogger(options.logger)
  const name = safeText(model)
  let facts: OllamaFacts | undefined
  /** It only grows, since any other size makes Ollama reload the model. */
  let context: number | undefined
  return {
    who: `Ollama at ${safeText(baseUrl)}`,
    advice: {
      unreachable: 'Start it with `ollama serve`, or set OLLAMA_BASE_URL to where it runs',
      model_not_found: `Get the model with \`ollama pull ${name}\``,
      no_tools: `'${name}' cannot call tools: get one that can, such as \`ollama pull ${DEFAULT_MODEL}\``,
    },
    async open(tools, langchain, { maxTokens: numPredict, stopSequences: stop, ...style }) {
      const { ChatOllama } = await import('@langchain/ollama')
      facts ??= await ollamaFacts(options, model)
      const known: OllamaFacts = facts ?? {}
      const converted = toQwenTools(tools)
      const count = converted.length
      logger.debug({ count }, `🔧 Converted ${count} tools from LangChain to Qwen format`)
      let isFirst = true
      return async (messages, { signal, offersTools, onStatus }) => {
        const sent = flattened(messages, langchain)
        const shown = known.seesImages ? withImagesAfterResults(sent, langchain) : sent
        const offered = offersTools ? converted : []
        const history = sent.map(message => [message.content, callsIn(message)])
        const needed = tokensOf([offered, history]) + ANSWER_TOKENS
        context = contextFor(needed, options, known, context)
        if (needed > context) logger.warn({ model: name, context, needed }, TIGHT)
        // One per turn: a ChatOllama's fetch, and with it the signal, is fixed at construction.
        const chat = new ChatOllama({
          keepAlive,
          numCtx: context,
          ...thinkingOf(options, known),
          ...settings,
          ...style,
          ...(numPredict !== undefined && { numPredict }),
          ...(stop && { stop }),
          model,
          baseUrl,
          fetch: ollamaFetch(signal, fetch),
        })
        const ready = offered.length > 0 ? chat.bindTools(offered) : chat
        if (!isFirst) return ready.stream(shown)
        isFirst = false
        return reportingLoading(() => ready.stream(shown), onStatus)
      }
    },
  }

  /** A stream that reports every second, until its first chunk, that the model is loading: it takes seconds to minutes. */
  async function* reportingLoading(
    start: () => Promise<AsyncIterable<ReplyChunk>>,
    onStatus: (status: ModelStatus) => void,
  ): AsyncGenerator<ReplyChunk> {
    let timer: Timer | undefined
    let isOver = false
    const startedAt = clock.now()
    const tell = (state: ModelStatus['state']) =>
      onStatus({ state, model, elapsedMs: Math.round(clock.now() - startedAt) })
    const tick = () => {
      if (isOver) return
      timer = clock.setTimer(tick, STATUS_EVERY_MS)
      tell('loading')
    }
    void isOllamaLoaded(options, model).then(isLoaded => isLoaded === false && tick())
    try {
      for await (const chunk of await start()) {
        if (!isOver && timer) tell('loaded')
        isOver = true
        yield chunk
      }
    } finally {
      isOver = true
      timer?.cancel()
    }
  }
}

/** Whether the model is told to think or not to; the longest matching pattern wins. */
function thinkingOf({ think, model }: Settings, { canThink }: OllamaFacts): { think?: boolean } {
  const byName = typeof think === 'object' ? think : { '*': think }
  const patterns = Object.entries(byName).filter(([pattern]) => fitsGlob(model, pattern))
  const [, wanted] = patterns.sort(([a], [b]) => b.length - a.length)[0] ?? []
  // Ollama rejects a request to think if the model cannot.
  return wanted === undefined || (wanted && canThink === false) ? {} : { think: wanted }
}

/** The context size for a request: the next power of two that it fits into, within limits. */
function contextFor(needed: number, { settings, maxContext }: Settings, facts: OllamaFacts, before?: number) {
  const { numCtx } = settings ?? {}
  const most = Math.min(numCtx ?? maxContext ?? DEFAULT_MAX_CONTEXT, facts.contextLength ?? Infinity)
  const least = numCtx ?? before ?? facts.ownContext ?? MIN_CONTEXT
  return Math.min(Math.max(2 ** Math.ceil(Math.log2(Math.max(needed, MIN_CONTEXT))), least), most)
}

/** An estimate: a character beyond Latin is often a token of its own. */
function tokensOf(value: unknown): number {
  const text = JSON.stringify(value)
  const others = text.match(/[^\0-\u024f]/g)?.length ?? 0
  return Math.ceil((text.length - others) / CHARS_PER_TOKEN + others)
}

/** ChatOllama accepts only text in replies and results. */
function flattened(messages: readonly BaseMessage[], langchain: LangChainMessages): BaseMessage[] {
  const { AIMessage, ToolMessage } = langchain
  return messages.map(message => {
    if (typeof message.content === 'string') return message
    const content = textOfContent(message.content)
    if (AIMessage.isInstance(message)) return new AIMessage({ content, tool_calls: callsIn(message) })
    if (!ToolMessage.isInstance(message)) return message
    return new ToolMessage({ content, tool_call_id: message.tool_call_id, artifact: message.artifact })
  })
}

/**
 * A fetch that makes up for what ChatOllama leaves out: it ends with `signal`, before the first byte or mid-stream, and
 * turns a failed request or a garbled line into an error. (ChatOllama itself ignores its signal until the first byte,
 * and its client logs non-JSON responses to stdout.)
 */
function ollamaFetch(signal: AbortSignal, fetch?: typeof globalThis.fetch): typeof globalThis.fetch {
  const bounded = boundedFetch(fetch, checkLines)
  return async (url, init) => {
    const request = { ...init, signal: AbortSignal.any([signal, ...(init?.signal ? [init.signal] : [])]) }
    const response = await bounded(url, request)
    const { ok, status, headers } = response
    if (ok) return response
    const body = await response.text().catch(() => '')
    const message = body.slice(0, MAX_ERROR_CHARS).trim() || `HTTP ${status}`
    throw Object.assign(new Error(message), { status, headers })
  }
}

/** Every line must be JSON. LangChain takes seconds over thousands of calls in one line, so they are counted here. */
function checkLines(lines: Buffer): void {
  for (const line of lines.toString().split('\n')) {
    if (line.trim() === '') continue
    const problem = line.startsWith('{') ? 'premature end of the stream' : 'a line of the stream is not JSON'
    let read: { message?: { tool_calls?: unknown[] } } | null
    try {
      read = JSON.parse(line)
    } catch {
      throw new Error(`${problem}: ${line.slice(0, 80)}`)
    }
    checkCalls(read?.message?.tool_calls?.length ?? 0)
  }
}
