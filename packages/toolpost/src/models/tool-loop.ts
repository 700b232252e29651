import type { ToolResult } from '../call/tool-result.ts'
import type { ToolExecutor } from '../executor/executor.ts'
import { callerOptions } from '../executor/options.ts'
import { HANDLE_PREFIX } from '../tools/results/result-store.ts'
import { isRecord } from '../util/guards.ts'
import type { Answer, AskOptions, ConversationMessage, StopReason, Usage } from './ai-client.ts'
import { Conversation, type NumberedCall } from './conversation.ts'
import {
  DEFAULT_MAX_ITERATIONS,
  DEFAULT_MAX_TOOLS,
  DEFAULT_TIME_LIMIT_MS,
  MAX_IDENTICAL_FAILURES,
} from './limits.ts'
import { harmless } from './listener.ts'
import type { OpenModel } from './model-client.ts'
import { ModelError } from './model-error.ts'
import type { Reply } from './read-reply.ts'
import { runCalls } from './run-calls.ts'
import { TimeIsUp, TimeLimit } from './time-limit.ts'
import { ToolOffer } from './tool-offer.ts'
import { askModel, type Setup, withinLimit } from './turn.ts'

export interface LoopOptions extends AskOptions {
  executor: ToolExecutor
  /** Wraps every request to the model. */
  aroundTurn?: ((request: () => Promise<Reply>) => Promise<Reply>) | undefined
}

/** One question to one model: ask, run the calls in its reply, ask again, until it answers in text. */
export async function answerWithTools(
  prompt: string | readonly ConversationMessage[],
  options: LoopOptions,
  setup: Setup,
): Promise<Answer> {
  if (!options.trace) return answer(prompt, options, setup)
  const { tracedAnswer } = await import('./trace.ts')
  return tracedAnswer(setup.provider.identity, options.meta, traced =>
    answer(prompt, { ...options, ...traced }, setup),
  )
}

async function answer(
  prompt: string | readonly ConversationMessage[],
  options: LoopOptions,
  setup: Setup,
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
  readonly #usage: Usage = {}
  readonly #modelCalls: NonNullable<Answer['modelCalls']>[number][] = []
  readonly #conversation: Conversation
  readonly #limit: TimeLimit
  readonly #setup: LoopOptions & Setup
  readonly #offer: ToolOffer
  /** How often each call has failed in a row, by name and arguments. */
  readonly #failures = new Map<string, number>()

  constructor(conversation: Conversation, limit: TimeLimit, setup: LoopOptions & Setup) {
    this.#conversation = conversation
    this.#limit = limit
    const { logger } = setup
    this.#setup = {
      ...setup,
      onToken: harmless(setup.onToken, logger),
      onCall: harmless(setup.onCall, logger),
      onStatus: harmless(setup.onStatus, logger),
    }
    const { executor, maxTools = DEFAULT_MAX_TOOLS, pin } = setup
    const tools = [...(setup.tools ?? executor.tools.getTools())]
    this.#offer = new ToolOffer({ tools, manager: executor.tools, maxTools, pin })
    this.#offer.addUsed(conversation.calls())
    if (conversation.mentions(HANDLE_PREFIX)) this.#offerParts()
  }

  async run(): Promise<Answer> {
    const { maxIterations = DEFAULT_MAX_ITERATIONS } = this.#setup
    let model = await this.#open()
    while (this.#iterations < maxIterations) {
      this.#iterations++
      model = await this.#open(model)
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
  async #open(current?: OpenModel): Promise<OpenModel> {
    const { provider } = this.#setup
    const tools = this.#offer.changed()
    if (!tools && current) return current
    return withinLimit(this.#limit, provider, () => provider.open(tools ?? []))
  }

  /** Ends the conversation with our own text. */
  finish(text: string, stopReason: StopReason): Answer {
    this.#conversation.addReply({ content: text, calls: [] })
    return this.#answer(text, stopReason)
  }

  #answer(text: string, stopReason: StopReason): Answer {
    const { messages } = this.#conversation
    const iterations = this.#iterations
    if (stopReason !== 'answer')
      this.#setup.logger.warn({ stop_reason: stopReason, iterations }, 'Stopped early')
    const told = Object.keys(this.#usage).length > 0 ? { usage: this.#usage } : {}
    const modelCalls = this.#modelCalls
    return { text, messages, results: this.results, iterations, stopReason, ...told, modelCalls }
  }

  async #ask(model: OpenModel, offersTools: boolean): Promise<Reply> {
    const { onToken = () => {}, onStatus = () => {}, aroundTurn = request => request() } = this.#setup
    const setup = { ...this.#setup, limit: this.#limit }
    const { messages } = this.#conversation
    const startedAt = performance.now()
    const reply = await aroundTurn(() => askModel(model, messages, { offersTools, onToken, onStatus }, setup))
    for (const side of ['input', 'output'] as const)
      if (reply.usage[side] !== undefined) this.#usage[side] = (this.#usage[side] ?? 0) + reply.usage[side]
    this.#modelCalls.push({ ...reply.usage, duration_ms: Math.round(performance.now() - startedAt) })
    return reply
  }

  /** Runs the calls of a turn and adds their results; returns whether one of them has failed too often. */
  async #run(calls: readonly NumberedCall[]): Promise<boolean> {
    const { executor, clock, onCall = () => {} } = this.#setup
    this.#offer.addUsed(calls)
    const outcomes = await runCalls(calls, {
      executor,
      tools: this.#offer.all,
      helpers: this.#offer.helpers,
      textOf: result => this.#textOf(result),
      signal: this.#limit.signal,
      onCall,
      ...callerOptions(this.#setup),
      clock,
    })
    let isHopeless = false
    for (const [at, { result, content }] of outcomes.entries()) {
      const call = calls[at] as NumberedCall
      this.results.push(result)
      this.#conversation.addResult(call, content, result)
      const key = `${call.name} ${stableJson(call.args)}`
      const failures = result.success ? 0 : (this.#failures.get(key) ?? 0) + 1
      this.#failures.set(key, failures)
      if (failures >= MAX_IDENTICAL_FAILURES) isHopeless = true
    }
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
  async #lastWord(model: OpenModel, stopReason: 'max_iterations' | 'repeated_failure'): Promise<Answer> {
    const { text, calls } = await this.#ask(model, false)
    if (calls.length > 0)
      this.#setup.logger.warn({ calls: calls.map(call => call.name) }, 'Calls after the limit were not run')
    return this.finish(text.trim() === '' ? NO_LAST_WORD[stopReason] : text, stopReason)
  }
}

const NO_LAST_WORD = {
  max_iterations: 'I stopped after too many rounds of tool calls without an answer.',
  repeated_failure: 'I stopped because the same tool call kept failing.',
}

/** JSON with sorted keys. A model's arguments came as JSON, so they can be serialized. */
function stableJson(value: unknown): string {
  return JSON.stringify(value, (_key, entry: unknown) =>
    isRecord(entry) ? Object.fromEntries(Object.entries(entry).sort(([a], [b]) => (a < b ? -1 : 1))) : entry,
  )
}
