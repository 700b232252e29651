import type { BaseMessage } from '@langchain/core/messages'
import type { ToolResult } from '../call/tool-result.ts'
import type { ToolExecutor } from '../executor/executor.ts'
import type { RunOptions } from '../executor/options.ts'
import { HANDLE_PREFIX } from '../interceptors/long-results.ts'
import type { Logger } from '../logging/logger.ts'
import { innerCall } from '../tools/search/search-tools.ts'
import type { Tool } from '../tools/tool.ts'
import { type Clock, systemClock, unlessAborted } from '../util/clock.ts'
import { describeThrown, quietly } from '../util/quietly.ts'
import type { Answer, AskOptions, Prompt, StopReason, Usage, Writer, WritingRequest } from './ai-client.ts'
import { type Conversation, callsIn, type NumberedCall, noResult, startConversation } from './conversation.ts'
import { type FittedTools, fitTools } from './fit-schema.ts'
import { loadLangChain } from './langchain.ts'
import * as limits from './limits.ts'
import type { Provider, StreamReply } from './model-client.ts'
import { explainFailure, ModelError } from './model-error.ts'
import { isCutOff, type ReadOptions, type Reply, readReply } from './read-reply.ts'
import { toolOffer } from './tool-offer.ts'

/** What a client asks all its questions with. */
export interface Setup {
  provider: Provider
  logger: Logger
  clock?: Clock | undefined
  onReply?: ((messages: readonly BaseMessage[], reply: Reply) => void) | undefined
}

export interface LoopOptions extends AskOptions {
  executor: ToolExecutor
  /** Wraps every request to the model. */
  aroundTurn?: ((request: () => Promise<Reply>) => Promise<Reply>) | undefined
}

const NO_LAST_WORD = {
  max_iterations: 'I stopped after too many rounds of tool calls without an answer.',
  repeated_failure: 'I stopped because the same tool call kept failing.',
}

/** One question to one model: ask, run the calls in its reply, ask again, until it answers in text. */
export async function answerWithTools(prompt: Prompt, options: LoopOptions, setup: Setup): Promise<Answer> {
  if (!options.trace) return answer(prompt, options, setup)
  const { tracedAnswer } = await import('./trace.ts')
  return tracedAnswer(setup.provider, options.meta, traced =>
    answer(prompt, { ...options, ...traced }, setup),
  )
}

async function answer(prompt: Prompt, options: LoopOptions, setup: Setup): Promise<Answer> {
  const { executor, bigResults, caller, conversation: id, aroundTurn = request => request() } = options
  const { maxIterations = limits.DEFAULT_MAX_ITERATIONS, maxTools = limits.DEFAULT_MAX_TOOLS } = options
  const { timeLimitMs = limits.DEFAULT_TIME_LIMIT_MS, pin = [] } = options
  const { logger, clock } = setup
  const onCall = harmless(options.onCall, logger)
  const onToken = harmless(options.onToken, logger)
  const onStatus = harmless(options.onStatus, logger)
  const results: ToolResult[] = []
  const modelCalls: (Usage & { duration_ms: number })[] = []
  const usage: Usage = {}
  /** How often each call has failed in a row, by name and arguments. */
  const failures = new Map<string, number>()
  let iterations = 0
  const conversation = await startConversation(prompt, setup.provider.name)
  const tools = [...(options.tools ?? executor.tools.getTools())]
  const offer = toolOffer(tools, executor.tools, maxTools, pin)
  const offerParts = () => void (bigResults && offer.addHelper(bigResults.tool({ caller, conversation: id })))
  offer.addUsed(conversation.messages.flatMap(callsIn))
  const hasHandle = ({ type, content }: BaseMessage) =>
    type === 'tool' && String(content).includes(HANDLE_PREFIX)
  if (conversation.messages.some(hasHandle)) offerParts()
  const limit = timeLimit(timeLimitMs, options.signal, clock)
  const model = modelFor(conversation, limit, setup)

  const ask = async (offersTools: boolean) => {
    const offered = offer.changed()
    if (offered) await model.open(offered)
    const startedAt = performance.now()
    const reply = await aroundTurn(() => model.ask({ offersTools, onToken, onStatus }))
    modelCalls.push({ ...reply.usage, duration_ms: Math.round(performance.now() - startedAt) })
    const { input, output } = reply.usage
    if (input !== undefined) usage.input = (usage.input ?? 0) + input
    if (output !== undefined) usage.output = (usage.output ?? 0) + output
    return reply
  }

  /** The text of a result for the model. One that is too long is kept and can be read in parts from then on. */
  const textOf = async (result: ToolResult) => {
    const kept = bigResults?.keptOf(await bigResults.keep(result, { caller, conversation: id }))
    if (!kept) return executor.text(result)
    offerParts()
    const text = kept.text?.summary ?? executor.text(result)
    return [text, ...kept.binaries.map(each => each.summary)].join('\n')
  }

  /** Runs the calls of a turn and adds their results; returns whether one of them has failed too often. */
  const run = async (calls: readonly NumberedCall[]) => {
    offer.addUsed(calls)
    const offered = { signal: limit.signal, among: tools, also: offer.helpers }
    const outcomes = await runCalls(calls, { ...options, onCall }, offered, textOf)
    let isHopeless = false
    for (const { call, result, content } of outcomes) {
      results.push(result)
      conversation.addResult(call, content, result)
      const args = Object.entries(call.args).sort(([a], [b]) => (a < b ? -1 : 1))
      const key = JSON.stringify([call.name, args])
      const count = result.success ? 0 : (failures.get(key) ?? 0) + 1
      failures.set(key, count)
      if (count >= limits.MAX_IDENTICAL_FAILURES) isHopeless = true
    }
    return isHopeless
  }

  const answered = (text: string, stopReason: StopReason): Answer => {
    if (stopReason !== 'answer') {
      logger.warn({ stop_reason: stopReason, iterations }, 'Stopped early')
      conversation.addReply({ content: text, calls: [] })
    }
    const told = Object.keys(usage).length > 0 && { usage }
    return { text, messages: conversation.messages, results, iterations, stopReason, ...told, modelCalls }
  }

  try {
    let isHopeless = false
    while (iterations < maxIterations && !isHopeless) {
      iterations++
      const reply = await ask(true)
      const calls = conversation.addReply(reply)
      if (calls.length === 0) return answered(reply.text, 'answer')
      isHopeless = await run(calls)
      limit.signal.throwIfAborted()
    }
    const stopReason = isHopeless ? 'repeated_failure' : 'max_iterations'
    // The model sums up without tools. Calls it makes anyway are not run.
    const { text } = await ask(false)
    return answered(text.trim() === '' ? NO_LAST_WORD[stopReason] : text, stopReason)
  } catch (error) {
    const late = `I could not answer within ${timeLimitMs / 1_000} seconds.`
    if (limit.isOver()) return answered(late, 'time_limit')
    if (error instanceof ModelError) error.results = results
    throw error
  } finally {
    limit.close()
  }
}

/** One message from one model, within its time limit. Unlike an answer, it may end at the token limit. */
export async function writeMessage(request: WritingRequest, setup: Setup): ReturnType<Writer['write']> {
  const { messages, timeLimitMs, signal, stopSequences = [], ...style } = request
  const { name, model: modelName = 'unknown' } = setup.provider
  const limit = timeLimit(timeLimitMs, signal, setup.clock)
  try {
    const model = modelFor(await startConversation(messages, name), limit, setup)
    await model.open([], { ...style, ...(stopSequences.length > 0 && { stopSequences }) })
    const ignore = () => {}
    const turn = { offersTools: false, mayBeCut: true, onToken: ignore, onStatus: ignore }
    const { text, stopReason } = await model.ask(turn)
    const ended = stopReason === 'stop_sequence' ? 'stopSequence' : 'endTurn'
    return { text, model: modelName, stopReason: isCutOff(stopReason) ? 'maxTokens' : ended }
  } finally {
    limit.close()
  }
}

type Turn = Omit<Parameters<StreamReply>[1], 'signal'> & Omit<ReadOptions, 'endsWithReason'>

/** Providers whose replies end with a reason, and those whose failures may pass: a crash of a local model does not. */
const END_WITH_REASON = ['anthropic', 'ollama', 'openai']
const ON_THE_NETWORK = ['anthropic', 'openai']

/** The model that continues a conversation, with the tools it was last offered. */
function modelFor({ messages, langchain }: Conversation, limit: TimeLimit, setup: Setup) {
  const { provider, logger, onReply } = setup
  const { name } = provider
  let fitted: FittedTools
  let stream: StreamReply

  /** The provider's work, no later than the limit. A timeout or an abort can surface as any kind of error. */
  const hold = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    try {
      return await unlessAborted(work(), limit.signal)
    } catch (error) {
      if (limit.signal.aborted) throw limit.signal.reason
      throw error instanceof ModelError ? error : explainFailure(error, provider)
    }
  }

  const open = async (tools: readonly Tool[], style = {}) => {
    // OpenAI's rules are the strictest, and most other providers copied them.
    fitted = fitTools(tools, name === 'anthropic' || name === 'ollama' ? name : 'openai', logger)
    stream = await hold(() => loadLangChain(name, () => provider.open(fitted.tools, langchain, style)))
  }

  /**
   * One request to the model and its whole reply. Retried while the failure may pass, no token has been passed on, and
   * time remains: waits as long as the provider asks, else 1 s, 2 s, 4 s … Rejects with the last failure.
   */
  const ask = async (turn: Turn): Promise<Reply> => {
    let hasSpoken = false
    const onToken = (token: string) => {
      hasSpoken = true
      turn.onToken(token)
    }
    const request = async () => {
      const chunks = await stream(fitted.renamed(messages, langchain), { ...turn, signal: limit.signal })
      const endsWithReason = END_WITH_REASON.includes(name)
      const reply = await readReply(chunks, { ...turn, endsWithReason, onToken })
      return { ...reply, calls: reply.calls.map(fitted.original) }
    }
    for (let attempt = 1; ; attempt++) {
      try {
        const reply = await hold(request)
        quietly(
          () => onReply?.(messages, reply),
          error => logger.warn({ error: describeThrown(error) }, 'A reply could not be recorded'),
        )
        return reply
      } catch (error) {
        if (!(error instanceof ModelError)) throw error
        const { code } = error
        const isBusy = code === 'rate_limited' || code === 'overloaded'
        const mayPass = isBusy || (code === 'server_error' && ON_THE_NETWORK.includes(name))
        if (!mayPass || hasSpoken || attempt >= limits.MAX_ATTEMPTS) throw error
        const usual = Math.min(limits.RETRY_BASE_DELAY_MS * 2 ** (attempt - 1), limits.RETRY_MAX_DELAY_MS)
        const delayMs = error.retryAfterMs ?? usual
        if (!(await limit.wait(delayMs))) throw error
        logger.warn({ attempt, delay_ms: delayMs, code }, 'Retrying the model')
      }
    }
  }
  return { open, ask }
}

type TimeLimit = ReturnType<typeof timeLimit>

/** Ends a question at its time limit or the caller's abort, whichever comes first. */
export function timeLimit(limitMs: number, given: AbortSignal | undefined, clock: Clock = systemClock) {
  const controller = new AbortController()
  const signal: AbortSignal = controller.signal
  const endsAt = clock.now() + limitMs
  const late = new ModelError('stopped', `No message within ${limitMs / 1_000} s`)
  const timer = clock.setTimer(() => controller.abort(late), limitMs)
  const stop = () => controller.abort(stopped())
  given?.addEventListener('abort', stop, { once: true })
  if (given?.aborted) stop()
  return {
    /** Aborts with a ModelError as the reason. */
    signal,
    isOver: () => signal.reason === late,
    /** Waits, and resolves to whether there was time for that. Rejects when the limit is reached. */
    async wait(delayMs: number): Promise<boolean> {
      if (delayMs >= endsAt - clock.now()) return false
      // The limit's own timer keeps the process alive.
      await unlessAborted(new Promise<void>(over => clock.setTimer(over, delayMs).hold(false)), signal)
      return true
    },
    close() {
      timer.cancel()
      given?.removeEventListener('abort', stop)
    },
  }
}

export function stopped(): ModelError {
  return new ModelError('stopped', 'The question was stopped')
}

/**
 * Runs the calls of one turn in parallel. `among` is what the model was offered, `also` what the manager does not have.
 * Resolves to the results and their texts for the model, in order. `onCall` must not throw.
 */
export function runCalls(
  calls: readonly NumberedCall[],
  setup: LoopOptions,
  offered: Pick<RunOptions, 'signal' | 'among' | 'also'>,
  textOf = async (result: ToolResult) => setup.executor.text(result),
): Promise<{ call: NumberedCall; result: ToolResult; content: string }[]> {
  const { executor, onCall } = setup
  const options = { ...setup, origin: setup.origin ?? 'chat', ...offered, repair: true }
  const run = async (given: NumberedCall) => {
    const { id, name, args } = offered.also?.length ? innerCall(given) : given
    const call = { id, name, args }
    const startedAt = performance.now()
    onCall?.({ type: 'start', call })
    // Our executor never rejects, but someone else's might, and every call needs a result.
    const result = await executor.run(call, options).catch((thrown): ToolResult => {
      const error = noResult(name, describeThrown(thrown))
      return { success: false, error, code: 'tool_error', tool_name: name, execution_time_ms: 0 }
    })
    const content = await textOf(result)
    onCall?.({ type: 'end', call, result, durationMs: performance.now() - startedAt })
    return { call: given, result, content }
  }
  return Promise.all(calls.map(run))
}

/** Wraps a caller's callback so that it cannot break the answer: its first error or rejection is logged. */
export function harmless<Value>(
  listener: ((value: Value) => unknown) | undefined,
  logger: Logger,
): (value: Value) => void {
  let hasFailed = false
  const report = (error: unknown) => {
    if (!hasFailed) logger.warn({ error: describeThrown(error) }, 'An ask() callback failed')
    hasFailed = true
  }
  return value => quietly(() => listener?.(value), report)
}
