import type { ChatAnthropicInput } from '@langchain/anthropic'
import type { BaseMessage } from '@langchain/core/messages'
import { quietLogger } from '../../logging/quiet-logger.ts'
import { removeFromLogs } from '../../logging/redact.ts'
import { safeText } from '../../logging/safe-value.ts'
import type { Environment } from '../../runtime/environment.ts'
import { boundedFetch } from '../bounded-body.ts'
import { FittedTools } from '../fitting/fit-tools.ts'
import { ANTHROPIC_PACKAGES, type LangChainMessages, loadAnthropic, loadMessages } from '../load-langchain.ts'
import { ProviderClient, type ProviderClientOptions } from '../model-client.ts'
import { ModelError } from '../model-error.ts'
import type { Provider, ReplyChunk } from '../provider.ts'
import { stopReasonOf } from '../read-reply.ts'
import type { WritingStyle } from '../writing.ts'
import { inAnthropicFormat } from './anthropic-tools.ts'

const DEFAULT_ANTHROPIC_MODEL = 'claude-haiku-4-5'
const DEFAULT_ADDRESS = 'https://api.anthropic.com'

export interface AnthropicClientOptions extends ProviderClientOptions {
  /** `ANTHROPIC_MODEL` if left out, else `claude-haiku-4-5`. */
  model?: string | undefined
  /** `ANTHROPIC_API_KEY` if left out. */
  apiKey?: string | undefined
  /** `ANTHROPIC_BASE_URL` if left out. */
  baseUrl?: string | undefined
  /** More options for ChatAnthropic, such as `maxTokens`, `temperature` or `thinking`. */
  settings?: Partial<Omit<ChatAnthropicInput, 'model' | 'apiKey' | 'anthropicApiKey'>> | undefined
  environment?: Environment | undefined
}

/** A client for an Anthropic model. LangChain is loaded with the first question. */
export class AnthropicClient extends ProviderClient {
  readonly model: string
  readonly baseUrl: string

  constructor(options: AnthropicClientOptions) {
    const { environment = process.env } = options
    const model = options.model ?? (environment.ANTHROPIC_MODEL?.trim() || DEFAULT_ANTHROPIC_MODEL)
    const baseUrl = options.baseUrl ?? (environment.ANTHROPIC_BASE_URL?.trim() || DEFAULT_ADDRESS)
    const apiKey = options.apiKey ?? environment.ANTHROPIC_API_KEY?.trim()
    // An error or a result that echoes the key must not put it into a log.
    if (apiKey) removeFromLogs([apiKey])
    super(anthropicProvider({ ...options, model, baseUrl, apiKey }), options)
    this.model = model
    this.baseUrl = baseUrl
  }
}

type Settings = AnthropicClientOptions & { model: string; baseUrl: string }

function anthropicProvider({ model, baseUrl, apiKey, settings, ...options }: Settings): Provider {
  const logger = quietLogger(options.logger)
  return {
    packages: ANTHROPIC_PACKAGES,
    identity: { provider: 'anthropic', model },
    who: `Anthropic at ${safeText(baseUrl)}`,
    advice: {
      unreachable: 'Check the network, or ANTHROPIC_BASE_URL',
      unauthorized: 'Check ANTHROPIC_API_KEY',
      model_not_found: `Check the model name '${safeText(model)}'`,
    },
    passing: ['rate_limited', 'overloaded', 'server_error'],
    takesImages: true,
    async open(tools, style) {
      if (!apiKey) throw missingKey()
      const [{ ChatAnthropic }, langchain] = await Promise.all([loadAnthropic(), loadMessages()])
      const given = settings?.clientOptions
      const fetch = boundedFetch((given?.fetch as typeof globalThis.fetch | undefined) ?? globalThis.fetch)
      const clientOptions = { logLevel: 'off' as const, ...given, baseURL: baseUrl, fetch }
      // The loop retries: it knows how much time is left.
      const chat = new ChatAnthropic({
        ...settings,
        ...optionsOf(style),
        model,
        apiKey,
        maxRetries: 0,
        clientOptions,
      })
      const fitted = new FittedTools(tools, { provider: 'anthropic', logger })
      const usable = fitted.tools.map(inAnthropicFormat)
      const withTools = usable.length > 0 ? chat.bindTools(usable) : chat
      // Anthropic rejects a conversation that has calls but no tools, so they are offered with tool_choice 'none'.
      const withoutCalls = usable.length > 0 ? chat.bindTools(usable, { tool_choice: 'none' }) : chat
      return {
        original: call => fitted.original(call),
        async stream(messages, { signal, offersTools }) {
          const ready = offersTools ? withTools : withoutCalls
          const sent = withErrorMarks(fitted.renamed(messages, langchain), langchain)
          return wholeStream(await ready.stream(sent, { signal }))
        },
      }
    },
  }
}

/** In ChatAnthropic's names. */
function optionsOf(style: WritingStyle | undefined): Partial<ChatAnthropicInput> {
  if (!style) return {}
  const { maxTokens, temperature, stopSequences = [] } = style
  return {
    maxTokens,
    ...(temperature !== undefined && { temperature }),
    ...(stopSequences.length > 0 && { stopSequences: [...stopSequences] }),
  }
}

export function missingKey(): ModelError {
  return new ModelError('missing_key', 'No Anthropic API key: set ANTHROPIC_API_KEY')
}

/**
 * The messages as ChatAnthropic should send them. It drops the `status` of a ToolMessage but passes Anthropic's own
 * content blocks through, so failed results become `tool_result` blocks with `is_error`. This applies only to what is
 * sent; the history keeps its ToolMessages.
 */
function withErrorMarks(messages: readonly BaseMessage[], langchain: LangChainMessages): BaseMessage[] {
  return messages.map(message => {
    if (!langchain.ToolMessage.isInstance(message) || message.status !== 'error') return message
    const { tool_call_id: tool_use_id, content } = message
    return new langchain.HumanMessage({
      content: [{ type: 'tool_result', tool_use_id, content, is_error: true }],
    })
  })
}

/** Fails if the stream ends before the model did: ChatAnthropic mistakes a closed connection for the end. */
async function* wholeStream(stream: AsyncIterable<ReplyChunk>): AsyncGenerator<ReplyChunk> {
  let hasEnded = false
  for await (const chunk of stream) {
    if (stopReasonOf(chunk) !== undefined) hasEnded = true
    yield chunk
  }
  if (!hasEnded) throw new ModelError('truncated', 'Anthropic broke off in the middle of its answer')
}
