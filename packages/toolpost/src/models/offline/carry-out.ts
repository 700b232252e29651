import type { ToolResult } from '../../call/tool-result.ts'
import type { ToolExecutor } from '../../executor/executor.ts'
import { callerOptions } from '../../executor/options.ts'
import type { Logger } from '../../logging/logger.ts'
import type { Answer, AskOptions, ConversationMessage, PlainMessage } from '../ai-client.ts'
import { DEFAULT_TIME_LIMIT_MS } from '../limits.ts'
import { harmless } from '../listener.ts'
import { runCalls } from '../run-calls.ts'
import { TimeIsUp, TimeLimit } from '../time-limit.ts'
import type { Meaning, PlannedCall } from './meaning.ts'

interface CarryOutOptions extends AskOptions {
  executor: ToolExecutor
  logger: Logger
}

/** Carries out a meaning and answers as a model would. */
export async function carryOut(
  meaning: Meaning,
  messages: readonly ConversationMessage[],
  options: CarryOutOptions,
): Promise<Answer> {
  if (meaning.calls.length === 0) return onlySaid(await meaning.run(async () => []), messages)
  const limit = new TimeLimit({
    limitMs: options.timeLimitMs ?? DEFAULT_TIME_LIMIT_MS,
    signal: options.signal,
  })
  const said: PlainMessage[] = []
  const results: ToolResult[] = []
  const makeCalls = async (planned: readonly PlannedCall[]) => {
    const made = await call(planned, said, { ...options, signal: limit.signal })
    results.push(...made)
    return made
  }
  try {
    const text = await meaning.run(makeCalls)
    const isOutOfTime = limit.signal.reason instanceof TimeIsUp
    if (limit.signal.aborted && !isOutOfTime) throw limit.signal.reason
    return {
      text,
      messages: [...messages, ...said, { role: 'assistant', content: text }],
      results,
      iterations: 1,
      stopReason: isOutOfTime ? 'time_limit' : 'answer',
    }
  } finally {
    limit.close()
  }
}

/** Runs calls in parallel and adds them to the messages. */
async function call(
  planned: readonly PlannedCall[],
  said: PlainMessage[],
  options: CarryOutOptions & { signal: AbortSignal },
): Promise<ToolResult[]> {
  if (planned.length === 0) return []
  const calls = planned.map(({ tool, args }) => ({
    id: `call_${crypto.randomUUID()}`,
    name: tool.name,
    args,
  }))
  const outcomes = await runCalls(calls, {
    executor: options.executor,
    tools: planned.map(({ tool }) => tool),
    signal: options.signal,
    onCall: harmless(options.onCall, options.logger),
    ...callerOptions(options),
  })
  said.push({
    role: 'assistant',
    content: '',
    tool_calls: calls.map(made => ({ ...made, type: 'tool_call' })),
  })
  for (const [at, { content }] of outcomes.entries())
    said.push({ role: 'tool', content, tool_call_id: calls[at]?.id ?? '' })
  return outcomes.map(({ result }) => result)
}

/** An answer without any calls. */
export function onlySaid(text: string, messages: readonly ConversationMessage[]): Answer {
  return {
    text,
    messages: [...messages, { role: 'assistant', content: text }],
    results: [],
    iterations: 0,
    stopReason: 'answer',
  }
}
