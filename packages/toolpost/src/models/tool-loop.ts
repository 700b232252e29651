import type { BaseMessage } from '@langchain/core/messages'
import type { ToolResult } from '../call/tool-result.ts'
import type { ToolExecutor } from '../executor/executor.ts'
import { callerOptions } from '../executor/options.ts'
import type { Logger } from '../logging/logger.ts'
import type { Clock } from '../runtime/clock.ts'
import { HANDLE_PREFIX } from '../tools/results/result-store.ts'
import type { Answer, AskOptions, CallNotice, ConversationMessage, StopReason } from './ai-client.ts'
import { Conversation, type NumberedCall } from './conversation.ts'
import { explainFailure } from './explain-failure.ts'
import { DEFAULT_MAX_ITERATIONS, DEFAULT_MAX_TOOLS, DEFAULT_TIME_LIMIT_MS } from './limits.ts'
import { harmless } from './listener.ts'
import { ModelError, type ModelErrorCode } from './model-error.ts'
import type { OpenModel, Provider } from './provider.ts'
import { type Reply, readReply } from './read-reply.ts'
import { type Failures, hasFailedTooOften } from './repeated-failures.ts'
import { retried } from './retry.ts'
import { runCalls } from './run-calls.ts'
import { TimeIsUp, TimeLimit } from './time-limit.ts'
import { ToolOffer } from './tool-offer.ts'
import { sumOfUsage, type Usage } from './usage.ts'

export interface LoopSetup {
  provider: Provider
  executor: ToolExecutor
  logger: Logger
  clock?: Clock | undefined
  aroundTurn?: AroundTurn | undefined
}

/** Wraps every request to the model. */
export type AroundTurn = (request: () => Promise<Reply>) => Promise<Reply>

/** One question to one model: ask, run the calls in its reply, ask again, until it answers in text. */
export async function answerWithTools(
  prompt: string | readonly ConversationMessage[],
  options: AskOptions,
  setup: LoopSetup,
): Promise<Answer> {
  if (!options.trace) return answer(prompt, options, setup)
  const { tracedAnswer } = await import('./trace.ts')
  return tracedAnswer(setup.provider, options, traced =>
    answer(prompt, { ...options, ...traced }, { ...setup, ...traced }),
  )
}

async function answer(
  prompt: string | readonly ConversationMessage[],
  options: AskOptions,
  setup: LoopSetup,
): Promise<Answer> {
  const conversation = await Conversation.from(prompt, setup.provider.packages)
  const limitMs = options.timeLimitMs ?? DEFAULT_TIME_LIMIT_MS
  const limit = new TimeLimit({ limitMs, signal: options.signal, clock: setup.clock })
  const loop = new ToolLoop(conversation, limit, { ...options, ...setup })
  try {
    return await loop.run()
  } catch (error) {
    if (error instanceof TimeIsUp)
      return loop.finish(`I could not answer within ${limitMs / 1_000} seconds.`, 'time_limit')
    if (error instanceof ModelError) error.results = loop.results
    throw error
  } finally {
    limit.close()
  }
}

class ToolLoop {
  readonly results: ToolResult[] = []
  #iterations = 0
  #usage: Usage = {}
  readonly #modelCalls: NonNullable<Answer['modelCalls']>[number][] = []
  readonly #conversation: Conversation
  readonly #limit: TimeLimit
  readonly #setup: AskOptions & LoopSetup
  readonly #offer: ToolOffer
  readonly #failures: Failures = new Map()
  readonly #onToken: (token: string) => void
  readonly #onCall: (event: CallNotice) => void

  constructor(conversation: Conversation, limit: TimeLimit, setup: AskOptions & LoopSetup) {
    this.#conversation = conversation
    this.#limit = limit
    this.#setup = setup
    this.#onToken = harmless(setup.onToken, setup.logger)
    this.#onCall = harmless(setup.onCall, setup.logger)
    const { executor, maxTools = DEFAULT_MAX_TOOLS, pin } = setup
    const tools = [...(setup.tools ?? executor.tools.getTools())]
    this.#offer = new ToolOffer({ tools, manager: executor.tools, maxTools, pin })
    this.#offer.addUsed(conversation.calls())
    if (conversation.mentions(HANDLE_PREFIX)) this.#offerParts()
  }

  async run(): Promise<Answer> {
    const { provider, maxIterations = DEFAULT_MAX_ITERATIONS } = this.#setup
    let model = await this.#open(provider)
    while (this.#iterations < maxIterations) {
      this.#iterations++
      model = await this.#open(provider, model)
      const reply = await this.#ask(model, true)
      const calls = this.#conversation.addReply(reply)
      if (calls.length === 0) return this.#answer(reply.text, 'answer')
      const isHopeless = await this.#run(calls)
      this.#limit.signal.throwIfAborted()
      if (isHopeless) return this.#lastWord(model, 'repeated_failure')
    }
    return this.#lastWord(model, 'max_iterations')
  }

  /** The model with its current offer of tools. */
  async #open(provider: Provider, current?: OpenModel): Promise<OpenModel> {
    const tools = this.#offer.changed()
    return tools || !current ? this.#hold(() => provider.open(tools ?? [])) : current
  }

  /** Ends the conversation with our own text. */
  finish(text: string, stopReason: StopReason): Answer {
    this.#conversation.addReply({ content: text, calls: [] })
    return this.#answer(text, stopReason)
  }

  #answer(text: string, stopReason: StopReason): Answer {
    const { messages } = this.#conversation
    if (stopReason !== 'answer')
      this.#setup.logger.warn({ stop_reason: stopReason, iterations: this.#iterations }, 'Stopped early')
    const usage = this.#usage
    const told = usage.input === undefined && usage.output === undefined ? {} : { usage }
    const modelCalls = this.#modelCalls
    return {
      text,
      messages,
      results: this.results,
      iterations: this.#iterations,
      stopReason,
      ...told,
      modelCalls,
    }
  }

  /** One model turn. Retried only while no token has been passed on. */
  async #ask(model: OpenModel, offersTools: boolean): Promise<Reply> {
    const { provider, logger, aroundTurn = request => request() } = this.#setup
    const { signal } = this.#limit
    let hasSpoken = false
    const speak = (token: string) => {
      hasSpoken = true
      this.#onToken(token)
    }
    const onStatus = harmless(this.#setup.onStatus, logger)
    const messages: BaseMessage[] = [...this.#conversation.messages]
    const request = async () => {
      const stream = await this.#hold(() => model.stream(messages, { signal, offersTools, onStatus }))
      const reply = await this.#hold(() => readReply(stream, speak))
      return { ...reply, calls: reply.calls.map(call => model.original?.(call) ?? call) }
    }
    const mayPass = (code: ModelErrorCode) => !hasSpoken && provider.passing.includes(code)
    const startedAt = performance.now()
    const reply = await retried(() => aroundTurn(request), { limit: this.#limit, mayPass, logger })
    this.#usage = sumOfUsage(this.#usage, reply.usage)
    this.#modelCalls.push({ ...reply.usage, duration_ms: Math.round(performance.now() - startedAt) })
    return reply
  }

  /** Runs the calls of a turn and adds their results; returns whether one of them has failed too often. */
  async #run(calls: readonly NumberedCall[]): Promise<boolean> {
    const { executor, clock } = this.#setup
    this.#offer.addUsed(calls)
    const outcomes = await runCalls(calls, {
      executor,
      tools: this.#offer.all,
      helpers: this.#offer.helpers,
      textOf: result => this.#textOf(result),
      signal: this.#limit.signal,
      onCall: this.#onCall,
      ...callerOptions(this.#setup),
      clock,
    })
    let isHopeless = false
    calls.forEach((call, index) => {
      const { result, content } = outcomes[index] as (typeof outcomes)[number]
      this.results.push(result)
      this.#conversation.addResult(call, content, result)
      if (hasFailedTooOften(this.#failures, call, result)) isHopeless = true
    })
    return isHopeless
  }

  /** The text of a result for the model. One that is too long is kept and can be read in parts from then on. */
  async #textOf(result: ToolResult): Promise<string> {
    const { bigResults, executor, caller, conversation } = this.#setup
    const kept = bigResults?.keptOf(await bigResults.keep(result, { caller, conversation }))
    if (!kept) return executor.text(result)
    this.#offerParts()
    const text = kept.text?.summary ?? executor.text(result)
    return [text, ...kept.binaries.map(({ summary }) => summary)].join('\n')
  }

  #offerParts(): void {
    const { bigResults, caller, conversation } = this.#setup
    if (bigResults) this.#offer.addHelper(bigResults.tool({ caller, conversation }))
  }

  /** At the limit, the model sums up without tools. Calls it makes anyway are not run. */
  async #lastWord(model: OpenModel, stopReason: StopReason): Promise<Answer> {
    const { text, calls } = await this.#ask(model, false)
    if (calls.length > 0)
      this.#setup.logger.warn({ calls: calls.map(call => call.name) }, 'Calls after the limit were not run')
    return this.finish(text.trim() === '' ? NO_LAST_WORD[stopReason] : text, stopReason)
  }

  /** Runs the provider's work within the time limit. A timeout or an abort can surface as any kind of error. */
  async #hold<Value>(work: () => Promise<Value>): Promise<Value> {
    const { signal } = this.#limit
    try {
      return await this.#limit.hold(work())
    } catch (error) {
      if (signal.aborted) throw signal.reason
      throw error instanceof ModelError ? error : explainFailure(error, this.#setup.provider)
    }
  }
}

const NO_LAST_WORD: Record<StopReason, string> = {
  answer: '',
  time_limit: '',
  max_iterations: 'I stopped after too many rounds of tool calls without an answer.',
  repeated_failure: 'I stopped because the same tool call kept failing.',
}
