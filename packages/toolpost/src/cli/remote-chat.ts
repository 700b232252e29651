import type { ToolResult } from '../call/tool-result.ts'
import type { ChatCall, ChatEnd, ToolInfo } from '../gateway/api-types.ts'
import type { AiClient, Answer, AskOptions, ModelStatus } from '../models/ai-client.ts'
import { ModelError } from '../models/model-error.ts'
import type { ModelInfo } from '../project/model-choice.ts'
import type { ChatSource } from './chat.ts'
import type { GatewayClient } from './gateway-client.ts'
import { answerQuestions } from './remote-call.ts'

/** The running gateway as what answers a chat. Rejects if it cannot: then the chat runs here. */
export async function remoteChat(gateway: GatewayClient, wanted: string | undefined): Promise<ChatSource> {
  const { models } = (await gateway.get('/api/models')) as { models: ModelInfo[] }
  const usual = (await gateway.get('/api/model')) as ModelInfo
  const known = (name: string) => models.find(model => model.name === name)
  const model = wanted === undefined ? usual : known(wanted)
  if (!model) throw new Error(`the gateway does not have the model '${wanted}'`)
  return {
    client: clientOf(gateway, wanted),
    model: async () => ({ name: model.name, why: model.why }),
    models: async () => models,
    clientOf: async name => (known(name) ? clientOf(gateway, name) : undefined),
    toolNames: async () => {
      const { tools } = (await gateway.get('/api/tools')) as { tools: ToolInfo[] }
      return new Map(
        [...new Set(tools.map(({ source }) => source))].map(server => [
          server,
          tools.filter(({ source }) => source === server).map(({ name }) => name),
        ]),
      )
    },
  }
}

/** Asks the gateway, which remembers the conversation. */
function clientOf(gateway: GatewayClient, model: string | undefined): AiClient {
  let conversation: string | undefined
  return {
    async ask(prompt, options = {}) {
      const messages = typeof prompt === 'string' ? [{ role: 'user' as const, content: prompt }] : [...prompt]
      const message = messages.at(-1)?.content
      const over = new AbortController()
      const signal = options.signal ? AbortSignal.any([options.signal, over.signal]) : over.signal
      if (options.ask)
        void answerQuestions(gateway, { ask: options.ask, over: signal, isOwn: isFromChat }).catch(() => {})
      const results: ToolResult[] = []
      let end: ChatEnd | undefined
      try {
        const body = { message, conversation, model }
        const headers = { prefer: 'questions' }
        for await (const { type, data } of gateway.events('/api/chat', {
          method: 'POST',
          body,
          headers,
          signal,
        })) {
          if (type === 'end') end = data as ChatEnd
          else tell(type, data, options, results)
        }
      } catch (error) {
        if (options.signal?.aborted) throw new ModelError('stopped', 'Stopped')
        throw new ModelError('unreachable', (error as Error).message)
      } finally {
        over.abort()
      }
      if (!end || end.stopReason === 'error' || end.stopReason === 'stopped')
        throw new ModelError('server_error', end?.error ?? 'toolpost up stopped during the answer')
      conversation = end.conversation
      const { text, stopReason, usage, iterations = 1 } = end
      const answered = [...messages, { role: 'assistant' as const, content: text }] as Answer['messages']
      return { text, messages: answered, results, iterations, stopReason, usage } as Answer
    },
  }
}

function isFromChat({ origin }: { origin?: string | undefined }): boolean {
  return origin === undefined || origin === 'chat'
}

const startedAt = new Map<string, number>()

function tell(type: string, data: unknown, options: AskOptions, results: ToolResult[]): void {
  if (type === 'token') options.onToken?.((data as { text: string }).text)
  if (type === 'status') options.onStatus?.(data as ModelStatus)
  if (type !== 'call') return
  const { phase, id, name, args, result } = data as ChatCall
  const call = { id, name, args } as Parameters<NonNullable<AskOptions['onCall']>>[0]['call']
  if (phase === 'start') {
    startedAt.set(id, performance.now())
    options.onCall?.({ type: 'start', call })
  } else if (result) {
    results.push(result)
    options.onCall?.({ type: 'end', call, result, durationMs: performance.now() - (startedAt.get(id) ?? 0) })
  }
}
