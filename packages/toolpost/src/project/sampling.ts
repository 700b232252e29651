import type { ToolExecutor } from '../executor/executor.ts'
import type { LimitOptions } from '../interceptors/index.ts'
import type { ChosenClient } from '../models/choose-client.ts'
import type { Sample } from '../tools/caller.ts'
import { defineTool } from '../tools/tool.ts'
import { isRecord } from '../util/guards.ts'
import type { ToolpostConfig } from './config.ts'

const WRITING_MS = 120_000
/** How much one server may ask for, unless `limits` in the configuration say otherwise. */
export const SAMPLING_LIMIT: LimitOptions = { concurrency: 2, perMinute: 20 }
const MAX_TOKENS = 4_096

/** The names of servers' sampling requests in policy, limits, approvals, history and traces. */
export function samplingNames({ mcpServers = {} }: ToolpostConfig): string[] {
  const servers = Object.entries(mcpServers).filter(([, entry]) => entry.sampling === true)
  return servers.map(([name]) => `${name}__sampling`)
}

/** Lets the project's model write messages for servers: each is a call of an unlisted tool. Rejects with an error for it. */
export function sampling(executor: ToolExecutor, choose: () => Promise<ChosenClient>): Sample {
  return async (params, { server, signal, from }) => {
    const request = readSampling(params)
    const { writer, name: model } = await choose()
    if (!writer) throw new Error(`No model is available for sampling: Toolpost runs ${model}`)
    const tool = defineTool({
      name: `${server}__sampling`,
      title: `Message for ${server}`,
      description: `Lets your model write a message for ${server}`,
      schema: { type: 'object' } as Record<string, unknown>,
      timeoutMs: WRITING_MS,
      handler: (_, { signal: until }) => writer.write({ ...request, timeLimitMs: WRITING_MS, signal: until }),
    })
    const { origin, ask, caller } = from ?? {}
    const signals = [signal, from?.signal].filter(each => each !== undefined)
    // An unnamed caller is identified by its origin.
    const by = { origin, ask, caller: caller === origin ? undefined : caller }
    const options = { ...by, also: [tool], signal: AbortSignal.any(signals) }
    const result = await executor.run({ name: tool.name, args: request }, options)
    if (!result.success) throw new Error(result.error)
    const { text, ...rest } = result.result as Awaited<ReturnType<typeof writer.write>>
    return { role: 'assistant', content: { type: 'text', text }, ...rest }
  }
}

/** Reads a server's `sampling/createMessage`. Throws, with a message for the server, if it is unsupported. */
function readSampling(params: Readonly<Record<string, unknown>>) {
  const { messages, systemPrompt, maxTokens, temperature, stopSequences = [], tools, toolChoice } = params
  if (tools !== undefined || toolChoice !== undefined) throw new Error('Sampling with tools is not supported')
  if (!Array.isArray(messages) || messages.length === 0)
    throw new Error('Sampling needs at least one message')
  const texts = (value: unknown) =>
    [value].flat().filter(each => typeof each === 'string' && each.trim() !== '')
  const system = texts(systemPrompt).map(content => ({ role: 'system' as const, content: String(content) }))
  return {
    messages: [...system, ...messages.map(messageOf)],
    maxTokens: Math.max(1, Math.min(Math.floor(Number(maxTokens)) || MAX_TOKENS, MAX_TOKENS)),
    // The highest value that every model accepts.
    ...(typeof temperature === 'number' && { temperature: Math.max(0, Math.min(temperature, 1)) }),
    // Some models reject blank ones.
    stopSequences: texts(stopSequences).map(String),
  }
}

function messageOf(message: unknown): { role: 'user' | 'assistant'; content: string } {
  const { role, content } = isRecord(message) ? message : {}
  if (role !== 'user' && role !== 'assistant')
    throw new Error('Invalid message role; expected one of user, assistant')
  const texts = [content].flat().map(block => {
    const { type, text } = isRecord(block) ? block : {}
    if (type === 'text' && typeof text === 'string') return text
    throw new Error(`Messages with content of type '${String(type).slice(0, 50)}' are not supported`)
  })
  return { role, content: texts.join('\n') }
}
