import type { ChatAnthropicInput } from '@langchain/anthropic'
import type { BaseMessage } from '@langchain/core/messages'
import { safeText } from '../logging/safe-value.ts'
import { imagesOf } from './conversation.ts'
import { boundedFetch, type LangChainMessages } from './langchain.ts'
import { type Named, NamedClient, type NamedClientOptions, type ProviderRules } from './model-client.ts'
import { missingKey } from './model-error.ts'

export interface AnthropicClientOptions extends NamedClientOptions {
  /** More options for ChatAnthropic, such as `maxTokens`, `temperature` or `thinking`. */
  settings?: Partial<Omit<ChatAnthropicInput, 'model' | 'apiKey' | 'anthropicApiKey'>> | undefined
}

/** A client for an Anthropic model. LangChain is loaded with the first question. */
export class AnthropicClient extends NamedClient {
  constructor(options: AnthropicClientOptions) {
    const usual = { model: 'claude-haiku-4-5', baseUrl: 'https://api.anthropic.com' }
    super('anthropic', usual, options, anthropicRules)
  }
}

function anthropicRules(options: Named<AnthropicClientOptions>): ProviderRules {
  const { model, baseUrl, apiKey, settings } = options
  return {
    who: `Anthropic at ${safeText(baseUrl)}`,
    advice: {
      unreachable: 'Check the network, or ANTHROPIC_BASE_URL',
      unauthorized: 'Check ANTHROPIC_API_KEY',
      model_not_found: `Check the model name '${safeText(model)}'`,
    },
    async open(tools, langchain, style) {
      if (!apiKey) throw missingKey('anthropic')
      const { ChatAnthropic } = await import('@langchain/anthropic')
      const given = settings?.clientOptions
      const fetch = boundedFetch((given?.fetch as typeof options.fetch) ?? options.fetch)
      const clientOptions = { logLevel: 'off' as const, ...given, baseURL: baseUrl, fetch }
      // The loop retries: it knows how much time is left.
      const chat = new ChatAnthropic({ ...settings, ...style, model, apiKey, maxRetries: 0, clientOptions })
      const bound = (choice: object) => (tools.length > 0 ? chat.bindTools([...tools], choice) : chat)
      // Anthropic rejects a conversation that has calls but no tools, so they are offered with tool_choice 'none'.
      const [withTools, withoutCalls] = [bound({}), bound({ tool_choice: 'none' })]
      return (messages, { signal, offersTools }) =>
        (offersTools ? withTools : withoutCalls).stream(withResultBlocks(messages, langchain), { signal })
    },
  }
}

/**
 * The messages as ChatAnthropic should send them. It drops the `status` of a ToolMessage but passes Anthropic's own
 * content blocks through, so results that failed or have images become `tool_result` blocks.
 */
function withResultBlocks(messages: readonly BaseMessage[], langchain: LangChainMessages): BaseMessage[] {
  return messages.map(message => {
    if (!langchain.ToolMessage.isInstance(message)) return message
    const images = imagesOf(message).map(({ mimeType, data }) => {
      return { type: 'image', source: { type: 'base64', media_type: mimeType, data } }
    })
    const { tool_call_id: tool_use_id, content: text, status } = message
    const is_error = status === 'error'
    if (!is_error && images.length === 0) return message
    const content = images.length > 0 ? [{ type: 'text', text }, ...images] : text
    const block = { type: 'tool_result', tool_use_id, content, ...(is_error && { is_error }) }
    return new langchain.HumanMessage({ content: [block] })
  })
}
