import type { ToolpostConfig } from '../config/config.ts'
import type { ToolExecutor } from '../executor/executor.ts'
import type { LimitOptions, PolicyRule } from '../interceptors/index.ts'
import type { ChosenClient } from '../models/choose-client.ts'
import type { Requester, Sample } from '../tools/caller.ts'
import { defineTool, type Tool } from '../tools/tool.ts'
import { readSampling, shownSampling } from './sampling-request.ts'

/** How long the model may take for one message. */
const WRITING_MS = 120_000
/** How much one server may ask for, unless `limits` in the configuration say otherwise. */
const SAMPLING_LIMIT: LimitOptions = { concurrency: 2, perMinute: 20 }

/** The name of a server's sampling request in policy, limits, approvals, history and traces. */
function samplingName(server: string): string {
  return `${server}__sampling`
}

/** The names for all servers that may use sampling. */
export function samplingNames({ mcpServers = {} }: ToolpostConfig): string[] {
  const servers = Object.entries(mcpServers).filter(([, entry]) => entry.sampling === true)
  return servers.map(([name]) => samplingName(name))
}

/** Applies after all rules of the configuration: ask the person. */
export function samplingRules(config: ToolpostConfig): PolicyRule[] {
  const tools = samplingNames(config)
  return tools.length === 0 ? [] : [{ tools, then: 'ask', because: 'the server wants to use your model' }]
}

/** Applies unless the configuration sets its own limits for them. */
export function samplingLimits(config: ToolpostConfig): Record<string, LimitOptions> {
  return Object.fromEntries(samplingNames(config).map(name => [name, SAMPLING_LIMIT]))
}

interface SamplingOptions {
  executor: ToolExecutor
  choose(): Promise<ChosenClient>
}

/**
 * Lets the project's own model generate messages for servers. Each goes through the executor like every call, as a call of
 * an unlisted tool; rejects with the error for the server.
 */
export function sampling({ executor, choose }: SamplingOptions): Sample {
  return async (params, { server, signal, from }) => {
    const request = readSampling(params)
    const { writer, name: model } = await choose()
    if (!writer) throw new Error(`No model is available for sampling: Toolpost runs ${model}`)
    const name = samplingName(server)
    const tool = writingTool(name, server, ({ signal: until }) =>
      writer.write({ ...request, timeLimitMs: WRITING_MS, signal: until }),
    )
    const signals = [signal, from?.signal].filter(each => each !== undefined)
    const run = { ...callerOf(from), also: [tool], signal: AbortSignal.any(signals) }
    const result = await executor.run({ name, args: shownSampling(request) }, run)
    if (!result.success) throw new Error(result.error)
    const { text, ...rest } = result.result as Awaited<ReturnType<typeof writer.write>>
    return { role: 'assistant', content: { type: 'text', text }, ...rest }
  }
}

function writingTool(
  name: string,
  server: string,
  write: (options: { signal: AbortSignal }) => unknown,
): Tool {
  return defineTool({
    name,
    title: `Message for ${server}`,
    description: `Lets your model write a message for ${server}`,
    schema: { type: 'object' } as Record<string, unknown>,
    timeoutMs: WRITING_MS,
    handler: (_, options) => write(options),
  })
}

/** The caller that the server is working for; an unnamed one is identified by its origin. */
function callerOf({ caller, origin, ask }: Requester = {}) {
  return { origin, ask, caller: caller === origin ? undefined : caller }
}
