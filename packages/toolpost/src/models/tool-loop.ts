import type { ToolCall } from '../call/tool-call.ts'
import type { ToolResult } from '../call/tool-result.ts'
import type { ToolExecutor } from '../executor/executor.ts'
import { callerOptions, type RunOptions } from '../executor/options.ts'
import type { Logger } from '../logging/logger.ts'
import { HANDLE_PREFIX } from '../tools/results/result-store.ts'
import { innerCall } from '../tools/search/search-tools.ts'
import { type Clock, systemClock } from '../util/clock.ts'
import { isRecord } from '../util/guards.ts'
import { describeThrown, quietly } from '../util/quietly.ts'
import type { Answer, AskOptions, ConversationMessage, StopReason, Usage } from './ai-client.ts'
import { Conversation, type NumberedCall, placeholder } from './conversation.ts'
import {
  DEFAULT_MAX_ITERATIONS,
  DEFAULT_MAX_TOOLS,
  DEFAULT_TIME_LIMIT_MS,
  MAX_IDENTICAL_FAILURES,
} from './limits.ts'
import type { OpenModel } from './model-client.ts'
import { ModelError } from './model-error.ts'
import type { Reply } from './read-reply.ts'
import { ToolOffer } from './tool-offer.ts'
import { askModel, type Setup, TimeIsUp, TimeLimit } from './turn.ts'

export interface LoopOptions extends AskOptions {
  executor: ToolExecutor
  /** Wraps every request to the model. */
  aroundTurn?: ((request: () => Promise<Reply>) => Promise<Reply>) | undefined
}

type Prompt = string | readonly ConversationMessage[]

const NO_LAST_WORD = {
  max_iterations: 'I stopped after too many rounds of tool calls without an answer.',
  repeated_failure: 'I stopped because the same tool call kept failing.',
}

/** One question to one model: ask, run the calls in its reply, ask again, until it answers in text. */
export async function answerWithTools(prompt: Prompt, options: LoopOptions, setup: Setup): Promise<Answer> {
  if (!options.trace) return answer(prompt, options, setup)
  const { tracedAnswer } = await import('./trace.ts')
  return tracedAnswer(setup.provider.identity, options.meta, traced =>
    answer(prompt, { ...options, ...traced }, setup),
  )
}

async function answer(prompt: Prompt, options: LoopOptions, setup: Setup): Promise<Answer> {
  const conversation = await Conversation.from(prompt, setup.provider.packages)
  const limitMs = options.timeLimitMs ?? DEFAULT_TIME_LIMIT_MS
  const limit = new TimeLimit(limitMs, options.signal, setup.clock)
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
  readonly #modelCalls: (Usage & { duration_ms: number })[] = []
  readonly #conversation: Conversation
  readonly #limit: TimeLimit
  readonly #setup: LoopOptions & Setup
  readonly #offer: ToolOffer
  /** How often each call has failed in a row, by name and arguments. */
  readonly #failures = new Map<string, number>()

  constructor(conversation: Conversation, limit: TimeLimit, setup: LoopOptions & Setup) {
    const { executor, logger, maxTools = DEFAULT_MAX_TOOLS, pin, onToken, onCall, onStatus } = setup
    this.#conversation = conversation
    this.#limit = limit
    const listeners = { onToken: harmless(onToken, logger), onCall: harmless(onCall, logger) }
    this.#setup = { ...setup, ...listeners, onStatus: harmless(onStatus, logger) }
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
    return !tools && current ? current : this.#limit.hold(provider, () => provider.open(tools ?? []))
  }

  /** Ends the conversation with our own text. */
  finish(text: string, stopReason: StopReason): Answer {
    this.#conversation.addReply({ content: text, calls: [] })
    return this.#answer(text, stopReason)
  }

  #answer(text: string, stopReason: StopReason): Answer {
    const { messages } = this.#conversation
    const [iterations, modelCalls] = [this.#iterations, this.#modelCalls]
    if (stopReason !== 'answer')
      this.#setup.logger.warn({ stop_reason: stopReason, iterations }, 'Stopped early')
    const usage = Object.fromEntries(
      (['input', 'output'] as const).flatMap(side => {
        const told = modelCalls.flatMap(call => call[side] ?? [])
        return told.length > 0 ? [[side, told.reduce((sum, tokens) => sum + tokens)]] : []
      }),
    )
    const told = Object.keys(usage).length > 0 ? { usage } : {}
    return { text, messages, results: this.results, iterations, stopReason, ...told, modelCalls }
  }

  async #ask(model: OpenModel, offersTools: boolean): Promise<Reply> {
    const { onToken = () => {}, onStatus = () => {}, aroundTurn = request => request() } = this.#setup
    const setup = { ...this.#setup, limit: this.#limit }
    const { messages } = this.#conversation
    const startedAt = performance.now()
    const reply = await aroundTurn(() => askModel(model, messages, { offersTools, onToken, onStatus }, setup))
    this.#modelCalls.push({ ...reply.usage, duration_ms: Math.round(performance.now() - startedAt) })
    return reply
  }

  /** Runs the calls of a turn and adds their results; returns whether one of them has failed too often. */
  async #run(calls: readonly NumberedCall[]): Promise<boolean> {
    const { all: among, helpers: also } = this.#offer
    const setup = { ...this.#setup, textOf: (result: ToolResult) => this.#textOf(result) }
    this.#offer.addUsed(calls)
    const outcomes = await runCalls(calls, setup, { signal: this.#limit.signal, among, also })
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
  async #lastWord(model: OpenModel, stopReason: keyof typeof NO_LAST_WORD): Promise<Answer> {
    const { text, calls } = await this.#ask(model, false)
    if (calls.length > 0)
      this.#setup.logger.warn({ calls: calls.map(call => call.name) }, 'Calls after the limit were not run')
    return this.finish(text.trim() === '' ? NO_LAST_WORD[stopReason] : text, stopReason)
  }
}

interface CallSetup extends AskOptions {
  executor: ToolExecutor
  clock?: Clock | undefined
  /** The text of a result for the model; the executor's if left out. */
  textOf?: ((result: ToolResult) => Promise<string>) | undefined
}

/**
 * Runs the calls of one turn in parallel. `among` is what the model was offered, `also` what the manager does not have.
 * Resolves to the results and their texts for the model, in order; never rejects. `onCall` must not throw.
 */
export function runCalls(
  calls: readonly NumberedCall[],
  setup: CallSetup,
  offered: Pick<RunOptions, 'signal' | 'among' | 'also'>,
): Promise<{ result: ToolResult; content: string }[]> {
  const { executor, clock = systemClock, onCall = () => {} } = setup
  const { textOf = async (result: ToolResult) => executor.text(result) } = setup
  const options = { ...callerOptions(setup), origin: setup.origin ?? 'chat', ...offered, repair: true }
  const run = async (given: NumberedCall) => {
    const { id, name, args } = offered.also?.length ? innerCall(given) : given
    const call: ToolCall = { id, name, args }
    const startedAt = clock.now()
    onCall({ type: 'start', call })
    const outcome = await executor.run(call, options).then(
      async result => ({ result, content: await textOf(result) }),
      // Our executor never rejects, but someone else's might, and every call needs a result.
      thrown => {
        const content = placeholder(name, describeThrown(thrown))
        const about = { tool_name: name, tool_call_id: id, execution_time_ms: 0 }
        const error = content.slice('Error: '.length)
        return { result: { success: false as const, error, code: 'tool_error' as const, ...about }, content }
      },
    )
    onCall({ type: 'end', call, result: outcome.result, durationMs: clock.now() - startedAt })
    return outcome
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

/** JSON with sorted keys. A model's arguments came as JSON, so they can be serialized. */
function stableJson(value: unknown): string {
  return JSON.stringify(value, (_key, entry: unknown) =>
    isRecord(entry) ? Object.fromEntries(Object.entries(entry).sort(([a], [b]) => (a < b ? -1 : 1))) : entry,
  )
}
