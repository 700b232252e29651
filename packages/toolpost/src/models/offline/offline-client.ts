import { callerOptions } from '../../executor/options.ts'
import type { ToolExecutor } from '../../executor/tool-executor.ts'
import { type Logger, silentLogger } from '../../logging/logger.ts'
import type { AiClient, Answer, AskOptions, ConversationMessage, PlainMessage } from '../ai-client.ts'
import { DEFAULT_TIME_LIMIT_MS } from '../limits.ts'
import { harmless } from '../listener.ts'
import { ModelError } from '../model-error.ts'
import { textOfContent } from '../read-reply.ts'
import { runCalls } from '../run-calls.ts'
import { TimeIsUp, TimeLimit } from '../time-limit.ts'
import { phraseAnswer } from './phrase-answer.ts'
import { requestOf, SentenceBook, type ToolMatch } from './sentence-book.ts'
import { suggest } from './suggestions.ts'

export interface OfflineClientOptions {
  /** Runs the calls; may also come with each question. */
  executor?: ToolExecutor | undefined
  logger?: Logger | undefined
}

/**
 * Answers with no model at all: the sentences of the tools match the request, the tool runs, its result is phrased.
 * Loads no LangChain; its messages are plain objects that the other clients take as history.
 */
export class OfflineClient implements AiClient {
  readonly #executor: ToolExecutor | undefined
  readonly #logger: Logger
  readonly #book: SentenceBook

  constructor({ executor, logger = silentLogger }: OfflineClientOptions = {}) {
    this.#executor = executor
    this.#logger = logger
    this.#book = new SentenceBook(logger)
  }

  /** What a request would call, if it is one that a sentence knows. */
  match(prompt: string | readonly ConversationMessage[], options: AskOptions = {}): ToolMatch | undefined {
    const executor = this.#executorFor(options)
    const tools = options.tools ?? executor.tools.getTools()
    return this.#book.find(questionIn(prompt), tools, executor.tools)
  }

  async ask(prompt: string | readonly ConversationMessage[], options: AskOptions = {}): Promise<Answer> {
    const question = questionIn(prompt)
    if (question.trim() === '') throw new ModelError('empty_question', 'The question is empty')
    const messages: ConversationMessage[] =
      typeof prompt === 'string' ? [{ role: 'user', content: prompt }] : [...prompt]
    const match = this.match(prompt, options)
    if (!match) return notUnderstood(this.#helpFor(question, options), messages)
    const answer = await this.#carryOut(match, messages, options)
    harmless(options.onToken, this.#logger)(answer.text)
    return answer
  }

  #executorFor(options: AskOptions): ToolExecutor {
    const executor = options.executor ?? this.#executor
    if (!executor) throw new TypeError('ask needs an executor, given to the client or with the question')
    return executor
  }

  async #carryOut(
    match: ToolMatch,
    messages: readonly ConversationMessage[],
    options: AskOptions,
  ): Promise<Answer> {
    const limitMs = options.timeLimitMs ?? DEFAULT_TIME_LIMIT_MS
    const limit = new TimeLimit({ limitMs, signal: options.signal })
    const call = { id: `call_${crypto.randomUUID()}`, name: match.tool.name, args: match.args }
    try {
      const [outcome] = await runCalls([call], {
        executor: this.#executorFor(options),
        tools: [match.tool],
        signal: limit.signal,
        onCall: harmless(options.onCall, this.#logger),
        ...callerOptions(options),
      })
      if (!outcome) throw new Error('a call had no outcome')
      const isOutOfTime = limit.signal.reason instanceof TimeIsUp
      if (limit.signal.aborted && !isOutOfTime) throw limit.signal.reason
      const text = phraseAnswer(outcome.result)
      const said: PlainMessage[] = [
        { role: 'assistant', content: '', tool_calls: [{ ...call, type: 'tool_call' }] },
        { role: 'tool', content: outcome.content, tool_call_id: call.id },
        { role: 'assistant', content: text },
      ]
      return {
        text,
        messages: [...messages, ...said],
        results: [outcome.result],
        iterations: 1,
        stopReason: isOutOfTime ? 'time_limit' : 'answer',
      }
    } finally {
      limit.close()
    }
  }

  #helpFor(question: string, options: AskOptions): string {
    const executor = this.#executorFor(options)
    const tools = options.tools ?? executor.tools.getTools()
    const byTool = tools.map(tool => this.#book.of(tool, executor.tools))
    const examples = suggest(requestOf(question) ?? { text: '', words: [] }, byTool)
    if (examples.length === 0)
      return 'I did not understand that, and there is no tool here that has a sentence.'
    return `I did not understand that. You can say ${listed(examples.map(example => `"${example}"`))}.`
  }
}

/** What is asked: the text, or the last thing that was said in a conversation. */
export function questionIn(prompt: string | readonly ConversationMessage[]): string {
  return typeof prompt === 'string' ? prompt : textOfContent(prompt.at(-1)?.content)
}

function notUnderstood(text: string, messages: readonly ConversationMessage[]): Answer {
  return {
    text,
    messages: [...messages, { role: 'assistant', content: text }],
    results: [],
    iterations: 0,
    stopReason: 'answer',
  }
}

function listed(items: readonly string[]): string {
  const last = items.at(-1) ?? ''
  return items.length < 2 ? last : `${items.slice(0, -1).join(', ')} or ${last}`
}
