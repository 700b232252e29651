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
import type { Answer, AskOptions, Prompt, StopReason, Usage } from './ai-client.ts'
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
  const { executor, bigResults, caller, conversation: id, aroundTurn = request => request() } = options
  const { maxIterations = DEFAULT_MAX_ITERATIONS, timeLimitMs = DEFAULT_TIME_LIMIT_MS } = options
  const { provider, logger, clock } = setup
  const onCall = harmless(options.onCall, logger)
  const listeners = {
    onToken: harmless(options.onToken, logger),
    onStatus: harmless(options.onStatus, logger),
  }
  const results: ToolResult[] = []
  const modelCalls: (Usage & { duration_ms: number })[] = []
  /** How often each call has failed in a row, by name and arguments. */
  const failures = new Map<string, number>()
  let iterations = 0
  const conversation = await Conversation.from(prompt, provider.packages)
  const tools = [...(options.tools ?? executor.tools.getTools())]
  const { maxTools = DEFAULT_MAX_TOOLS, pin } = options
  const offer = new ToolOffer(tools, executor.tools, maxTools, pin)
  const offerParts = () => void (bigResults && offer.addHelper(bigResults.tool({ caller, conversation: id })))
  offer.addUsed(conversation.calls())
  if (conversation.mentions(HANDLE_PREFIX)) offerParts()
  const limit = new TimeLimit(timeLimitMs, options.signal, clock)

  /** The model with its current offer of tools. */
  const open = async (current?: OpenModel) => {
    const offered = offer.changed()
    return !offered && current ? current : limit.hold(provider, () => provider.open(offered ?? []))
  }

  const ask = async (model: OpenModel, offersTools: boolean) => {
    const startedAt = performance.now()
    const request = { offersTools, ...listeners }
    const reply = await aroundTurn(() => askModel(model, conversation.messages, request, { ...setup, limit }))
    modelCalls.push({ ...reply.usage, duration_ms: Math.round(performance.now() - startedAt) })
    return reply
  }

  /** The text of a result for the model. One that is too long is kept and can be read in parts from then on. */
  const textOf = async (result: ToolResult) => {
    const kept = bigResults?.keptOf(await bigResults.keep(result, { caller, conversation: id }))
    if (!kept) return executor.text(result)
    offerParts()
    return [kept.text?.summary ?? executor.text(result), ...kept.binaries.map(each => each.summary)].join(
      '\n',
    )
  }

  /** Runs the calls of a turn and adds their results; returns whether one of them has failed too often. */
  const run = async (calls: readonly NumberedCall[]) => {
    offer.addUsed(calls)
    const offered = { signal: limit.signal, among: offer.all, also: offer.helpers }
    const outcomes = await runCalls(calls, { ...options, clock, onCall, textOf }, offered)
    let isHopeless = false
    for (const [at, { result, content }] of outcomes.entries()) {
      const call = calls[at] as NumberedCall
      results.push(result)
      conversation.addResult(call, content, result)
      const key = `${call.name} ${stableJson(call.args)}`
      const count = result.success ? 0 : (failures.get(key) ?? 0) + 1
      failures.set(key, count)
      if (count >= MAX_IDENTICAL_FAILURES) isHopeless = true
    }
    return isHopeless
  }

  const answered = (text: string, stopReason: StopReason): Answer => {
    if (stopReason !== 'answer') logger.warn({ stop_reason: stopReason, iterations }, 'Stopped early')
    const usage: Usage = {}
    for (const side of ['input', 'output'] as const)
      for (const { [side]: tokens } of modelCalls)
        if (tokens !== undefined) usage[side] = (usage[side] ?? 0) + tokens
    const told = Object.keys(usage).length > 0 && { usage }
    return { text, messages: conversation.messages, results, iterations, stopReason, ...told, modelCalls }
  }

  /** Ends the conversation with our own text. */
  const finish = (text: string, stopReason: StopReason) => {
    conversation.addReply({ content: text, calls: [] })
    return answered(text, stopReason)
  }

  /** At the limit, the model sums up without tools. Calls it makes anyway are not run. */
  const lastWord = async (model: OpenModel, stopReason: keyof typeof NO_LAST_WORD) => {
    const { text, calls } = await ask(model, false)
    if (calls.length > 0)
      logger.warn({ calls: calls.map(call => call.name) }, 'Calls after the limit were not run')
    return finish(text.trim() === '' ? NO_LAST_WORD[stopReason] : text, stopReason)
  }

  try {
    let model = await open()
    while (iterations < maxIterations) {
      iterations++
      model = await open(model)
      const reply = await ask(model, true)
      const calls = conversation.addReply(reply)
      if (calls.length === 0) return answered(reply.text, 'answer')
      const isHopeless = await run(calls)
      limit.signal.throwIfAborted()
      if (isHopeless) return await lastWord(model, 'repeated_failure')
    }
    return await lastWord(model, 'max_iterations')
  } catch (error) {
    if (error instanceof TimeIsUp)
      return finish(`I could not answer within ${timeLimitMs / 1_000} seconds.`, 'time_limit')
    if (error instanceof ModelError) error.results = results
    throw error
  } finally {
    limit.close()
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
